// A thread that feeds one device.
//
// Instructions reach a lane in an order in which each depends only on earlier-issued ones, of this
// or any other lane; so first-in-first-out lanes never deadlock. Before it enqueues an instruction
// the lane waits for those dependencies that the device's in-order queue does not already imply. It
// does not wait for its own commands: on a GPU the queue stays filled; a device that executes
// inside the calling thread (PoCL's basic) runs here, beside the application and the other devices.
//
// Handing an instruction to another thread costs tens of microseconds. One that is marked immediate
// is enqueued by whoever issues it, if the lane has nothing else to do and nothing to wait for; and
// a thread of the application that waits for a lane's work meanwhile does it (`help`).
#pragma once

#include "runtime/completion.h"
#include "runtime/trace.h"

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace libsplit::runtime {

struct Instruction {
  std::vector<CompletionPtr> after;
  /// The in-order queue that `run` enqueues on: dependencies on it are implied. Null: wait for all.
  cl_command_queue queue = nullptr;
  /// Enqueues the commands and hands out the last one's event, or leaves it null if the work is
  /// over on return. Runs on the lane's thread, or where it was issued; one at a time.
  std::function<cl_int(cl_event* last)> run;
  CompletionPtr done;
  /// `run` returns in microseconds, whatever the device does: it may run in the issuing thread.
  bool immediate = false;
  /// The driver may have to compile for it, in the call or on a thread of its own: the first run of
  /// a kernel over a work-group of that size.
  bool compiles = false;
  std::shared_ptr<TracedWork> traced; ///< null unless tracing is on
};

class Lane {
public:
  Lane(const Dispatch& cl, std::string name);
  /// Finishes what was issued, then joins the thread.
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Callable from any thread; returns at once.
  void issue(Instruction instruction);
  /// Executes the next instruction on the calling thread, which has nothing better to do than to
  /// wait for it, unless the lane's own thread is at work or something that the instruction depends
  /// on is not even enqueued. False: nothing was done. Waking the lane's thread
  /// would take as long as a short kernel does.
  bool help();
  /// From now on begins nothing that may compile, and nothing at all after what it did not begin:
  /// the process ends, and with it what a compiler needs. What is not begun is never over.
  void beginNoCompile();
  /// Whether the driver may be compiling for an instruction that has begun, other than one that the
  /// calling thread is executing.
  bool isCompiling();
  const std::string& name() const { return name_; }

private:
  bool mayBegin(const Instruction& instruction);
  bool runImmediately(Instruction& instruction);
  void executeAlone(Instruction& instruction);
  void loop();
  void execute(Instruction& instruction);

  const Dispatch& cl_;
  std::string name_;
  std::mutex mutex_;
  std::mutex compilingMutex_; ///< of the next three; no other lock is taken while it is held
  bool noCompile_ = false;
  bool halted_ = false;                  ///< an instruction was not begun
  std::vector<CompletionPtr> compiling_; ///< begun, perhaps over
  std::condition_variable changed_;
  std::deque<Instruction> queue_;
  bool busy_ = false; ///< an instruction is being executed
  bool stopping_ = false;
  std::thread thread_; ///< since the first instruction that nobody else executed at once
};

/// A thread with all signals blocked but those that it raises itself, so that the application's
/// handlers run on its own threads.
std::thread startThread(std::function<void()> body);

} // namespace libsplit::runtime
