// Writes config.h, builds, writes it anew, builds again, and then runs the first program. Other
// programs are built before, so that who reads headers later than the driver reads the second one.
#include "kernels/stale_header.h"
#include "tests/samples/sample.h"

#include <fstream>
#include <numeric>

namespace {

constexpr std::size_t groupSize = 64;
constexpr int earlierPrograms = 6;

sample::Program build(sample::Sample& s, int shift, const std::string& more = "") {
  std::ofstream("config.h") << "#define SHIFT " << shift << "\n";
  return s.program(more + sample::staleHeaderSource, "-I.");
}

void require(sample::Sample& s, cl_command_queue queue, cl_program program, int shift) {
  const std::size_t n = s.options().size;
  std::vector<cl_int> in(n), out(n);
  std::iota(in.begin(), in.end(), 1);
  const auto inBuffer = s.buffer(CL_MEM_COPY_HOST_PTR, n * sizeof(cl_int), in.data());
  const auto outBuffer = s.buffer(CL_MEM_READ_WRITE, n * sizeof(cl_int));
  const auto kernel = sample::kernel(program, "shift");
  sample::setArguments(kernel, outBuffer, inBuffer, static_cast<cl_int>(n));
  for (unsigned i = 0; i < s.options().iterations; ++i)
    sample::launch(queue, kernel, {n}, {groupSize});
  sample::read(queue, outBuffer, out);
  for (std::size_t i = 0; i < n; ++i)
    sample::require(out[i] == in[(i + static_cast<std::size_t>(shift)) % n] +
                                  shift * static_cast<int>(i / groupSize),
                    "not the header of program " + std::to_string(shift));
  s.output(out);
}

void staleHeader(sample::Sample& s) {
  const auto queue = s.queue();
  for (int i = 0; i < earlierPrograms; ++i)
    build(s, 10 + i, "// program " + std::to_string(i) + "\n");
  const auto first = build(s, 1);
  const auto second = build(s, 2);
  require(s, queue, first, 1);
  require(s, queue, second, 2);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 13, .iterations = 3}, staleHeader);
}
