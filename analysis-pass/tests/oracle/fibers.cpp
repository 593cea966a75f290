#include "analysis-pass/tests/oracle/fibers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace libsplit::oracle {
namespace {
thread_local Fibers* starting = nullptr;
} // namespace

Fibers::~Fibers() {
  for (void* stack : stacks_)
    munmap(stack, stackSize);
}

bool Fibers::isOnStack(const void* at) const {
  auto address = static_cast<const std::byte*>(at);
  return std::any_of(stacks_.begin(), stacks_.end(), [&](void* stack) {
    auto first = static_cast<const std::byte*>(stack);
    return address >= first && address < first + stackSize;
  });
}

void Fibers::start() {
  Fibers& self = *starting;
  (*self.body_)();
  self.active_->ended = true;
  swapcontext(&self.active_->context, &self.scheduler_);
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
    stacks_.push_back(stack);
    freeStacks_.push_back(stack);
  }
  fiber->stack = freeStacks_.back();
  freeStacks_.pop_back();
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
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
    active_ = fiber.get();
    current_ = fiber->number;
    swapcontext(&scheduler_, &fiber->context);
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

void Fibers::yield() {
  swapcontext(&active_->context, &scheduler_);
}

void Fibers::abandonAll() {
  abandoned_ = true;
  swapcontext(&active_->context, &scheduler_);
  std::abort();
}

} // namespace libsplit::oracle
