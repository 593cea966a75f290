// Indices that are looked up by indices: gathers, scatters and rows whose places can only be found
// out by following them. What neighbours touch lies close together, and nothing but that says so.
#include "kernels/nested_index.h"
#include "tests/samples/sample.h"

#include <numeric>

namespace {

using Ints = std::vector<cl_int>;

constexpr std::size_t groupSize = 64;
constexpr cl_int absent = 0x7fffffff;

Ints counted(std::size_t n) {
  Ints values(n);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

/// 0 .. n-1, shuffled within runs of `run`.
Ints shuffled(std::size_t n, std::size_t run, std::uint64_t seed) {
  Ints values = counted(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t first = i - i % run;
    std::swap(values[i], values[first + sample::randomBits(i, seed) % (i - first + 1)]);
  }
  return values;
}

class NestedIndex {
public:
  explicit NestedIndex(sample::Sample& s)
      : s_(s), queue_(s.queue()), program_(s.program(sample::nestedIndexSource)),
        n_(sample::roundUp(s.options().size, groupSize)) {}

  /// order: random; column: such that x is gathered in the order of i, but for a few places.
  void gatherNested() {
    const Ints order = shuffled(n_, n_, 1), near = shuffled(n_, 16, 2);
    Ints column(n_), expected(n_);
    for (std::size_t i = 0; i < n_; ++i)
      column[static_cast<std::size_t>(order[i])] = near[i];
    const Ints x = shuffled(n_, n_, 3);
    for (std::size_t i = 0; i < n_; ++i)
      expected[i] = x[static_cast<std::size_t>(near[i])];
    const auto a = input(order), b = input(column), c = input(x), y = zeros(n_);
    run("gather_nested", y, expected, a, b, c, y);
  }

  /// Lengths 0 to 7; rows that follow each other in `order` are stored near each other, those in
  /// `begin` are not.
  void sumRows() {
    const Ints order = shuffled(n_, n_, 4), near = shuffled(n_, 8, 5);
    std::vector<cl_int> places{0};
    for (std::size_t i = 0; i < n_; ++i)
      places.push_back(places.back() + static_cast<cl_int>(sample::randomBits(i, 6) % 8));
    // Every other entry of `begin` is a row's end.
    Ints begin(2 * n_), twice(n_), expected(n_);
    const Ints value = shuffled(static_cast<std::size_t>(places.back()) + 1, 1 << 30, 7);
    for (std::size_t i = 0; i < n_; ++i) {
      const auto stored = static_cast<std::size_t>(near[i]);
      const auto row = 2 * static_cast<std::size_t>(order[i]);
      begin[row] = places[stored];
      begin[row + 1] = places[stored + 1];
      twice[i] = 2 * order[i];
      for (cl_int k = places[stored]; k < places[stored + 1]; ++k)
        expected[i] += value[static_cast<std::size_t>(k)];
    }
    const auto a = input(twice), b = input(begin), c = input(value), y = zeros(n_);
    run("sum_rows", y, expected, a, b, c, y);
  }

  void fillBlocks() {
    const std::size_t groups = n_ / groupSize;
    const Ints block = shuffled(groups, groups, 8), near = shuffled(groups, 2, 9);
    Ints start(groups), expected(n_);
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t first = static_cast<std::size_t>(near[g]) * groupSize;
      start[static_cast<std::size_t>(block[g])] = static_cast<cl_int>(first);
      for (std::size_t l = 0; l < groupSize; ++l)
        expected[first + l] = static_cast<cl_int>(g * groupSize + l);
    }
    const auto a = input(block), b = input(start), out = zeros(n_);
    run("fill_blocks", out, expected, a, b, out);
  }

  void scatterProducts() {
    Ints row(n_), pitch(n_), expected(16 * n_);
    for (std::size_t i = 0; i < n_; ++i) {
      const auto part = sample::randomBits(i, 10) % 5;
      row[i] = 1 << part;
      pitch[i] = static_cast<cl_int>(i << (4 - part));
      expected[16 * i] = static_cast<cl_int>(5 * i);
    }
    const auto a = input(row), b = input(pitch), out = zeros(16 * n_);
    run("scatter_products", out, expected, a, b, out);
  }

  void scatterPresent() {
    const std::size_t count = n_ - n_ / 9;
    Ints target = shuffled(n_, 32, 11), expected(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      if (sample::randomBits(i, 12) % 4 == 0)
        target[i] = i % 2 ? -1 : absent;
      else if (i < count)
        expected[static_cast<std::size_t>(target[i])] = static_cast<cl_int>(i + 1);
    }
    target.resize(count); // nothing beyond is looked at
    const auto a = input(target), out = zeros(n_);
    run("scatter_present", out, expected, a, static_cast<cl_int>(count), out);
  }

  void scatterLookedUp() {
    Ints entry = shuffled(n_, n_, 13), table(n_), expected(n_);
    const Ints near = shuffled(n_, 32, 14);
    for (std::size_t i = 0; i < n_; ++i) {
      table[static_cast<std::size_t>(entry[i])] = near[i];
      if (sample::randomBits(i, 15) % 4 == 0)
        entry[i] = i % 2 ? -1 : absent;
      else
        expected[static_cast<std::size_t>(near[i])] = static_cast<cl_int>(3 * i);
    }
    const auto a = input(entry), b = input(table), out = zeros(n_);
    run("scatter_looked_up", out, expected, a, b, out);
  }

private:
  sample::Memory input(Ints values) const {
    return s_.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(cl_int),
                     values.data());
  }
  sample::Memory zeros(std::size_t count) const {
    Ints values(count);
    return s_.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof(cl_int),
                     values.data());
  }

  template <typename... Arguments>
  void run(const char* name, cl_mem out, const Ints& expected, const Arguments&... arguments) {
    const auto kernel = sample::kernel(program_, name);
    sample::setArguments(kernel, arguments...);
    Ints result(expected.size());
    for (unsigned i = 0; i < s_.options().iterations; ++i) {
      sample::launch(queue_, kernel, {n_}, {groupSize});
      sample::read(queue_, out, result);
      sample::require(result == expected, std::string(name) + ": wrong elements");
      s_.output(result);
    }
  }

  sample::Sample& s_;
  sample::Queue queue_;
  sample::Program program_;
  std::size_t n_;
};

/// The variant names a kernel; empty: all of them.
void nestedIndex(sample::Sample& s) {
  static constexpr std::pair<const char*, void (NestedIndex::*)()> parts[] = {
      {"gather_nested", &NestedIndex::gatherNested},
      {"sum_rows", &NestedIndex::sumRows},
      {"fill_blocks", &NestedIndex::fillBlocks},
      {"scatter_products", &NestedIndex::scatterProducts},
      {"scatter_present", &NestedIndex::scatterPresent},
      {"scatter_looked_up", &NestedIndex::scatterLookedUp}};
  NestedIndex all(s);
  for (const auto& [name, part] : parts)
    if (s.options().variant.empty() || s.options().variant == name)
      (all.*part)();
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 8192, .iterations = 2}, nestedIndex);
}
