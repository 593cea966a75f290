// Sum of integers: group sums on the device, their sum on the host. The input is filled by copy
// from a staging buffer; n is no multiple of the group.
#include "kernels/reduction.h"
#include "tests/samples/sample.h"

#include <numeric>

namespace {

void reduction(sample::Sample& s) {
  constexpr std::size_t local = 128;
  const std::size_t n = s.options().size + 37;
  const std::size_t groups = sample::roundUp(n, local) / local;
  std::vector<cl_int> in(n);
  for (std::size_t i = 0; i < n; ++i)
    in[i] = static_cast<cl_int>(sample::randomBits(i) % 2000) - 1000;
  const cl_int expected = std::accumulate(in.begin(), in.end(), 0);
  const std::size_t bytes = n * sizeof(cl_int);

  const auto queue = s.queue();
  const auto program = s.program(sample::reductionSource);
  const auto kernel = sample::kernel(program, "reduction");
  const auto staging = s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, in.data());
  const auto inBuffer = s.buffer(CL_MEM_READ_WRITE, bytes);
  const auto partialBuffer = s.buffer(CL_MEM_WRITE_ONLY, groups * sizeof(cl_int));
  sample::check(clEnqueueCopyBuffer(queue, staging, inBuffer, 0, 0, bytes, 0, nullptr, nullptr),
                "clEnqueueCopyBuffer");
  sample::setArguments(kernel, inBuffer, static_cast<cl_uint>(n), partialBuffer,
                       sample::Local{local * sizeof(cl_int)});

  std::vector<cl_int> partial(groups);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::launch(queue, kernel, {groups * local}, {local});
    sample::read(queue, partialBuffer, partial);
    sample::require(std::accumulate(partial.begin(), partial.end(), 0) == expected, "wrong sum");
    s.output(partial);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 18, .iterations = 3}, reduction);
}
