// The upper half of the Mandelbrot set: the load differs strongly by row, so equal shares are
// wrong. NULL local size in two dimensions, non-blocking map with an event.
#include "kernels/mandelbrot.h"
#include "tests/samples/sample.h"

#include <algorithm>

namespace {

constexpr cl_uint limit = 500;

void mandelbrot(sample::Sample& s) {
  const std::size_t width = s.options().size;
  const std::size_t height = width / 2;
  const float step = 3.0F / static_cast<float>(width);
  const std::size_t bytes = width * height * sizeof(cl_uint);

  const auto queue = s.queue();
  const auto program = s.program(sample::mandelbrotSource);
  const auto kernel = sample::kernel(program, "mandelbrot");
  const auto count = s.buffer(CL_MEM_WRITE_ONLY, bytes);
  sample::setArguments(kernel, -2.25F, 1.5F, step, limit, count);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] { sample::launch(queue, kernel, {width, height}); });

  sample::Event mapDone;
  cl_int error = CL_SUCCESS;
  void* mapped = clEnqueueMapBuffer(queue, count, CL_FALSE, CL_MAP_READ, 0, bytes, 0, nullptr,
                                    mapDone.out(), &error);
  sample::check(error, "clEnqueueMapBuffer");
  sample::check(clWaitForEvents(1, mapDone.address()), "clWaitForEvents");
  const auto* counts = static_cast<const cl_uint*>(mapped);

  // Near the boundary of the set rounding decides, so a few pixels may differ from the host's.
  std::size_t different = 0;
  std::size_t inside = 0;
  std::size_t probes = 0;
  for (std::size_t i = 0; i < width * height; i += 37, ++probes) {
    const float cx = -2.25F + step * static_cast<float>(i % width);
    const float cy = 1.5F - step * static_cast<float>(i / width);
    float x = 0;
    float y = 0;
    cl_uint n = 0;
    for (; n < limit && x * x + y * y <= 4.0F; ++n) {
      const float next = x * x - y * y + cx;
      y = 2.0F * x * y + cy;
      x = next;
    }
    different += n != counts[i];
    inside += counts[i] == limit;
  }
  sample::require(different * 50 < probes,
                  std::to_string(different) + " pixels of " + std::to_string(probes) + " differ");
  sample::require(inside * 20 > probes && inside * 2 < probes, "that is not the Mandelbrot set");
  s.output(counts, bytes);
  sample::check(clEnqueueUnmapMemObject(queue, count, mapped, 0, nullptr, nullptr), "unmap");
  sample::check(clFinish(queue), "clFinish");
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 512, .iterations = 4}, mandelbrot);
}
