// Kernels that leave the local size to the driver, launched again and again: variants `rows`, which
// goes along the rows of a matrix, `columns`, which a program has that takes get_global_id(0) for
// the row, `product`, a plain matrix product, and `image`, points of the Mandelbrot set. `--size`
// is the side of the square, and may be any number; `--together` tells how many launches come
// between two waits.
#include "tests/samples/sample.h"

#include <cmath>

namespace {

const char* const source = R"(
kernel void rows(global float* out, global const float* in, int n) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
    out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}
kernel void columns(global float* out, global const float* in, int n) {
  const int y = get_global_id(0), x = get_global_id(1);
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
    out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}
kernel void product(global float* out, global const float* in, int n) {
  const int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += in[y * n + k] * in[k * n + x];
  out[y * n + x] = sum;
}
kernel void image(global float* out, global const float* in, int n) {
  const int x = get_global_id(0), y = get_global_id(1);
  const float cx = 3.0f * x / n - 2, cy = 3.0f * y / n - 1.5f;
  float a = 0, b = 0;
  int k = 0;
  for (; k < 400 && a * a + b * b < 4; ++k) {
    const float next = a * a - b * b + cx;
    b = 2 * a * b + cy;
    a = next;
  }
  out[y * n + x] = k;
})";

void openSizes(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto program = s.program(source);
  const auto kernel = sample::kernel(program, s.options().variant.c_str());
  const auto in = s.copyOf(s.randomFloats(n * n, 0, 1));
  const auto out = s.copyOf(std::vector<float>(n * n));
  sample::setArguments(kernel, out, in, static_cast<cl_int>(n));
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] { sample::launch(queue, kernel, {n, n}); });
  std::vector<float> result(n * n);
  sample::read(queue, out, result);
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 8192, .iterations = 1000, .variant = "rows"}, openSizes);
}
