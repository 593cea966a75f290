// Changes in place where an order, a colouring or a table of targets gives each work-item places of
// its own: coloured elements, sorted particles, rows by a permutation, wrapped keys. In the variant
// "shared" one entry of each names somebody else's place; in "reordered" each round has another
// order.
#include "kernels/distinct_places.h"
#include "tests/samples/sample.h"

#include <array>
#include <bit>
#include <numeric>

namespace {

using Ints = std::vector<cl_int>;
using Vectors = std::vector<std::array<cl_int, 4>>;

Ints shuffled(std::size_t n, std::uint64_t seed) {
  Ints values(n);
  std::iota(values.begin(), values.end(), 0);
  for (std::size_t i = n; i > 1; --i)
    std::swap(values[i - 1], values[sample::randomBits(i, seed) % i]);
  return values;
}

Ints small(std::size_t n, std::uint64_t seed) {
  Ints values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<cl_int>(sample::randomBits(i, seed) % 1000) - 300;
  return values;
}

std::size_t at(cl_int index) {
  return static_cast<std::size_t>(index);
}

/// A strip of n elements of three nodes each, the last of one the first of the next: every other
/// one is of the same colour.
struct Mesh {
  explicit Mesh(std::size_t n) : nodes(3 * n), colour(n) {
    for (std::size_t e = 0; e < n; ++e)
      for (std::size_t k = 0; k < 3; ++k)
        nodes[3 * e + k] = static_cast<cl_int>(2 * e + k);
    const Ints order = shuffled(n / 2, 1);
    for (std::size_t i = 0; i < n / 2; ++i) {
      colour[i] = 2 * order[i];
      colour[n / 2 + i] = 2 * order[n / 2 - 1 - i] + 1;
    }
  }
  Ints nodes, colour;
};

void distinctPlaces(sample::Sample& s) {
  constexpr std::size_t local = 64, columns = 4;
  const std::size_t n = sample::roundUp(s.options().size, 2 * local);
  const bool isShared = s.options().variant == "shared";
  Mesh mesh(n);
  Ints order = shuffled(n, 2), to = shuffled(n, 3), key = shuffled(n, 10);
  const auto wrap = static_cast<cl_int>(std::bit_ceil(n));
  for (std::size_t i = 0; i < n; i += 3)
    key[i] += wrap;
  for (std::size_t i = 0; i < n; i += 7)
    to[i] = -1;
  if (isShared) { // far apart, so that no device has both
    mesh.colour[1] = mesh.colour[n / 2 - 2];
    mesh.colour[n / 2 + 1] = mesh.colour[n - 2];
    order[1] = order[n - 2];
    to[1] = to[n - 3] = 5;
    key[1] = key[n - 2];
  }
  const Ints x = small(2 * n + 1, 4), raised = small(n, 5);
  Ints force = small(2 * n + 1, 6), most = small(n, 7), matrix = small(columns * n, 8),
       table = small(at(wrap), 11);
  Vectors place(n), speed(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 4; ++k)
      speed[i][k] = static_cast<cl_int>(sample::randomBits(4 * i + k, 9) % 1000);

  const auto queue = s.queue();
  const auto program = s.program(sample::distinctPlacesSource);
  const auto assemble = sample::kernel(program, "assemble"), push = sample::kernel(program, "push");
  const auto raise = sample::kernel(program, "raise"),
             scale = sample::kernel(program, "scale_rows"), drop = sample::kernel(program, "drop");
  const auto nodes = s.copyOf(mesh.nodes), colour = s.copyOf(mesh.colour), xs = s.copyOf(x);
  const auto orders = s.copyOf(order), targets = s.copyOf(to), raises = s.copyOf(raised);
  const auto forces = s.copyOf(force), mosts = s.copyOf(most), matrices = s.copyOf(matrix);
  const auto places = s.copyOf(place), speeds = s.copyOf(speed);
  const auto keys = s.copyOf(key), tables = s.copyOf(table);
  sample::setArguments(push, places, speeds, orders, cl_int{3});
  sample::setArguments(raise, mosts, targets, raises);
  sample::setArguments(scale, matrices, orders, static_cast<cl_int>(columns));
  sample::setArguments(drop, tables, keys, wrap - 1);
  const auto compare = [&]<typename T>(cl_mem memory, const T& expected, const char* what) {
    T result(expected.size());
    sample::read(queue, memory, result);
    sample::require(isShared || result == expected, std::string(what) + ": wrong elements");
    s.output(result);
  };
  for (unsigned round = 0; round < s.options().iterations; ++round) {
    for (const std::size_t first : {std::size_t{0}, n / 2}) {
      sample::setArguments(assemble, forces, nodes, xs, colour, static_cast<cl_int>(first),
                           static_cast<cl_int>(n / 2));
      sample::launch(queue, assemble, {n / 2}, {local});
      for (std::size_t i = first; i < first + n / 2; ++i) {
        const cl_int* of = &mesh.nodes[3 * at(mesh.colour[i])];
        const cl_int load = x[at(of[0])] + x[at(of[1])] - x[at(of[2])];
        force[at(of[0])] += load;
        force[at(of[1])] += 2 * load;
        force[at(of[2])] -= load;
      }
    }
    sample::launch(queue, push, {n}, {local});
    sample::launch(queue, raise, {n}, {local});
    sample::launch(queue, scale, {n}, {local});
    sample::launch(queue, drop, {n}, {local});
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t k = at(order[i]);
      for (std::size_t c = 0; c < 4; ++c) {
        speed[k][c] -= speed[k][c] / 3;
        place[k][c] += speed[k][c];
      }
      if (to[i] >= 0)
        most[at(to[i])] = std::max(most[at(to[i])], raised[i]);
      for (std::size_t c = 0; c < columns; ++c)
        matrix[k * columns + c] ^= static_cast<cl_int>(c + k);
      table[at(key[i] & (wrap - 1))] += static_cast<cl_int>(i);
    }
    compare(forces, force, "assemble");
    compare(places, place, "push");
    compare(mosts, most, "raise");
    compare(matrices, matrix, "scale_rows");
    compare(tables, table, "drop");
    if (s.options().variant != "reordered" || round + 1 == s.options().iterations)
      continue;
    for (Ints* each : {&mesh.colour, &order, &to, &key})
      std::swap((*each)[round % 7], (*each)[round % 7 + 1]);
    sample::write(queue, colour, mesh.colour);
    sample::write(queue, orders, order);
    sample::write(queue, targets, to);
    sample::write(queue, keys, key);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 8192, .iterations = 3}, distinctPlaces);
}
