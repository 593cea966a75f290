// Convolutions, by variant: `plane` with 3 x 3 weights over the inner points of a square of side
// `size`, and `volume` with 3 x 3 x 3 over those of a cube of about as many points; `square` with
// 17 x 17 weights that are products of 17, `separable` in two passes with these, and
// `separable_local` by way of local memory.
#include "kernels/convolution.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>

namespace {

constexpr std::size_t group = 16;
constexpr long radius = 8;

class Convolution {
public:
  Convolution(sample::Sample& s, std::size_t points, std::size_t weightCount)
      : weights(s.randomFloats(weightCount, -1, 1, 1)), in(s.randomFloats(points, 0, 1, 2)),
        sample_(s), queue_(s.queue()),
        program_(s.program(sample::convolutionSource, "-D GROUP=16 -D RADIUS=8")),
        weightBuffer_(s.copyOf(weights, CL_MEM_READ_ONLY)),
        inBuffer_(s.copyOf(in, CL_MEM_READ_ONLY)), outBuffer_(s.copyOf(std::vector<float>(points))),
        between_(s.array<float>(points)) {}

  /// One kernel, or two in a row, as often as the command line says.
  template <typename... Sides>
  void run(const std::vector<const char*>& names, const sample::Sizes& global,
           const sample::Sizes& local, const Sides&... sides) {
    std::vector<sample::Kernel> kernels;
    for (const char* name : names)
      kernels.push_back(sample::kernel(program_, name));
    for (unsigned i = 0; i < sample_.options().iterations; ++i)
      sample_.timed(queue_, [&] {
        for (const sample::Kernel& kernel : kernels) {
          sample::setArguments(kernel, sides..., weightBuffer_,
                               &kernel == &kernels.front() ? inBuffer_ : between_,
                               &kernel == &kernels.back() ? outBuffer_ : between_);
          sample::launch(queue_, kernel, global, local);
        }
      });
  }

  void compare(const std::function<double(std::size_t)>& expected) {
    std::vector<float> out(in.size());
    sample::read(queue_, outBuffer_, out);
    sample_.verify([&] { sample::checkAll(out, expected, 1e-4, "out", 1 << 16); });
    sample_.output(out);
  }

  const std::vector<float> weights, in;

private:
  sample::Sample& sample_;
  sample::Queue queue_;
  sample::Program program_;
  sample::Memory weightBuffer_, inBuffer_, outBuffer_, between_;
};

void plane(sample::Sample& s) {
  const std::size_t side = std::max<std::size_t>(s.options().size, 3);
  Convolution convolution(s, side * side, 9);
  const auto global = sample::roundUp(side, group);
  const auto count = static_cast<cl_uint>(side);
  convolution.run({"plane"}, {global, global}, {group, group}, count, count);
  convolution.compare([&](std::size_t i) {
    const std::size_t x = i % side, y = i / side;
    if (x % (side - 1) == 0 || y % (side - 1) == 0)
      return 0.0;
    double sum = 0;
    for (std::size_t k = 0; k < 9; ++k)
      sum +=
          double{convolution.weights[k]} * convolution.in[(y + k / 3 - 1) * side + x + k % 3 - 1];
    return sum;
  });
}

void volume(sample::Sample& s) {
  const auto points = static_cast<double>(s.options().size * s.options().size);
  const auto side = static_cast<std::size_t>(std::max(3.0, std::round(std::cbrt(points))));
  Convolution convolution(s, side * side * side, 27);
  const sample::Sizes local = {8, 4, 4};
  convolution.run({"volume"},
                  {sample::roundUp(side, 8), sample::roundUp(side, 4), sample::roundUp(side, 4)},
                  local, static_cast<cl_uint>(side));
  convolution.compare([&](std::size_t i) {
    const std::size_t x = i % side, y = i / side % side, z = i / side / side;
    if (x % (side - 1) == 0 || y % (side - 1) == 0 || z % (side - 1) == 0)
      return 0.0;
    double sum = 0;
    for (std::size_t k = 0; k < 27; ++k)
      sum += double{convolution.weights[k]} *
             convolution.in[((z + k / 9 - 1) * side + y + k / 3 % 3 - 1) * side + x + k % 3 - 1];
    return sum;
  });
}

void filter(sample::Sample& s, const std::vector<const char*>& kernels) {
  const std::size_t side = sample::roundUp(s.options().size, group);
  Convolution convolution(s, side * side, 2 * radius + 1);
  const auto count = static_cast<cl_int>(side);
  convolution.run(kernels, {side, side}, {group, group}, count, count);
  convolution.compare([&](std::size_t i) {
    const long last = static_cast<long>(side) - 1;
    double sum = 0;
    for (long dy = -radius; dy <= radius; ++dy) {
      const long y = std::clamp(static_cast<long>(i / side) + dy, 0L, last);
      for (long dx = -radius; dx <= radius; ++dx) {
        const long x = std::clamp(static_cast<long>(i % side) + dx, 0L, last);
        sum += double{convolution.weights[radius + dy]} * convolution.weights[radius + dx] *
               convolution.in[y * static_cast<long>(side) + x];
      }
    }
    return sum;
  });
}

void square(sample::Sample& s) {
  filter(s, {"square"});
}

void separable(sample::Sample& s) {
  filter(s, {"rows", "columns"});
}

void separableLocal(sample::Sample& s) {
  filter(s, {"rows_local", "columns_local"});
}

void run(sample::Sample& s) {
  sample::choose(s, {{"plane", plane},
                     {"volume", volume},
                     {"square", square},
                     {"separable", separable},
                     {"separable_local", separableLocal}});
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 2048, .iterations = 5, .variant = "separable"}, run);
}
