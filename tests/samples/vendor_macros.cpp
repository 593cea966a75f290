// A program that asks for macros that only the device's compiler knows, built plainly and with
// options that change no address.
#include "kernels/vendor_macros.h"
#include "tests/samples/sample.h"

namespace {

constexpr std::size_t groupSize = 64;

void vendorMacros(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto buffer = s.buffer(CL_MEM_READ_WRITE, n * sizeof(cl_int));
  for (const char* options : {"", "-cl-denorms-are-zero -cl-mad-enable"}) {
    const auto program = s.program(sample::vendorMacrosSource, options);
    const auto kernel = sample::kernel(program, "place_by_macros");
    const cl_int none = -1;
    sample::check(clEnqueueFillBuffer(queue, buffer, &none, sizeof none, 0, n * sizeof none, 0,
                                      nullptr, nullptr),
                  "clEnqueueFillBuffer");
    sample::setArguments(kernel, buffer, static_cast<cl_int>(n));
    for (unsigned i = 0; i < s.options().iterations; ++i)
      sample::launch(queue, kernel, {n}, {groupSize});
    std::vector<cl_int> out(n);
    sample::read(queue, buffer, out);
    const std::size_t step = out[1] == none ? (out[2] == none ? 3 : 2) : 1;
    const auto groups = static_cast<cl_int>(n / groupSize);
    for (std::size_t i = 0; i < n; ++i) {
      const bool isWritten = i % step == 0 && i / step < n / step;
      sample::require(out[i] ==
                          (isWritten ? out[0] + static_cast<cl_int>(i / step) * groups : none),
                      "wrong result");
    }
    s.output(out);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 13, .iterations = 3}, vendorMacros);
}
