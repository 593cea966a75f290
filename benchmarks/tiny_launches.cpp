// A long loop of tiny launches of a gather with divisions and nested conditions in its index: each
// pixel of an image sums those elements of a matrix that were made from it, as the way back from a
// convolution does. Every launch has another shape, as in a library's test. Variants: `one`
// work-group a launch, `few`, or `same`: few, of one shape.
#include "tests/samples/sample.h"

#include <algorithm>
#include <vector>

namespace {

const char* const source = R"(
kernel void gather(int height, int width, int channels, int side, int stride, int pad, int down,
                   int across, global const float* columns, global float* image) {
  const int x = get_global_id(0);
  const int y = (int)get_global_id(1) % height;
  const int channel = (int)get_global_id(1) / height;
  if (x >= width || channel >= channels)
    return;
  float sum = 0;
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i) {
      const int below = y + pad - j, right = x + pad - i;
      if (below >= 0 && below % stride == 0 && below / stride < down)
        if (right >= 0 && right % stride == 0 && right / stride < across)
          sum += columns[(((channel * side + j) * side + i) * down + below / stride) * across +
                         right / stride];
    }
  image[(channel * height + y) * width + x] += sum;
})";

struct Shape {
  cl_int height, width, channels, side, stride, pad;
  cl_int down() const { return std::max((height + 2 * pad - side) / stride + 1, 1); }
  cl_int across() const { return std::max((width + 2 * pad - side) / stride + 1, 1); }
};

Shape shapeOf(unsigned number, bool one) {
  const auto pick = [&](std::uint64_t salt, cl_int low, cl_int high) {
    return low + static_cast<cl_int>(sample::randomBits(number, salt) %
                                     static_cast<std::uint64_t>(high - low + 1));
  };
  const cl_int most = one ? 8 : 24;
  Shape shape{pick(1, 3, most), pick(2, 3, most), 1, pick(4, 1, 3), pick(5, 1, 3), pick(6, 0, 1)};
  if (!one)
    shape.channels = pick(3, 1, 3);
  return shape;
}

void tinyLaunches(sample::Sample& s) {
  const std::string& variant = s.options().variant;
  constexpr std::size_t most = 24 * 24 * 3;
  const auto queue = s.queue();
  const auto program = s.program(source);
  const auto kernel = sample::kernel(program, "gather");
  std::vector<float> columns = sample::randomFloats(9 * 26 * 26 * 3, 0, 1);
  std::vector<float> image(most, 0);
  const auto columnsBuffer =
      s.buffer(CL_MEM_COPY_HOST_PTR, columns.size() * sizeof(float), columns.data());
  const auto imageBuffer =
      s.buffer(CL_MEM_COPY_HOST_PTR, image.size() * sizeof(float), image.data());
  const auto launch = [&](unsigned number) {
    const Shape shape = shapeOf(variant == "same" ? 7 : number, variant == "one");
    sample::setArguments(kernel, shape.height, shape.width, shape.channels, shape.side,
                         shape.stride, shape.pad, shape.down(), shape.across(), columnsBuffer,
                         imageBuffer);
    sample::launch(queue, kernel,
                   {sample::roundUp(static_cast<std::size_t>(shape.width), 8),
                    sample::roundUp(static_cast<std::size_t>(shape.height * shape.channels), 8)},
                   {8, 8});
    sample::check(clFinish(queue), "clFinish");
  };
  launch(0);

  s.timed([&] {
    for (unsigned i = 0; i < s.options().iterations; ++i)
      launch(i);
  });
  sample::read(queue, imageBuffer, image);
  sample::require(std::all_of(image.begin(), image.end(), [](float x) { return x >= 0; }),
                  "a sum of what is positive is not");
  s.output(image);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.iterations = 16384, .variant = "few"}, tinyLaunches);
}
