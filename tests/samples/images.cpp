// Buffer to image, a blur over images, image to buffer; the image also travels by read, write,
// copy and fill.
#include "kernels/images.h"
#include "tests/samples/sample.h"

#include <algorithm>

namespace {

sample::Memory image(const sample::Sample& s, std::size_t width, std::size_t height,
                     cl_channel_type type = CL_UNSIGNED_INT8) {
  const cl_image_format format = {CL_RGBA, type};
  cl_image_desc description = {};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = width;
  description.image_height = height;
  cl_int error = CL_SUCCESS;
  sample::Memory memory =
      clCreateImage(s.context(), CL_MEM_READ_WRITE, &format, &description, nullptr, &error);
  sample::check(error, "clCreateImage");
  return memory;
}

std::vector<cl_uint> blurOnHost(const std::vector<cl_uint>& in, std::size_t width,
                                std::size_t height) {
  std::vector<cl_uint> out(in.size());
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x)
      for (unsigned shift = 0; shift < 32; shift += 8) {
        const std::size_t right = std::min(x + 1, width - 1);
        const std::size_t below = std::min(y + 1, height - 1);
        cl_uint sum = 0;
        for (std::size_t at :
             {y * width + x, y * width + right, below * width + x, below * width + right})
          sum += in[at] >> shift & 255U;
        out[y * width + x] |= (sum / 4) << shift;
      }
  return out;
}

void images(sample::Sample& s) {
  if (!s.hasImages())
    return;

  const std::size_t width = sample::roundUp(s.options().size, 8);
  const std::size_t height = width / 2;
  std::vector<cl_uint> pixels(width * height);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<cl_uint>(sample::randomBits(i));
  const std::size_t bytes = pixels.size() * sizeof(cl_uint);

  const auto queue = s.queue();
  const auto program = s.program(sample::imagesSource);
  const auto toImage = sample::kernel(program, "to_image");
  const auto blur = sample::kernel(program, "blur");
  const auto fromImage = sample::kernel(program, "from_image");
  const auto buffer = s.buffer(CL_MEM_COPY_HOST_PTR, bytes, pixels.data());
  const auto result = s.buffer(CL_MEM_READ_WRITE, bytes);
  const auto first = image(s, width, height);
  const auto second = image(s, width, height);
  const auto other = image(s, width, height, CL_FLOAT);
  const cl_sampler_properties clamp[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                         CL_FALSE,
                                         CL_SAMPLER_ADDRESSING_MODE,
                                         CL_ADDRESS_CLAMP_TO_EDGE,
                                         CL_SAMPLER_FILTER_MODE,
                                         CL_FILTER_NEAREST,
                                         0};
  cl_int error = CL_SUCCESS;
  const sample::Sampler sampler = clCreateSamplerWithProperties(s.context(), clamp, &error);
  sample::check(error, "clCreateSamplerWithProperties");

  const std::size_t origin[3] = {0, 0, 0};
  const std::size_t region[3] = {width, height, 1};
  const cl_uint4 grey = {{1, 2, 3, 4}};
  sample::check(clEnqueueFillImage(queue, second, &grey, origin, region, 0, nullptr, nullptr),
                "clEnqueueFillImage");
  std::vector<cl_uint> out(pixels.size());
  sample::check(clEnqueueReadImage(queue, second, CL_TRUE, origin, region, 0, 0, out.data(), 0,
                                   nullptr, nullptr),
                "clEnqueueReadImage");
  sample::require(std::count(out.begin(), out.end(), 0x04030201U) ==
                      static_cast<std::ptrdiff_t>(out.size()),
                  "wrong fill");

  const sample::Sizes global = {width, height};
  sample::setArguments(toImage, buffer, first);
  sample::launch(queue, toImage, global);
  std::vector<cl_uint> expected = pixels;
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::setArguments(blur, first, sampler, second);
    sample::launch(queue, blur, global, {8, 4});
    sample::check(
        clEnqueueCopyImage(queue, second, first, origin, origin, region, 0, nullptr, nullptr),
        "clEnqueueCopyImage");
    expected = blurOnHost(expected, width, height);
  }
  sample::setArguments(fromImage, first, result);
  sample::launch(queue, fromImage, global);
  sample::read(queue, result, out);
  sample::require(out == expected, "wrong pixels through the kernel");
  s.output(out);

  sample::check(clEnqueueWriteImage(queue, first, CL_FALSE, origin, region, 0, 0, pixels.data(), 0,
                                    nullptr, nullptr),
                "clEnqueueWriteImage");
  sample::launch(queue, fromImage, global);
  sample::read(queue, result, out);
  sample::require(out == pixels, "wrong pixels after clEnqueueWriteImage");
  s.output(out);

  // An image is no buffer: a driver that looks refuses this, and the bytes stay as they were.
  sample::launch(queue, fromImage, global);
  const cl_int copied =
      clEnqueueCopyBuffer(queue, first, result, 0, bytes / 2, bytes / 2, 0, nullptr, nullptr);
  s.output(std::vector<cl_int>{copied});
  sample::read(queue, result, out);
  sample::require(copied == CL_SUCCESS || out == pixels, "what was refused changed something");

  // What drivers refuse they refuse at once, also behind a launch.
  sample::setArguments(blur, first, sampler, second);
  sample::launch(queue, blur, global, {8, 4});
  const std::size_t inside[3] = {1, 0, 0};
  const std::vector<cl_int> answers = {
      clEnqueueReadImage(queue, first, CL_FALSE, inside, region, 0, 0, out.data(), 0, nullptr,
                         nullptr),
      clEnqueueReadImage(queue, first, CL_FALSE, origin, region, 4, 0, out.data(), 0, nullptr,
                         nullptr),
      clEnqueueWriteImage(queue, first, CL_FALSE, inside, region, 0, 0, out.data(), 0, nullptr,
                          nullptr),
      clEnqueueCopyImage(queue, second, first, inside, origin, region, 0, nullptr, nullptr),
      clEnqueueCopyImageToBuffer(queue, first, result, inside, region, 0, 0, nullptr, nullptr),
      clEnqueueCopyImageToBuffer(queue, first, result, origin, region, 4, 0, nullptr, nullptr),
      clEnqueueCopyBufferToImage(queue, result, first, 4, origin, region, 0, nullptr, nullptr),
      clEnqueueCopyImage(queue, other, first, origin, origin, region, 0, nullptr, nullptr)};
  sample::check(clFinish(queue), "clFinish"); // some driver may have taken some
  s.output(answers);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 256, .iterations = 3}, images);
}
