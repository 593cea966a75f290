// Long launches, then many short ones that change a little of what the long ones left, in turns:
// what is worth moving for the former is not for the latter.
#include "kernels/two_phases.h"
#include "tests/samples/sample.h"

namespace {

void twoPhases(sample::Sample& s) {
  constexpr unsigned longOnes = 40, shortOnes = 300;
  constexpr std::size_t few = 64; // work-items of a short launch
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto program = s.program(sample::twoPhasesSource);
  const auto relax = sample::kernel(program, "relax");
  const auto touch = sample::kernel(program, "touch");
  std::vector<cl_uint> start(n);
  for (std::size_t i = 0; i < n; ++i)
    start[i] = static_cast<cl_uint>(i * 2654435761U);
  auto from = s.copyOf(start), to = s.copyOf(start);
  for (unsigned round = 0; round < s.options().iterations; ++round) {
    for (unsigned i = 0; i < longOnes; ++i) {
      sample::setArguments(relax, from, to, static_cast<cl_uint>(n));
      sample::launch(queue, relax, {n}, {few});
      std::swap(from, to);
      if (i % s.options().together == 0)
        sample::check(clFinish(queue), "clFinish");
    }
    for (unsigned i = 0; i < shortOnes; ++i) {
      sample::setArguments(touch, from, cl_uint{i * 7 % static_cast<cl_uint>(n - few)}, round);
      sample::launch(queue, touch, {few}, {few / 4});
      if (i % s.options().together == 0)
        sample::check(clFinish(queue), "clFinish");
    }
    std::vector<cl_uint> part(few);
    sample::check(clEnqueueReadBuffer(queue, from, CL_TRUE,
                                      n * sizeof(cl_uint) / 2 & ~std::size_t{3},
                                      few * sizeof(cl_uint), part.data(), 0, nullptr, nullptr),
                  "clEnqueueReadBuffer");
    s.output(part);
  }
  for (cl_mem each : {cl_mem(from), cl_mem(to)}) {
    std::vector<cl_uint> values(n);
    sample::read(queue, each, values);
    s.output(values);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 15, .iterations = 3}, twoPhases);
}
