// Reorders numbers by a random permutation, and adds them to what is there then, with a copy in
// between.
#include "kernels/scatter.h"
#include "tests/samples/sample.h"

#include <numeric>

namespace {

void scatter(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const std::size_t bytes = n * sizeof(cl_uint);
  std::vector<cl_uint> to(n), in(n), out(n), expected(n);
  std::iota(to.begin(), to.end(), 0u);
  for (std::size_t i = n; i > 1; --i)
    std::swap(to[i - 1], to[sample::randomBits(i) % i]);
  for (std::size_t i = 0; i < n; ++i)
    in[i] = static_cast<cl_uint>(sample::randomBits(i, 1));

  const auto queue = s.queue();
  const auto program = s.program(sample::scatterSource);
  const auto kernel = sample::kernel(program, "scatter");
  const auto onto = sample::kernel(program, "scatter_onto");
  const auto toBuffer = s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, to.data());
  const auto inBuffer = s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, in.data());
  const auto outBuffer = s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, in.data());
  for (unsigned round = 0; round < s.options().iterations; ++round) {
    // The last seventh keeps what it was.
    const std::size_t moved = n - n / 7;
    sample::setArguments(kernel, toBuffer, inBuffer, outBuffer, static_cast<cl_uint>(moved));
    sample::launch(queue, kernel, {sample::roundUp(n, 64)}, {64});
    sample::setArguments(onto, toBuffer, inBuffer, outBuffer, static_cast<cl_uint>(moved));
    sample::launch(queue, onto, {sample::roundUp(n, 64)}, {64});
    sample::read(queue, outBuffer, out);
    expected = round == 0 ? in : expected;
    for (std::size_t i = 0; i < moved; ++i)
      expected[to[i]] = 4 * in[i];
    sample::require(out == expected, "elements are not where they belong");
    s.output(out);
    sample::check(clEnqueueCopyBuffer(queue, outBuffer, inBuffer, 0, 0, bytes, 0, nullptr, nullptr),
                  "clEnqueueCopyBuffer");
    in = out;
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 30000, .iterations = 4}, scatter);
}
