// Builds from source once and keeps the binary in the current folder; later runs create the program
// from it. With --variant rebuild a binary that the driver refuses is built anew, as programs do
// whose driver may be updated. Where there is a scale.h in the current folder, the source includes
// it.
#include "kernels/binary_cache.h"
#include "tests/samples/sample.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>

namespace {

using sample::check;

constexpr const char* cacheFile = "binary_cache.bin";
constexpr std::size_t groupSize = 64;

sample::Program fromSource(sample::Sample& s) {
  const bool hasHeader = std::ifstream("scale.h").good();
  const std::string include = hasHeader ? "#include \"scale.h\"\n" : "";
  sample::Program program = s.program(include + sample::binaryCacheSource, "-I.");
  const std::vector<unsigned char> binary = sample::binaryOf(program);
  std::ofstream(cacheFile, std::ios::binary)
      .write(reinterpret_cast<const char*>(binary.data()),
             static_cast<std::streamsize>(binary.size()));
  return program;
}

sample::Program fromBinary(sample::Sample& s, const std::string& binary) {
  const cl_device_id device = s.device();
  const std::size_t size = binary.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int status = CL_SUCCESS;
  cl_int error = CL_SUCCESS;
  sample::Program program =
      clCreateProgramWithBinary(s.context(), 1, &device, &size, &bytes, &status, &error);
  std::cout << "binary status: " << sample::errorName(status) << "\n";
  if (error == CL_INVALID_BINARY && s.options().variant == "rebuild")
    return fromSource(s);
  check(error, "clCreateProgramWithBinary");
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "build of a binary");
  return program;
}

void binaryCache(sample::Sample& s) {
  std::ifstream file(cacheFile, std::ios::binary);
  const bool isCached = file.good();
  std::cout << (isCached ? "from the binary\n" : "from source\n");
  const sample::Program program =
      isCached ? fromBinary(s, std::string(std::istreambuf_iterator<char>(file), {}))
               : fromSource(s);

  const std::size_t n = s.options().size;
  std::vector<cl_int> in(n);
  std::iota(in.begin(), in.end(), 1);
  std::vector<cl_int> out(n);
  const auto queue = s.queue();
  const auto inBuffer = s.buffer(CL_MEM_COPY_HOST_PTR, n * sizeof(cl_int), in.data());
  const auto outBuffer = s.buffer(CL_MEM_READ_WRITE, n * sizeof(cl_int));
  for (const char* name : {"scale", "scale_and_add_group"}) {
    const auto kernel = sample::kernel(program, name);
    const bool addsGroup = std::string(name) != "scale";
    sample::setArguments(kernel, inBuffer, outBuffer);
    for (unsigned i = 0; i < s.options().iterations; ++i)
      sample::launch(queue, kernel, {n}, {groupSize});
    sample::read(queue, outBuffer, out);
    const cl_int factor = out[0]; // in[0] is 1, in group 0
    for (std::size_t i = 0; i < n; ++i) {
      const auto group = static_cast<cl_int>(addsGroup ? i / groupSize : 0);
      sample::require(out[i] == factor * in[i] + group, std::string("wrong result of ") + name);
    }
    s.output(out);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 13, .iterations = 2, .variant = "strict"},
                     binaryCache);
}
