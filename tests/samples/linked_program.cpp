// Compiles two units and links them: kernels in one call functions of the other, and a kernel,
// declared in a header that is given at run time. Then the same from the binary of the linked
// program, with the functions in a library, and with the functions from the binary of their unit;
// and with a kernel that is made in the callback which tells that the program is linked.
#include "kernels/linked_program.h"
#include "tests/samples/sample.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

namespace {

using sample::check;

constexpr std::size_t groupSize = 64;
constexpr cl_int scale = 5;

sample::Program link(sample::Sample& s, const std::vector<cl_program>& parts, const char* options) {
  const cl_device_id device = s.device();
  cl_int error = CL_SUCCESS;
  sample::Program program =
      clLinkProgram(s.context(), 1, &device, options, static_cast<cl_uint>(parts.size()),
                    parts.data(), nullptr, nullptr, &error);
  check(error, "clLinkProgram");
  return program;
}

void launchAll(sample::Sample& s, cl_program program) {
  const std::size_t n = s.options().size;
  std::vector<cl_int> in(n);
  std::iota(in.begin(), in.end(), 1);
  std::vector<cl_int> out(n);
  const auto queue = s.queue();
  const auto inBuffer = s.buffer(CL_MEM_COPY_HOST_PTR, n * sizeof(cl_int), in.data());
  const auto outBuffer = s.buffer(CL_MEM_READ_WRITE, n * sizeof(cl_int));
  for (const char* name : {"scale", "scale_and_add_group", "scale_there"}) {
    const auto kernel = sample::kernel(program, name);
    sample::setArguments(kernel, inBuffer, outBuffer);
    for (unsigned i = 0; i < s.options().iterations; ++i)
      sample::launch(queue, kernel, {n}, {groupSize});
    sample::read(queue, outBuffer, out);
    const bool addsGroup = std::string(name) == "scale_and_add_group";
    for (std::size_t i = 0; i < n; ++i) {
      const auto added = static_cast<cl_int>(addsGroup ? i / groupSize + n / groupSize : 0);
      sample::require(out[i] == scale * in[i] + added, std::string("wrong result of ") + name);
    }
    s.output(out);
  }
}

void launchPlaced(sample::Sample& s, cl_program program) {
  const std::size_t n = s.options().size;
  std::vector<cl_int> out(n, -1);
  const auto queue = s.queue();
  const auto buffer = s.copyOf(out);
  const auto kernel = sample::kernel(program, "place_finite");
  sample::setArguments(kernel, buffer, static_cast<cl_int>(n));
  for (unsigned i = 0; i < s.options().iterations; ++i)
    sample::launch(queue, kernel, {n}, {groupSize});
  sample::read(queue, buffer, out);
  s.output(out);
}

void CL_CALLBACK makeKernel(cl_program program, void* kernel) {
  cl_int error = CL_SUCCESS;
  *static_cast<std::atomic<cl_kernel>*>(kernel) = clCreateKernel(program, "scale", &error);
}

/// It takes turns with one that is made as usual.
void launchMadeInCallback(sample::Sample& s, const std::vector<cl_program>& parts) {
  const cl_device_id device = s.device();
  std::atomic<cl_kernel> made = nullptr;
  cl_int error = CL_SUCCESS;
  const sample::Program program =
      clLinkProgram(s.context(), 1, &device, "", static_cast<cl_uint>(parts.size()), parts.data(),
                    makeKernel, &made, &error);
  check(error, "clLinkProgram");
  for (int tries = 0; !made && tries < 5000; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const sample::Kernel early = made.load();
  sample::require(early, "no kernel was made in the callback");
  const auto late = sample::kernel(program, "scale");
  const std::size_t n = s.options().size;
  std::vector<cl_int> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 1);
  const auto queue = s.queue();
  const auto first = s.copyOf(numbers), second = s.array<cl_int>(n);
  for (unsigned i = 0; i < 2; ++i) {
    sample::setArguments(late, first, second);
    sample::launch(queue, late, {n}, {groupSize});
    sample::setArguments(early, second, first);
    sample::launch(queue, early, {n}, {groupSize});
  }
  sample::read(queue, first, numbers);
  s.output(numbers);
}

void linkedProgram(sample::Sample& s) {
  const cl_device_id device = s.device();
  const auto header = s.unbuiltProgram("int scaled(int x);\nint group_number(void);\n");
  const char* headerName = "functions.h";
  const auto kernels = s.unbuiltProgram(sample::linkedProgramSource);
  const auto functions = s.unbuiltProgram(sample::linkedProgramSource);
  check(
      clCompileProgram(kernels, 1, &device, "", 1, header.address(), &headerName, nullptr, nullptr),
      "clCompileProgram of the kernels");
  check(clCompileProgram(functions, 1, &device, "-DFUNCTIONS -DSCALE=5", 0, nullptr, nullptr,
                         nullptr, nullptr),
        "clCompileProgram of the functions");

  const auto linked = link(s, {kernels, functions}, "");
  launchAll(s, linked);
  const auto again = s.fromBinary(sample::binaryOf(linked));
  check(clBuildProgram(again, 1, &device, "", nullptr, nullptr), "build of a binary");
  launchAll(s, again);
  launchMadeInCallback(s, {kernels, functions});
  const auto finite = s.unbuiltProgram(sample::linkedProgramSource);
  for (const char* both : {"-cl-finite-math-only", ""}) { // of one unit, or of both
    const auto others = s.unbuiltProgram(sample::linkedProgramSource);
    check(clCompileProgram(others, 1, &device,
                           (std::string("-DFUNCTIONS -DSCALE=5 ") + both).c_str(), 0, nullptr,
                           nullptr, nullptr, nullptr),
          "clCompileProgram of the functions");
    check(clCompileProgram(finite, 1, &device, "-cl-finite-math-only", 1, header.address(),
                           &headerName, nullptr, nullptr),
          "clCompileProgram of the kernels");
    const auto placed = link(s, {finite, others}, "");
    launchPlaced(s, placed);
  }
  const auto library = link(s, {functions}, "-create-library");
  const auto withLibrary = link(s, {kernels, library}, "");
  launchAll(s, withLibrary);
  const auto functionsAgain = s.fromBinary(sample::binaryOf(functions));
  const auto withBinary = link(s, {kernels, functionsAgain}, "");
  launchAll(s, withBinary);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 13, .iterations = 2}, linkedProgram);
}
