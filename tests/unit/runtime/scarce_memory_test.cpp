// Threads and lanes where an allocation fails: what was to be done is refused, or done, and nobody
// waits for it in vain.
#include "runtime/core/worker.h"
#include "runtime/device/lane.h"
#include "tests/unit/runtime/fake_events.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <utility>

namespace {

/// Allocations of the calling thread until one fails, which is then the last; 0: none does.
thread_local unsigned untilRefused = 0;

/// Has the `number`-th allocation from now fail.
class Refusal {
public:
  explicit Refusal(unsigned number) { untilRefused = number; }
  ~Refusal() { untilRefused = 0; }
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;
  static bool hasHappened() { return untilRefused == 0; }
};

} // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  if (untilRefused > 0 && --untilRefused == 0)
    throw std::bad_alloc();
  if (void* made = std::malloc(size > 0 ? size : 1))
    return made;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size > 0 ? size : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace libsplit::runtime {
namespace {

const Dispatch cl = FakeEvent::dispatch();

TEST(ScarceMemory, anInstructionEndsWithThatOrIsDone) {
  for (const bool immediate : {false, true})
    for (unsigned number = 1, refused = 1; refused; ++number) {
      cl_event event = FakeEvent::make();
      const auto before = std::make_shared<Completion>(cl);
      const auto context = reinterpret_cast<cl_context>(std::uintptr_t{1});
      before->submit(Ref<cl_event>::retain(cl, event), nullptr, context);
      Instruction work;
      work.after = {before, before};
      work.context = context;
      work.immediate = immediate;
      work.compiles = true;
      work.done = std::make_shared<Completion>(cl);
      work.run = [](WaitList, Completion&, cl_event*) { return CL_SUCCESS; };
      const CompletionPtr done = work.done;
      Lane lane(cl, "lane");
      {
        const Refusal refusal(number);
        ASSERT_NO_THROW(lane.issue(std::move(work)));
        refused = Refusal::hasHappened();
      }
      FakeEvent::end(event);
      const cl_int status = done->wait();
      EXPECT_TRUE(status == CL_SUCCESS || (refused && status == CL_OUT_OF_HOST_MEMORY)) << status;
      cl.clReleaseEvent(event);
    }
}

TEST(ScarceMemory, aJobIsRefusedOrRun) {
  for (unsigned number = 1, refused = 1; refused; ++number) {
    std::atomic<bool> hasRun = false;
    std::function<void()> job = [&] { hasRun = true; };
    bool isTaken = false;
    {
      Worker worker;
      {
        const Refusal refusal(number);
        ASSERT_NO_THROW(isTaken = worker.post(std::move(job)));
        refused = Refusal::hasHappened();
      }
      while (isTaken && !hasRun)
        std::this_thread::yield();
    }
    EXPECT_TRUE(isTaken || refused);
  }
}

TEST(ScarceMemory, aHoldOfAWorkerIsRefusedOrHeld) {
  for (unsigned number = 1, refused = 1; refused; ++number) {
    Worker worker;
    std::shared_ptr<void> hold;
    {
      const Refusal refusal(number);
      ASSERT_NO_THROW(hold = worker.hold());
      refused = Refusal::hasHappened();
    }
    EXPECT_TRUE(hold || refused);
  }
}

} // namespace
} // namespace libsplit::runtime
