// How often each byte occurs, on top of what the bins held before: straight into global memory, and
// with a histogram of each work-group's own in local memory first.
#include "kernels/histogram.h"
#include "tests/samples/sample.h"

namespace {

void histogram(sample::Sample& s) {
  constexpr std::size_t local = 64;
  const std::size_t n = s.options().size + 11;
  std::vector<cl_uchar> data(n);
  for (std::size_t i = 0; i < n; ++i)
    data[i] = static_cast<cl_uchar>(sample::randomBits(i) * sample::randomBits(i, 1) >> 56);
  std::vector<cl_uint> expected(256), bins(256);
  for (std::size_t bin = 0; bin < 256; ++bin)
    expected[bin] = static_cast<cl_uint>(sample::randomBits(bin, 2) >> 32);

  const auto queue = s.queue();
  const auto program = s.program(sample::histogramSource);
  const auto direct = sample::kernel(program, "histogram_direct");
  const auto byLocal = sample::kernel(program, "histogram_local");
  const auto input = s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, n, data.data());
  const auto output =
      s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 256 * sizeof(cl_uint), expected.data());
  sample::setArguments(direct, input, static_cast<cl_uint>(n), output);
  sample::setArguments(byLocal, input, static_cast<cl_uint>(n), output,
                       sample::Local{256 * sizeof(cl_uint)});
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    s.timed(queue, [&] {
      sample::launch(queue, direct, {sample::roundUp(n, local)}, {local});
      sample::launch(queue, byLocal, {32 * local}, {local});
    });
    for (cl_uchar byte : data)
      expected[byte] += 2;
    sample::read(queue, output, bins);
    sample::require(bins == expected, "wrong counts");
    s.output(bins);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 17, .iterations = 3}, histogram);
}
