// Numbers passed to kernels that happen to equal handles of the program's own objects.
#include "kernels/handle_values.h"
#include "tests/samples/sample.h"

#include <cstring>

namespace {

struct Halves {
  cl_uint low;
  cl_uint high;
};

template <typename T> cl_ulong numberOf(T handle) {
  cl_ulong number = 0;
  static_assert(sizeof handle == sizeof number);
  std::memcpy(&number, &handle, sizeof handle);
  return number;
}

void handleValues(sample::Sample& s) {
  const std::size_t n = s.options().size, bytes = n * sizeof(cl_ulong);
  std::vector<cl_ulong> in(n), out(n), sums(n);
  for (std::size_t i = 0; i < n; ++i)
    in[i] = sample::randomBits(i);
  const auto queue = s.queue();
  const auto program = s.program(sample::handleValuesSource);
  const auto inBuffer = s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, in.data());
  const auto outBuffer = s.buffer(CL_MEM_READ_WRITE, bytes);
  const auto idleBuffer = s.buffer(CL_MEM_READ_WRITE, 64);
  cl_int status = CL_SUCCESS;
  sample::Sampler sampler;
  const cl_sampler_properties unnormalized[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                                CL_FALSE,
                                                CL_SAMPLER_ADDRESSING_MODE,
                                                CL_ADDRESS_NONE,
                                                CL_SAMPLER_FILTER_MODE,
                                                CL_FILTER_NEAREST,
                                                0};
  if (s.hasImages())
    sampler = clCreateSamplerWithProperties(s.context(), unnormalized, &status);
  sample::check(status, "clCreateSamplerWithProperties");

  const auto addNumber = sample::kernel(program, "add_number");
  const auto addHalves = sample::kernel(program, "add_halves");
  for (const cl_ulong number :
       {cl_ulong{42}, numberOf<cl_mem>(idleBuffer), numberOf<cl_mem>(inBuffer),
        numberOf<cl_mem>(outBuffer), numberOf<cl_sampler>(sampler), numberOf<cl_kernel>(addNumber)})
    for (unsigned i = 0; i < s.options().iterations; ++i) {
      Halves halves{};
      std::memcpy(&halves, &number, sizeof number);
      sample::setArguments(addNumber, outBuffer, inBuffer, number);
      sample::setArguments(addHalves, outBuffer, halves, inBuffer);
      for (cl_kernel kernel : {cl_kernel(addNumber), cl_kernel(addHalves)}) {
        sample::launch(queue, kernel, {n}, {64});
        sample::read(queue, outBuffer, out);
        for (std::size_t k = 0; k < n; ++k) {
          sample::require(out[k] == in[k] + number, "a number was not taken for itself");
          sums[k] = out[k] - number; // what is kept is the same in every run
        }
        s.output(sums);
      }
    }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 12, .iterations = 2}, handleValues);
}
