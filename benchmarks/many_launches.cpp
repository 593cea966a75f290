// A long loop of launches of a kernel that no one can split: the result of its atomic is used.
#include "tests/samples/sample.h"

namespace {

const char* const source = R"(kernel void ticket(global int* next, global int* mine) {
  mine[get_global_id(0)] = atomic_inc(next);
})";

void manyLaunches(sample::Sample& s) {
  const std::size_t n = s.options().size;
  std::vector<cl_int> tickets(n);
  std::vector<cl_int> next(1);
  const auto queue = s.queue();
  const auto program = s.program(source);
  const auto kernel = sample::kernel(program, "ticket");
  const auto nextBuffer = s.buffer(CL_MEM_COPY_HOST_PTR, sizeof(cl_int), next.data());
  const auto mine = s.buffer(CL_MEM_READ_WRITE, n * sizeof(cl_int));
  sample::setArguments(kernel, nextBuffer, mine);
  sample::launch(queue, kernel, {n}, {n});
  sample::check(clFinish(queue), "clFinish");

  s.timed([&] {
    for (unsigned i = 0; i < s.options().iterations; ++i) {
      sample::launch(queue, kernel, {n}, {n});
      if (i % 100 == 99)
        sample::check(clFinish(queue), "clFinish");
    }
    sample::check(clFinish(queue), "clFinish");
  });
  sample::read(queue, nextBuffer, next);
  sample::require(next[0] == static_cast<cl_int>(n * (s.options().iterations + 1)),
                  "launches got lost");
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 64, .iterations = 100000}, manyLaunches);
}
