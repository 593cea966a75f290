// Samplers and images that the program gives up as soon as it has enqueued what uses them, and
// others that come in their place.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "kernels/late_release.h"
#include "tests/samples/sample.h"

#include <algorithm>

namespace {

constexpr std::size_t side = 64;

void lateRelease(sample::Sample& s) {
  if (!s.hasImages())
    return;
  constexpr cl_uint rounds = 20000;
  const std::size_t n = side * side;
  std::vector<cl_uint> sums(n, 1), pixels(4 * n), result(n);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<cl_uint>(77 * i);

  const auto queue = s.queue();
  const auto program = s.program(sample::lateReleaseSource);
  const auto slow = sample::kernel(program, "slow");
  const auto look = sample::kernel(program, "look");
  const auto buffer =
      s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, n * sizeof(cl_uint), sums.data());
  sample::setArguments(slow, buffer, rounds);
  for (unsigned round = 0; round < s.options().iterations; ++round) {
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
    cl_image_desc description = {};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = description.image_height = side;
    cl_int error = CL_SUCCESS;
    sample::Memory picture = clCreateImage(s.context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                           &format, &description, pixels.data(), &error);
    sample::check(error, "clCreateImage");
    const bool border = round % 2 == 1;
    auto samplerOf = [&](cl_addressing_mode mode) -> sample::Sampler {
      sample::Sampler made =
          clCreateSampler(s.context(), CL_FALSE, mode, CL_FILTER_NEAREST, &error);
      sample::check(error, "clCreateSampler");
      return made;
    };
    sample::Sampler sampler = samplerOf(border ? CL_ADDRESS_CLAMP : CL_ADDRESS_CLAMP_TO_EDGE);
    sample::setArguments(look, picture, sampler, buffer);
    sample::launch(queue, slow, {n}, {64});
    sample::launch(queue, look, {n}, {64});
    sampler.reset();
    picture.reset();
    const sample::Sampler others[] = {samplerOf(CL_ADDRESS_NONE), samplerOf(CL_ADDRESS_NONE),
                                      samplerOf(CL_ADDRESS_NONE)};
    for (std::size_t i = 0; i < n; ++i) {
      for (cl_uint k = 0; k < rounds; ++k)
        sums[i] = sums[i] * 1664525 + k;
      const std::size_t x = i % side < 2 ? 0 : i % side - 2;
      const bool isOutside = i % side < 2 && border;
      sums[i] = sums[i] * 3 + (isOutside ? 0 : pixels[4 * (i / side * side + x)]);
    }
    sample::read(queue, buffer, result);
    sample::require(result == sums, "the sums are wrong");
    s.output(result);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.iterations = 4}, lateRelease);
}
