// A program as most are that run once: six kernels, each launched a few dozen times, most for a
// millisecond or less. Two ask for their work-group, so they can't run in part as they are.
#include "tests/samples/sample.h"

#include <cmath>

namespace {

const char* const source = R"(
kernel void scale(global float* y, global const float* x, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = a * x[i];
}
kernel void smooth(global float* y, global const float* x, int n) {
  int i = get_global_id(0);
  float sum = 0;
  for (int k = -8; k <= 8; ++k) sum += x[clamp(i + k, 0, n - 1)];
  if (i < n) y[i] = sum / 17;
}
kernel void group_sums(global float* sums, global const float* x, local float* parts) {
  int l = get_local_id(0);
  parts[l] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
    if (l < s) parts[l] += parts[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) sums[get_group_id(0)] = parts[0];
}
kernel void spread(global float* y, global const float* sums) {
  y[get_global_id(0)] += sums[get_group_id(0)] / get_num_groups(0);
}
kernel void orbit(global float* y, global const float* x, int steps, int n) {
  int i = get_global_id(0);
  float z = x[i];
  for (int k = 0; k < steps; ++k) z = z * z * 0.25f + 0.125f;
  if (i < n) y[i] = z;
}
kernel void reverse(global float* y, global const float* x, int n) {
  int i = get_global_id(0);
  if (i < n) y[n - 1 - i] = x[i];
}
)";

void sixKernels(sample::Sample& s) {
  constexpr std::size_t group = 64;
  const std::size_t n = s.options().size;
  const auto count = static_cast<cl_int>(n);
  std::vector<float> x = sample::randomFloats(n, 0, 1);
  const auto queue = s.queue();
  const auto program = s.program(source);
  const std::size_t bytes = n * sizeof(float);
  const auto a = s.buffer(CL_MEM_COPY_HOST_PTR, bytes, x.data());
  const auto b = s.buffer(CL_MEM_READ_WRITE, bytes);
  const auto sums = s.buffer(CL_MEM_READ_WRITE, bytes / group);
  const auto scale = sample::kernel(program, "scale"), smooth = sample::kernel(program, "smooth"),
             groupSums = sample::kernel(program, "group_sums"),
             spread = sample::kernel(program, "spread"), orbit = sample::kernel(program, "orbit"),
             reverse = sample::kernel(program, "reverse");
  sample::setArguments(scale, b, a, 0.5F, count);
  sample::setArguments(smooth, a, b, count);
  sample::setArguments(groupSums, sums, a, sample::Local{group * sizeof(float)});
  sample::setArguments(spread, a, sums);
  sample::setArguments(orbit, b, a, cl_int{200}, count);
  sample::setArguments(reverse, a, b, count);
  std::vector<float> groups(n / group);
  s.timed([&] {
    for (unsigned i = 0; i < s.options().iterations; ++i) {
      for (cl_kernel kernel : {cl_kernel(scale), cl_kernel(smooth), cl_kernel(groupSums),
                               cl_kernel(spread), cl_kernel(orbit), cl_kernel(reverse)})
        sample::launch(queue, kernel, {n}, {group});
      sample::read(queue, sums, groups); // as programs do that look for convergence
    }
  });
  sample::read(queue, a, x);
  for (float value : x)
    sample::require(std::isfinite(value), "a value got lost");
  s.output(x);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 16, .iterations = 30}, sixKernels);
}
