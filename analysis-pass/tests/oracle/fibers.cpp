#include "analysis-pass/tests/oracle/fibers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

// Sanitizers follow a thread's calls on its stack. Who changes stacks has to tell them.
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#elif defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace libsplit::oracle {
namespace {
thread_local Fibers* starting = nullptr;
} // namespace

Fibers::~Fibers() {
  for (const auto& stack : stacks_) {
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(stack->shadow.thread);
#endif
    munmap(stack->memory, stackSize);
  }
}

bool Fibers::isOnStack(const void* at) const {
  auto address = static_cast<const std::byte*>(at);
  return std::any_of(stacks_.begin(), stacks_.end(), [&](const auto& stack) {
    auto first = static_cast<const std::byte*>(stack->memory);
    return address >= first && address < first + stackSize;
  });
}

void Fibers::enter(Fiber& fiber) {
  active_ = &fiber;
  current_ = fiber.number;
#if defined(__SANITIZE_THREAD__)
  schedulerShadow_.thread = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(fiber.stack->shadow.thread, 0);
#elif defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&schedulerShadow_.fakeStack, fiber.stack->memory, stackSize);
#endif
  swapcontext(&scheduler_, &fiber.context);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(schedulerShadow_.fakeStack, nullptr, nullptr);
#endif
}

void Fibers::arrived() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(active_->stack->shadow.fakeStack, &schedulerShadow_.begin,
                                  &schedulerShadow_.size);
  active_->stack->shadow.fakeStack = nullptr;
#endif
}

// A fiber that has ended never returns from it, which ThreadSanitizer would remember for ever.
[[gnu::no_sanitize("thread")]] void Fibers::yield() {
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(schedulerShadow_.thread, 0);
#elif defined(__SANITIZE_ADDRESS__)
  // None is kept of a fiber that has ended.
  __sanitizer_start_switch_fiber(active_->ended ? nullptr : &active_->stack->shadow.fakeStack,
                                 schedulerShadow_.begin, schedulerShadow_.size);
#endif
  swapcontext(&active_->context, &scheduler_);
  arrived();
}

[[gnu::no_sanitize("thread")]] void Fibers::start() {
  Fibers& self = *starting;
  self.arrived();
  (*self.body_)();
  self.active_->ended = true;
  self.yield();
  std::abort();
}

std::unique_ptr<Fibers::Fiber> Fibers::make(std::size_t number) {
  auto fiber = std::make_unique<Fiber>();
  fiber->number = number;
  if (freeStacks_.empty()) {
    void* stack = mmap(nullptr, stackSize, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
      throw std::bad_alloc();
    auto made = std::make_unique<Stack>();
    made->memory = stack;
#if defined(__SANITIZE_THREAD__)
    made->shadow.thread = __tsan_create_fiber(0);
#endif
    freeStacks_.push_back(made.get());
    stacks_.push_back(std::move(made));
  }
  fiber->stack = freeStacks_.back();
  freeStacks_.pop_back();
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack->memory;
  fiber->context.uc_stack.ss_size = stackSize;
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, start, 0);
  return fiber;
}

void Fibers::run(std::size_t count, const std::function<void()>& body,
                 const std::function<void()>& betweenRounds) {
  starting = this;
  body_ = &body;
  abandoned_ = false;
  // A fiber that ends without waiting gives its stack to the next.
  auto step = [&](std::unique_ptr<Fiber> fiber, std::vector<std::unique_ptr<Fiber>>& still) {
    enter(*fiber);
    if (fiber->ended || abandoned_)
      freeStacks_.push_back(fiber->stack);
    else
      still.push_back(std::move(fiber));
  };
  std::vector<std::unique_ptr<Fiber>> still;
  for (std::size_t i = 0; i < count && !abandoned_; ++i)
    step(make(i), still);
  while (!still.empty() && !abandoned_) {
    betweenRounds();
    waiting_.clear();
    std::swap(waiting_, still);
    for (auto& fiber : waiting_) {
      if (abandoned_)
        freeStacks_.push_back(fiber->stack);
      else
        step(std::move(fiber), still);
    }
  }
  for (auto& fiber : still)
    freeStacks_.push_back(fiber->stack);
}

void Fibers::abandonAll() {
  abandoned_ = true;
  yield();
  std::abort();
}

} // namespace libsplit::oracle
