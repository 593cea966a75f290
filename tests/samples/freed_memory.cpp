// Buffers that end with their work, and what the program does as soon as it knows that they have.
//
// --variant returned: they are over memory of the program's, which it gives back to the system when
// it has released them. `early`: it releases them with the work still pending, and waits for that.
// `in_callback`: it does both in the callback of the last launch's event. `told`: it waits for
// their destructors' callbacks, and calls nothing meanwhile.
#include "kernels/freed_memory.h"
#include "tests/samples/sample.h"

#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>

#include <sys/mman.h>

namespace {

/// Whole pages, which nobody may touch afterwards.
class Pages {
public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes), address_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    sample::require(address_ != MAP_FAILED, "no memory");
  }
  Pages(const Pages&) = delete;
  ~Pages() { ::munmap(address_, bytes_); }
  void* address() const { return address_; }

private:
  std::size_t bytes_;
  void* address_;
};

/// Counts buffers that are gone.
class Gone {
public:
  void watch(cl_mem buffer) {
    const auto count = [](cl_mem, void* self) {
      auto& gone = *static_cast<Gone*>(self);
      const std::lock_guard lock(gone.mutex_);
      ++gone.count_;
      gone.changed_.notify_all();
    };
    sample::check(clSetMemObjectDestructorCallback(buffer, count, this),
                  "clSetMemObjectDestructorCallback");
  }
  void await(unsigned count) {
    std::unique_lock lock(mutex_);
    sample::require(
        changed_.wait_for(lock, std::chrono::seconds(20), [&] { return count_ == count; }),
        "a released buffer is there still");
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned count_ = 0;
};

/// What is used in a round.
struct Used {
  Pages first, second;
  sample::Memory in, out;
  std::promise<void> isGone;

  Used(sample::Sample& s, std::size_t bytes, cl_mem_flags over, unsigned round)
      : first(bytes), second(bytes) {
    auto* numbers = static_cast<cl_uint*>(first.address());
    for (std::size_t i = 0; i < bytes / sizeof *numbers; ++i)
      numbers[i] = static_cast<cl_uint>(i * (round + 1));
    in = s.buffer(CL_MEM_READ_WRITE | over, bytes, first.address());
    out = s.buffer(CL_MEM_READ_WRITE | over, bytes, second.address());
  }
};

void CL_CALLBACK end(cl_event, cl_int, void* used) {
  auto* ending = static_cast<Used*>(used);
  std::promise<void> isGone = std::move(ending->isGone);
  delete ending;
  isGone.set_value();
}

void freedMemory(sample::Sample& s) {
  const std::size_t n = s.options().size, bytes = n * sizeof(cl_uint), group = 64;
  const std::string& variant = s.options().variant;
  const bool isTold = variant == "told";
  const cl_mem_flags over = isTold ? CL_MEM_COPY_HOST_PTR : CL_MEM_USE_HOST_PTR;
  const auto queue = s.queue();
  const auto program = s.program(sample::freedMemorySource);
  auto gather = sample::kernel(program, "gather");
  std::vector<cl_uint> result(n);
  for (unsigned round = 0; round < s.options().iterations; ++round) {
    auto used = std::make_unique<Used>(s, bytes, over, round);
    Gone gone;
    if (isTold)
      for (const sample::Memory* each : {&used->in, &used->out})
        gone.watch(*each);
    sample::Event last;
    for (unsigned step = 0; step < 10; ++step) {
      sample::setArguments(gather, static_cast<cl_uint>(n), used->in, used->out);
      sample::check(clEnqueueNDRangeKernel(queue, gather, 1, nullptr, &n, &group, 0, nullptr,
                                           step == 9 ? last.out() : nullptr),
                    "clEnqueueNDRangeKernel");
      std::swap(used->in, used->out);
    }
    if (round + 1 == s.options().iterations) {
      sample::read(queue, used->in, result);
      break;
    }
    if (variant == "early") {
      used->in.reset();
      used->out.reset();
      sample::check(clWaitForEvents(1, last.address()), "clWaitForEvents");
    } else if (variant == "in_callback") {
      std::future<void> isGone = used->isGone.get_future();
      sample::check(clSetEventCallback(last, CL_COMPLETE, end, used.release()),
                    "clSetEventCallback");
      sample::check(clFlush(queue), "clFlush");
      isGone.wait();
    } else {
      sample::check(clFinish(queue), "clFinish");
    }
    if (isTold) {
      gather = sample::kernel(program, "gather"); // the old one may keep its arguments
      used->in.reset();
      used->out.reset();
      gone.await(2);
    }
  }
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 20, .iterations = 12, .variant = "returned"},
                     freedMemory);
}
