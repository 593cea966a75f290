// Functions that can wait in their middle for each other: the work-items of a group at a barrier.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <ucontext.h>

namespace libsplit::oracle {

/// Not thread-safe, and one object at a time runs in a thread.
class Fibers {
public:
  ~Fibers();

  /// Runs `body` `count` times, each from its start to its end or to a `yield`, until all have
  /// ended; `betweenRounds` is called each time that all that still run have yielded.
  void run(std::size_t count, const std::function<void()>& body,
           const std::function<void()>& betweenRounds);

  bool isOnStack(const void* at) const; ///< of any fiber

  // Within a body:

  std::size_t current() const { return current_; } ///< its number
  void yield();
  [[noreturn]] void abandonAll(); ///< ends `run`; nothing on the fibers' stacks is destroyed

private:
  static constexpr std::size_t stackSize = 512 * 1024;
  static void start();

  /// What sanitizers know of a stack; null without them.
  struct Shadow {
    void* thread = nullptr;      ///< ThreadSanitizer's idea of who runs on it
    void* fakeStack = nullptr;   ///< AddressSanitizer's, while another runs
    const void* begin = nullptr; ///< of the scheduler's stack, which is not ours
    std::size_t size = 0;
  };
  struct Stack {
    void* memory = nullptr;
    Shadow shadow;
  };
  struct Fiber {
    ucontext_t context;
    Stack* stack = nullptr;
    std::size_t number = 0;
    bool ended = false;
  };
  std::unique_ptr<Fiber> make(std::size_t number);
  void enter(Fiber& fiber); ///< returns when the fiber has ended or waits
  void arrived();           ///< on a fiber's stack

  ucontext_t scheduler_;
  Shadow schedulerShadow_;
  std::vector<std::unique_ptr<Stack>> stacks_;
  std::vector<Stack*> freeStacks_;
  std::vector<std::unique_ptr<Fiber>> waiting_;
  Fiber* active_ = nullptr;
  const std::function<void()>* body_ = nullptr;
  std::size_t current_ = 0;
  bool abandoned_ = false;
};

} // namespace libsplit::oracle
