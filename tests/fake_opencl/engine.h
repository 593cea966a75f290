// Runs commands: which may begin, when, and what their events say of it.
//
// A discrete simulation. Each device does kernels, copies in and copies out one at a time of each
// kind; a command begins when all that it waits for is over, its queue was flushed and its resource
// is free, and takes as long as the device's configuration says. Its bytes are really moved and its
// work-items really run, at its beginning or at its end, whichever the seed says. Of several
// commands that may begin any one does: what a program failed to order happens in either order.
//
// A command of a device that runs in the caller begins within the call that enqueues it.
#pragma once

#include "tests/fake_opencl/objects.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

namespace libsplit::fake {

using Lock = std::unique_lock<std::mutex>;

/// What a command does; `half`: not all of it, since it is to fail. Called without the lock.
using Work = std::function<cl_int(bool half)>;

struct Command {
  Keep<cl_event> event;
  std::vector<Keep<cl_event>> waits;  ///< the program's wait list: failures are handed on
  std::vector<Keep<cl_event>> behind; ///< the queue's order
  Resource resource = Resource::None;
  double seconds = 0;
  Work work;
  std::function<void()> cleanUp; ///< after it is over, under the lock: gives up what it held
  bool flushed = false;
  bool barrier = false;
  bool begun = false;
  bool half = false;           ///< it fails on the way
  bool late = false;           ///< its work is done at its end
  std::uint64_t heldUntil = 0; ///< commands that must be over, of all
  std::uint64_t number = 0;    ///< of its device
};

struct Enqueue {
  cl_command_queue queue = nullptr;
  cl_command_type type = 0;
  cl_uint waitCount = 0;
  const cl_event* waitList = nullptr;
  cl_event* event = nullptr;
  bool blocking = false;
};

class Driver;

class Engine {
public:
  explicit Engine(Driver& driver);
  ~Engine();

  /// Nanoseconds on the driver's clock.
  Nanoseconds now() const;
  /// Checks the wait list, then enqueues; waits if it is to block. `lock` is held on entry and
  /// return.
  cl_int enqueue(Lock& lock, const Enqueue& how, Resource resource, double seconds, Work work,
                 std::function<void()> cleanUp);
  void flush(cl_command_queue queue);
  /// The event's status when it is over.
  cl_int wait(Lock& lock, cl_event event);
  void waitIdle(Lock& lock, cl_command_queue queue);
  /// Ends a user event, or one of a command.
  void end(Lock& lock, cl_event event, cl_int status);
  /// Calls `callback` when the event gets there, or now.
  void call(Lock& lock, cl_event event, const _cl_event::Callback& callback);

private:
  using Pointer = std::shared_ptr<Command>;
  struct Running {
    Pointer command;
    Nanoseconds end = 0;
    cl_int status = CL_SUCCESS;
  };

  bool mayBegin(const Command& command, bool despiteHold) const;
  Pointer next(bool despiteHold);
  Running begin(Lock& lock, const Pointer& command);
  void finish(Lock& lock, const Running& running);
  cl_int perform(Lock& lock, Command& command, cl_int status);
  void loop();
  void callLoop();

  Driver& driver_;
  std::mt19937_64 random_;
  std::condition_variable mayGoOn_;      ///< of the thread that runs commands
  std::condition_variable ended_;        ///< some command; for those that run in the caller
  std::vector<cl_command_queue> queues_; ///< that have something pending
  std::vector<Running> running_;
  std::atomic<Nanoseconds> clock_{1'000'000'000};
  std::uint64_t endings_ = 0;
  bool stopping_ = false;
  /// What waits for the thread of callbacks.
  struct Call {
    Keep<cl_event> event;
    _cl_event::Callback callback;
  };
  std::deque<Call> calls_;
  std::condition_variable called_;
  std::thread caller_;
  std::thread thread_;
};

} // namespace libsplit::fake
