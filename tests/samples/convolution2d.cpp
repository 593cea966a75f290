// A 5 x 5 filter over an image whose sides are no multiples of the group. The image travels by
// rect write out of a wider host array and by rect read into one.
#include "kernels/convolution2d.h"
#include "tests/samples/sample.h"

namespace {

constexpr int radius = 2;
constexpr std::size_t border = 8; // columns of the host arrays that are not part of the image

void convolution2d(sample::Sample& s) {
  const std::size_t width = s.options().size + 3;
  const std::size_t height = s.options().size * 3 / 4 + 1;
  const std::size_t pitch = width + 2 * border;
  const std::vector<float> in = sample::randomFloats(pitch * height, 0, 1, 1);
  std::vector<float> filter = sample::randomFloats((2 * radius + 1) * (2 * radius + 1), -1, 1, 2);
  std::vector<float> out(pitch * height, -7.0F);

  const auto queue = s.queue();
  const auto program = s.program(sample::convolution2dSource);
  const auto kernel = sample::kernel(program, "convolution2d");
  const auto inBuffer = s.buffer(CL_MEM_READ_ONLY, width * height * sizeof(float));
  const auto outBuffer = s.buffer(CL_MEM_READ_WRITE, width * height * sizeof(float));
  const auto filterBuffer = s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                     filter.size() * sizeof(float), filter.data());

  const std::size_t bufferOrigin[3] = {0, 0, 0};
  const std::size_t hostOrigin[3] = {border * sizeof(float), 0, 0};
  const std::size_t region[3] = {width * sizeof(float), height, 1};
  sample::check(clEnqueueWriteBufferRect(queue, inBuffer, CL_FALSE, bufferOrigin, hostOrigin,
                                         region, 0, 0, pitch * sizeof(float), 0, in.data(), 0,
                                         nullptr, nullptr),
                "clEnqueueWriteBufferRect");
  sample::setArguments(kernel, static_cast<cl_int>(width), static_cast<cl_int>(height),
                       cl_int{radius}, inBuffer, filterBuffer, outBuffer);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    sample::launch(queue, kernel, {sample::roundUp(width, 16), sample::roundUp(height, 8)},
                   {16, 8});
  sample::check(clEnqueueReadBufferRect(queue, outBuffer, CL_TRUE, bufferOrigin, hostOrigin, region,
                                        0, 0, pitch * sizeof(float), 0, out.data(), 0, nullptr,
                                        nullptr),
                "clEnqueueReadBufferRect");

  const auto inside = [](long value, std::size_t end) {
    return value >= 0 && value < static_cast<long>(end);
  };
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t column = 0; column < pitch; ++column) {
      const std::size_t index = y * pitch + column;
      if (column < border || column >= border + width) {
        sample::require(out[index] == -7.0F, "the rect read wrote beside its region");
        continue;
      }
      double sum = 0;
      for (long dy = -radius; dy <= radius; ++dy)
        for (long dx = -radius; dx <= radius; ++dx) {
          const long u = static_cast<long>(column - border) + dx;
          const long v = static_cast<long>(y) + dy;
          if (inside(u, width) && inside(v, height))
            sum += double{in[v * pitch + border + u]} *
                   filter[(dy + radius) * (2 * radius + 1) + dx + radius];
        }
      sample::checkClose(out[index], sum, 1e-4, "out", index);
    }
  s.output(out);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 320, .iterations = 2}, convolution2d);
}
