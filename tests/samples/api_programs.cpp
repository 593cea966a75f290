// All ways to a kernel: source, several sources, options, a second build, a build callback,
// separate compilation with a header, binaries, clones; and what programs and kernels say of
// themselves, which must be the application's own text and arguments.
#include "kernels/api_programs.h"
#include "tests/samples/sample.h"

#include <atomic>
#include <cstring>
#include <iostream>
#include <numeric>
#include <thread>

namespace {

using sample::check;
using sample::require;

/// Runs a kernel that should multiply by `factor`.
void runTimes(sample::Sample& s, cl_kernel kernel, cl_int factor, const char* how) {
  const std::size_t n = s.options().size;
  std::vector<cl_int> in(n);
  std::iota(in.begin(), in.end(), -3);
  std::vector<cl_int> out(n);
  const auto queue = s.queue();
  const auto inBuffer = s.buffer(CL_MEM_COPY_HOST_PTR, n * sizeof(cl_int), in.data());
  const auto outBuffer = s.buffer(CL_MEM_READ_WRITE, n * sizeof(cl_int));
  sample::setArguments(kernel, inBuffer, outBuffer);
  for (int i = 0; i < 2; ++i)
    sample::launch(queue, kernel, {n}, {64});
  sample::read(queue, outBuffer, out);
  for (std::size_t i = 0; i < n; ++i)
    require(out[i] == in[i] * factor, std::string("wrong result: ") + how);
  s.output(out);
}

std::string programText(cl_program program) {
  std::size_t size = 0;
  check(clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &size), "CL_PROGRAM_SOURCE");
  std::string text(size, '\0');
  check(clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, text.data(), nullptr),
        "CL_PROGRAM_SOURCE");
  return text.c_str();
}

void fromSource(sample::Sample& s) {
  const auto program = s.program(sample::apiProgramsSource);
  runTimes(s, sample::kernel(program, "times"), 2, "plain source");
  require(programText(program) == sample::apiProgramsSource, "the program has another source");

  const auto optioned = s.program(sample::apiProgramsSource, "-DFACTOR=5 -cl-opt-disable");
  runTimes(s, sample::kernel(optioned, "times"), 5, "build options");
  char options[256] = "";
  check(clGetProgramBuildInfo(optioned, s.device(), CL_PROGRAM_BUILD_OPTIONS, sizeof options,
                              options, nullptr),
        "CL_PROGRAM_BUILD_OPTIONS");
  std::cout << "options: " << options << "\n";
}

void fromPieces(sample::Sample& s) {
  // Three strings, one of them not terminated by a zero.
  const std::string last = "in[i] + 9; }garbage";
  const char* pieces[] = {"kernel void shift(global const int* in, global int* out) {\n",
                          "int i = get_global_id(0); out[i] = 7 * in[i] - 9 + 0 * ", last.c_str()};
  const std::size_t lengths[] = {0, 0, last.size() - std::strlen("garbage")};
  cl_int error = CL_SUCCESS;
  const sample::Program program =
      clCreateProgramWithSource(s.context(), 3, pieces, lengths, &error);
  check(error, "clCreateProgramWithSource");
  check(clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr), "clBuildProgram");
  runTimes(s, sample::kernel(program, "shift"), 7, "source in pieces");
}

void CL_CALLBACK noteBuild(cl_program, void* done) {
  *static_cast<std::atomic<bool>*>(done) = true;
}

void builtTwice(sample::Sample& s) {
  const auto program = s.unbuiltProgram(sample::apiProgramsSource);
  const cl_device_id device = s.device();
  std::atomic<bool> done = false;
  check(clBuildProgram(program, 1, &device, "-DFACTOR=3", noteBuild, &done), "first build");
  for (int tries = 0; !done && tries < 60000; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  require(done, "the build callback did not come");
  runTimes(s, sample::kernel(program, "times"), 3, "first build");
  check(clBuildProgram(program, 1, &device, "-DFACTOR=4", nullptr, nullptr), "second build");
  runTimes(s, sample::kernel(program, "times"), 4, "second build");

  // While there is a kernel it can't be built again, and stays what it was.
  {
    const auto kernel = sample::kernel(program, "times");
    runTimes(s, kernel, 4, "before a refused build");
    sample::checkCode(clBuildProgram(program, 1, &device, "-DFACTOR=6", nullptr, nullptr),
                      CL_INVALID_OPERATION, "a build while there is a kernel");
    runTimes(s, kernel, 4, "after a refused build");
  }
  runTimes(s, sample::kernel(program, "times"), 4, "another kernel after a refused build");
  check(clCompileProgram(program, 1, &device, "", 0, nullptr, nullptr, nullptr, nullptr),
        "a compilation when the kernels are gone");
}

void compiledAndLinked(sample::Sample& s) {
  const char* headerText = "int factor(void);\n";
  const char* functionText = "int factor(void) { return 11; }\n";
  const char* kernelText = "#include \"factor.h\"\n"
                           "kernel void times(global const int* in, global int* out) {\n"
                           "  int i = get_global_id(0); out[i] = in[i] * factor(); }\n";
  const auto header = s.unbuiltProgram(headerText);
  const auto function = s.unbuiltProgram(functionText);
  const auto main = s.unbuiltProgram(kernelText);
  const cl_device_id device = s.device();
  const char* headerName = "factor.h";
  check(clCompileProgram(main, 1, &device, "", 1, header.address(), &headerName, nullptr, nullptr),
        "clCompileProgram");
  check(clCompileProgram(function, 1, &device, "", 0, nullptr, nullptr, nullptr, nullptr),
        "clCompileProgram");
  const cl_program parts[] = {main, function};
  cl_int error = CL_SUCCESS;
  const sample::Program linked =
      clLinkProgram(s.context(), 1, &device, "", 2, parts, nullptr, nullptr, &error);
  check(error, "clLinkProgram");
  runTimes(s, sample::kernel(linked, "times"), 11, "compiled and linked");
}

void fromBinary(sample::Sample& s) {
  const auto program =
      s.fromBinary(sample::binaryOf(s.program(sample::apiProgramsSource, "-DFACTOR=6")));
  const cl_device_id device = s.device();
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "build of a binary");
  runTimes(s, sample::kernel(program, "times"), 6, "binary");
}

void cloned(sample::Sample& s) {
  const auto program = s.program(sample::apiProgramsSource, "-DFACTOR=8");
  const auto original = sample::kernel(program, "times");
  const std::size_t n = s.options().size;
  std::vector<cl_int> values(n, 1);
  const auto queue = s.queue();
  const auto in = s.buffer(CL_MEM_COPY_HOST_PTR, n * sizeof(cl_int), values.data());
  const auto out = s.buffer(CL_MEM_READ_WRITE, n * sizeof(cl_int));
  const auto other = s.buffer(CL_MEM_READ_WRITE, n * sizeof(cl_int));
  sample::setArguments(original, in, out);
  cl_int error = CL_SUCCESS;
  const sample::Kernel clone = clCloneKernel(original, &error);
  if (error == CL_INVALID_OPERATION)
    return; // a device of before 2.1
  check(error, "clCloneKernel");
  // The clone has the arguments of the moment; what is set later is its own.
  sample::setArgument(original, 1, other);
  sample::launch(queue, clone, {n}, {64});
  sample::read(queue, out, values);
  require(values == std::vector<cl_int>(n, 8), "wrong result of the clone");
  runTimes(s, clone, 8, "clone");
  runTimes(s, original, 8, "original of the clone");
}

template <typename T> T kernelInfo(cl_kernel kernel, cl_kernel_info which) {
  T value{};
  check(clGetKernelInfo(kernel, which, sizeof value, &value, nullptr), "clGetKernelInfo");
  return value;
}

void asked(sample::Sample& s) {
  const auto program = s.program(sample::apiProgramsSource, "-cl-kernel-arg-info");
  const auto kernel = sample::kernel(program, "group_sizes");
  std::cout << "arguments: " << kernelInfo<cl_uint>(kernel, CL_KERNEL_NUM_ARGS)
            << "\nkernel references: " << kernelInfo<cl_uint>(kernel, CL_KERNEL_REFERENCE_COUNT)
            << "\n";
  require(kernelInfo<cl_program>(kernel, CL_KERNEL_PROGRAM) == program, "kernel's program");
  require(kernelInfo<cl_context>(kernel, CL_KERNEL_CONTEXT) == s.context(), "kernel's context");

  char text[256] = "";
  check(clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_NAME, sizeof text, text, nullptr),
        "CL_KERNEL_ARG_NAME");
  std::cout << "argument 1: " << text << "\n";
  cl_uint references = 0;
  check(clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof references, &references,
                         nullptr),
        "CL_PROGRAM_REFERENCE_COUNT");
  std::size_t kernels = 0;
  check(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, nullptr),
        "CL_PROGRAM_NUM_KERNELS");
  check(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, nullptr),
        "CL_PROGRAM_KERNEL_NAMES");
  std::cout << "program references: " << references << "\nkernels: " << kernels << " " << text
            << "\n";
  std::size_t groupSize = 0;
  check(clGetKernelWorkGroupInfo(kernel, s.device(), CL_KERNEL_WORK_GROUP_SIZE, sizeof groupSize,
                                 &groupSize, nullptr),
        "CL_KERNEL_WORK_GROUP_SIZE");
  cl_ulong localBytes = 0;
  sample::setArgument(kernel, 1, sample::Local{64 * sizeof(cl_int)});
  check(clGetKernelWorkGroupInfo(kernel, s.device(), CL_KERNEL_LOCAL_MEM_SIZE, sizeof localBytes,
                                 &localBytes, nullptr),
        "CL_KERNEL_LOCAL_MEM_SIZE");
  std::cout << "work-group: " << groupSize << ", local bytes: " << localBytes << "\n";

  const std::size_t n = s.options().size;
  std::vector<cl_int> out(n);
  const auto queue = s.queue();
  const auto buffer = s.buffer(CL_MEM_READ_WRITE, n * sizeof(cl_int));
  sample::setArgument(kernel, 0, buffer);
  sample::launch(queue, kernel, {n}, {64});
  sample::read(queue, buffer, out);
  for (std::size_t i = 0; i < n; ++i)
    require(out[i] == static_cast<cl_int>((i / 64 + n / 64) * n), "wrong group ids");
  s.output(out);
}

void apiPrograms(sample::Sample& s) {
  fromSource(s);
  fromPieces(s);
  builtTwice(s);
  compiledAndLinked(s);
  fromBinary(s);
  cloned(s);
  asked(s);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 13, .iterations = 1}, apiPrograms);
}
