// A long loop of small blocking writes and reads.
#include "tests/samples/sample.h"

namespace {

void manyTransfers(sample::Sample& s) {
  const std::size_t bytes = s.options().size;
  std::vector<unsigned char> sent(bytes);
  std::vector<unsigned char> received(bytes);
  const auto queue = s.queue();
  const auto buffer = s.buffer(CL_MEM_READ_WRITE, bytes);

  s.timed([&] {
    for (unsigned i = 0; i < s.options().iterations; ++i) {
      sent[i % bytes] = static_cast<unsigned char>(i);
      sample::check(
          clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, sent.data(), 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
      sample::check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, received.data(), 0,
                                        nullptr, nullptr),
                    "clEnqueueReadBuffer");
    }
  });
  sample::require(sent == received, "wrong bytes");
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 256, .iterations = 100000}, manyTransfers);
}
