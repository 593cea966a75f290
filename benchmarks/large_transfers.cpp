// Large copies between a buffer and memory of the program that nobody has pinned: `size` bytes to
// the device and back, `iterations` times. Variants: `blocking` and `queued` (which does not block
// and then waits for the queue) copy alone, each way timed by itself; `compute` has a kernel in
// between and times all three.
#include "tests/samples/sample.h"

namespace {

constexpr const char* source = R"(
kernel void scale(global const float* in, global float* out) {
  const size_t i = get_global_id(0);
  out[i] = 1.5f * in[i];
}
)";

void largeTransfers(sample::Sample& s) {
  const std::size_t n = s.options().size / sizeof(float);
  const bool computes = s.options().variant == "compute";
  const bool blocks = s.options().variant != "queued";
  std::vector<float> sent(n, 2.0F), received(n);
  const auto queue = s.queue();
  const auto program = s.program(source);
  const auto kernel = sample::kernel(program, "scale");
  const auto in = s.buffer(CL_MEM_READ_WRITE, n * sizeof(float));
  const auto out = s.buffer(CL_MEM_READ_WRITE, n * sizeof(float));
  sample::setArguments(kernel, in, out);

  auto write = [&] {
    sample::check(clEnqueueWriteBuffer(queue, in, blocks, 0, n * sizeof(float), sent.data(), 0,
                                       nullptr, nullptr),
                  "clEnqueueWriteBuffer");
  };
  auto read = [&] {
    sample::check(clEnqueueReadBuffer(queue, computes ? out : in, blocks, 0, n * sizeof(float),
                                      received.data(), 0, nullptr, nullptr),
                  "clEnqueueReadBuffer");
    sample::check(clFinish(queue), "clFinish");
  };
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sent[i % n] = static_cast<float>(i);
    if (computes) {
      s.timed([&] {
        write();
        sample::launch(queue, kernel, {n}, {64});
        read();
      });
    } else {
      s.timed([&] {
        write();
        sample::check(clFinish(queue), "clFinish");
      });
      s.timed(read);
    }
    for (const std::size_t at : {i % n, n / 2, n - 1})
      sample::require(received[at] == (computes ? 1.5F : 1.0F) * sent[at], "a wrong element");
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv,
                     {.size = std::size_t{256} << 20, .iterations = 20, .variant = "blocking"},
                     largeTransfers);
}
