// Runs a program that comes as IL: the SPIR-V or SPIR bitcode of kernels/il_program.cl, from the
// file program.il in the current folder.
#include "tests/samples/sample.h"

#include <CL/cl_ext.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>

namespace {

using sample::check;

constexpr std::size_t groupSize = 16;

sample::Program fromBitcode(sample::Sample& s, const std::string& il, cl_int& error) {
  const cl_device_id device = s.device();
  const std::size_t size = il.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(il.data());
  cl_int status = CL_SUCCESS;
  sample::Program program =
      clCreateProgramWithBinary(s.context(), 1, &device, &size, &bytes, &status, &error);
  std::cout << "binary status: " << sample::errorName(status) << "\n";
  return program;
}

sample::Program fromSpirv(sample::Sample& s, const std::string& il, cl_int& error) {
  // Both ways, so that both are tested: old drivers have the extension's function alone.
  auto create = reinterpret_cast<clCreateProgramWithILKHR_fn>(
      clGetExtensionFunctionAddressForPlatform(s.platform(), "clCreateProgramWithILKHR"));
  if (create && s.options().iterations % 2 == 0)
    return create(s.context(), il.data(), il.size(), &error);
  return clCreateProgramWithIL(s.context(), il.data(), il.size(), &error);
}

void ilProgram(sample::Sample& s) {
  std::ifstream file("program.il", std::ios::binary);
  const std::string il(std::istreambuf_iterator<char>(file), {});
  const bool isSpirv = il.starts_with("\x03\x02\x23\x07");
  cl_int error = CL_SUCCESS;
  const sample::Program program = isSpirv ? fromSpirv(s, il, error) : fromBitcode(s, il, error);
  check(error, "creating the program");
  const cl_device_id device = s.device();
  check(
      clBuildProgram(program, 1, &device, isSpirv ? "" : "-x spir -spir-std=1.2", nullptr, nullptr),
      "clBuildProgram");

  const std::size_t side = s.options().size;
  const std::size_t n = side * side;
  std::vector<cl_int> in(n);
  std::iota(in.begin(), in.end(), 1);
  std::vector<cl_int> out(n);
  const auto queue = s.queue();
  const auto inBuffer = s.buffer(CL_MEM_COPY_HOST_PTR, n * sizeof(cl_int), in.data());
  const auto outBuffer = s.buffer(CL_MEM_READ_WRITE, n * sizeof(cl_int));
  const auto run = [&](const char* name, const sample::Sizes& global, const sample::Sizes& local,
                       const auto& expected) {
    const auto kernel = sample::kernel(program, name);
    sample::setArguments(kernel, inBuffer, outBuffer);
    for (unsigned i = 0; i < s.options().iterations; ++i)
      sample::launch(queue, kernel, global, local);
    sample::read(queue, outBuffer, out);
    for (std::size_t i = 0; i < n; ++i)
      sample::require(out[i] == static_cast<cl_int>(expected(i)),
                      std::string("wrong result of ") + name);
    s.output(out);
  };
  run("scale", {n}, {groupSize}, [&](std::size_t i) { return 3 * (i + 1); });
  run("ask_groups", {n}, {groupSize},
      [&](std::size_t i) { return i + 1 + i / groupSize * 1000 + n / groupSize + 7 * n; });
  run("ask_linear", {side, side}, {groupSize, 1}, [&](std::size_t i) { return i + 1 + i; });
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 64, .iterations = 2}, ilProgram);
}
