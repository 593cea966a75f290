// Launches that go on and on, two buffers in turns, beside two that they only read: what can be
// sent to other devices before any of it is split. Three of four are waited for.
//
// --variant plain: nothing else. `long`: beside each launch a hundred short ones of another buffer,
// and a wait after those. `disturbed`: now and then, drawn from the seed, what is only read is
// changed after all, by a write, a map, a fill, a copy or a kernel, or given up for a new buffer,
// without a wait; or the program pauses, or reads.
#include "kernels/sent_ahead.h"
#include "tests/samples/sample.h"

#include <chrono>
#include <random>
#include <thread>

namespace {

constexpr std::size_t group = 64;
constexpr cl_uint choices = 128; // much to send, for what it is to compute

class Program {
public:
  explicit Program(sample::Sample& s)
      : s_(s), n_(sample::roundUp(s.options().size, group)), random_(s.options().seed) {
    for (sample::Memory* each : {&weights_, &more_})
      *each = s.copyOf(drawn(n_ * choices));
    for (sample::Memory* each : {&in_, &out_})
      *each = s.copyOf(drawn(n_));
    few_ = s.copyOf(drawn(group));
  }

  void step() {
    weigh();
    if (below(4) > 0)
      finish();
  }

  void longStep() {
    weigh();
    for (cl_uint i = 0; i < 100; ++i) {
      sample::setArguments(change_, cl_uint{1}, few_, i);
      sample::launch(queue_, change_, {group}, {group});
    }
    finish();
  }

  void weigh() {
    sample::setArguments(weigh_, static_cast<cl_uint>(n_), choices, weights_, more_, in_, out_);
    sample::launch(queue_, weigh_, {n_}, {group});
    std::swap(in_, out_);
  }
  void finish() { sample::check(clFinish(queue_), "clFinish"); }

  void disturb() {
    sample::Memory& buffer = below(2) == 0 ? weights_ : more_;
    const std::size_t size = n_ / 4;
    const std::size_t begin = below(static_cast<unsigned>(n_ * choices - size));
    const std::size_t offset = begin * sizeof(cl_uint), bytes = size * sizeof(cl_uint);
    switch (below(9)) {
    case 0:
    case 1: {
      const std::vector<cl_uint> values = drawn(size);
      sample::check(clEnqueueWriteBuffer(queue_, buffer, CL_TRUE, offset, bytes, values.data(), 0,
                                         nullptr, nullptr),
                    "clEnqueueWriteBuffer");
      break;
    }
    case 2: {
      cl_int status = CL_SUCCESS;
      void* mapped = clEnqueueMapBuffer(queue_, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, offset,
                                        bytes, 0, nullptr, nullptr, &status);
      sample::check(status, "clEnqueueMapBuffer");
      for (std::size_t i = 0; i < size; ++i)
        static_cast<cl_uint*>(mapped)[i] ^= static_cast<cl_uint>(i);
      sample::check(clEnqueueUnmapMemObject(queue_, buffer, mapped, 0, nullptr, nullptr),
                    "clEnqueueUnmapMemObject");
      break;
    }
    case 3: {
      const cl_uint value = below(1000);
      sample::check(clEnqueueFillBuffer(queue_, buffer, &value, sizeof value, offset, bytes, 0,
                                        nullptr, nullptr),
                    "clEnqueueFillBuffer");
      break;
    }
    case 4:
      sample::check(clEnqueueCopyBuffer(queue_, in_, buffer, 0, offset, bytes, 0, nullptr, nullptr),
                    "clEnqueueCopyBuffer");
      break;
    case 5:
      sample::setArguments(change_, choices, buffer, cl_uint{1 + below(200)});
      sample::launch(queue_, change_, {n_}, {group});
      break;
    case 6:
      buffer = s_.copyOf(drawn(n_ * choices));
      break;
    case 7:
      std::this_thread::sleep_for(std::chrono::milliseconds(below(30)));
      break;
    case 8:
      output(buffer, n_ * choices);
      break;
    }
  }

  void output(cl_mem buffer, std::size_t count) {
    std::vector<cl_uint> values(count);
    sample::read(queue_, buffer, values);
    s_.output(values);
  }
  void output() {
    for (const sample::Memory* each : {&weights_, &more_})
      output(*each, n_ * choices);
    for (const sample::Memory* each : {&in_, &out_})
      output(*each, n_);
    output(few_, group);
  }
  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }

private:
  std::vector<cl_uint> drawn(std::size_t count) {
    std::vector<cl_uint> values(count);
    for (cl_uint& each : values)
      each = static_cast<cl_uint>(random_());
    return values;
  }

  sample::Sample& s_;
  const std::size_t n_;
  std::mt19937 random_;
  sample::Queue queue_ = s_.queue();
  sample::Program program_ = s_.program(sample::sentAheadSource);
  sample::Kernel weigh_ = sample::kernel(program_, "weigh");
  sample::Kernel change_ = sample::kernel(program_, "change");
  sample::Memory weights_, more_, in_, out_, few_;
};

void sentAhead(sample::Sample& s) {
  const std::string& variant = s.options().variant;
  const bool isDisturbed = variant == "disturbed", isLong = variant == "long";
  sample::require(isDisturbed || isLong || variant == "plain", "there is no such variant");
  Program program(s);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    isLong ? program.longStep() : program.step();
    if (isDisturbed && program.below(12) == 0)
      program.disturb();
  }
  program.output();
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 15, .iterations = 60, .variant = "plain"},
                     sentAhead);
}
