// The program's commands other than launches: which may go straight to the driver, and what becomes
// of the rest.
//
// A command is native if nothing of libsplit's is in its way: its queue and the events that it
// waits for are native, and the bytes that it uses are at home with nobody at work on them. Else it
// is put off: it becomes a task. What can't be put off settles, and waits.
#pragma once

#include "runtime/device/pump.h"
#include "runtime/session/command.h"
#include "runtime/session/home_commands.h"
#include "runtime/session/memory_table.h"
#include "runtime/session/native_work.h"
#include "runtime/session/outlooks.h"
#include "runtime/session/scheduler.h"
#include "runtime/session/tracked_buffers.h"

#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// Any thread, without the session's lock where nothing else is said.
class Commands {
public:
  Commands(Shared& shared, Scheduler& scheduler, Pumps& pumps, MemoryTable& memory,
           TrackedBuffers& tracked, NativeWork& nativeWork, HomeCommands& homeCommands,
           Outlooks& outlooks)
      : shared_(shared), cl_(shared.cl), machine_(shared.machine), scheduler_(scheduler),
        pumps_(pumps), memory_(memory), tracked_(tracked), nativeWork_(nativeWork),
        homeCommands_(homeCommands), outlooks_(outlooks) {}

  cl_int read(const Command& command, cl_mem buffer, std::size_t offset, std::size_t size,
              void* host);
  /// A write goes to each device for what that will read of it, as far as that is known.
  cl_int write(const Command& command, cl_mem buffer, std::size_t offset, std::size_t size,
               const void* host);
  /// Has the driver or a pump copy between a buffer of the program's and its memory, as soon as
  /// what came before it is over. `isWaitedFor`: the program waits, also where the driver's call is
  /// not to block.
  cl_int copyNatively(const BulkCopy& copy, cl_bool blocking, bool isWaitedFor);
  /// Any other command: runs on the home device, with the bytes that it uses brought there.
  template <class Call>
  cl_int enqueue(const Command& command, std::initializer_list<BufferUse> uses, Call&& call) {
    return enqueueOver(command, uses, std::forward<Call>(call));
  }
  template <class Uses, class Call>
  cl_int enqueueOver(const Command& command, const Uses& of, Call&& call) {
    const BlockingCall waits(shared_, scheduler_, command.blocking != CL_FALSE);
    Pumps::Enqueuing enqueuing(pumps_, command.queue, CallTable::State::Admitted);
    CompletionPtr noted;
    if (!shared_.isQuiet()) {
      enqueuing.reconsider();
      const std::vector<BufferUse> uses(of);
      Lock lock(shared_.mutex);
      noteForOutlooks(command, uses);
      if (shared_.isActive() && !admitNative(lock, enqueuing, command, uses, &noted)) {
        enqueuing.end();
        return defer(lock, command, uses, NativeCall(std::forward<Call>(call)));
      }
    } else if (command.type == CL_COMMAND_BARRIER) {
      noteBarrierWhileQuiet(command.queue);
    } else if (outlooks_.isWatching()) {
      noteWhileQuiet(command, std::vector<BufferUse>(of));
    }
    if (noted)
      return nativeWork_.callNoted(command, noted, NativeCall(std::forward<Call>(call)));
    return call(command.blocking, command.waitCount, command.waitList, command.event);
  }
  /// Enqueues a map that does not block behind what is pending; the first of `uses` is its own. Its
  /// address; null where the caller has to call `settle` and the driver, unless `status` gets an
  /// error, which is the program's. The caller holds `enqueuing` all the while.
  void* mapBehind(Pumps::Enqueuing& enqueuing, const Command& command,
                  const std::vector<BufferUse>& uses, const MapCall& call, cl_int& status);
  /// The uses of a map, the first of which is `use` itself. Where devices map buffers in place,
  /// programs read beyond what they have mapped; if that takes little, all of the buffer is to be
  /// at home then.
  std::vector<BufferUse> usesOfMap(const BufferUse& use) const;
  /// For commands that can't be deferred (a blocking map, or what the driver may refuse: put off,
  /// the error would come too late for the application): waits until the queue is native and the
  /// bytes are at home. The caller then calls the driver itself. An error if the bytes can't be
  /// brought, since a device that had them failed: then the command has that error.
  /// `enqueuing` is admitted then.
  cl_int settle(Pumps::Enqueuing& enqueuing, const Command& command,
                const std::vector<BufferUse>& uses);
  /// What a call that waited there has to tell of what failed before (Scheduler::tell).
  cl_int tell(cl_command_queue queue) const;
  /// Whether to wait for what is pending there may be to wait for the program itself: for a user
  /// event that this thread is yet to set, or for the callback that it is in.
  bool mayWaitForProgram(cl_command_queue queue) const;
  /// To be held by who calls the driver itself, after `settle`.
  Pumps::Enqueuing enqueuing(cl_command_queue queue) {
    return {pumps_, queue, CallTable::State::Undecided};
  }

  // With the lock, which they may give up meanwhile.
  /// True if the driver is to have the command now, which is booked then; the caller calls it, by
  /// `NativeWork::callNoted` where `noted` was set. One that the driver may refuse waits here until
  /// nothing is pending. False: it has to be put off.
  bool admitNative(Lock& lock, Pumps::Enqueuing& enqueuing, const Command& command,
                   const std::vector<BufferUse>& uses, CompletionPtr* noted);
  cl_int settle(Lock& lock, Pumps::Enqueuing& enqueuing, const Command& command,
                std::vector<BufferUse> uses);
  /// Of a task that stands for the command: waits for it if the program does, and tells how it
  /// ended.
  cl_int submit(Lock& lock, const Command& command, const std::shared_ptr<Task>& task);
  bool mayWaitForProgram(const Stream& stream) const;
  cl_int tell(const Lock& lock, cl_command_queue queue) const;
  /// Of a command of which nobody knows what it touches.
  std::vector<BufferUse> usesOfUnknown() const { return memory_.usesOfEngaged(); }
  std::vector<HeldUse> hold(const std::vector<BufferUse>& uses) const { return memory_.hold(uses); }
  /// Whether the driver would accept the command, as far as libsplit can tell. What it would not
  /// accept goes to the driver at once, for the error that it gives.
  bool isValid(const Command& command, const std::vector<BufferUse>& uses) const;
  /// Whether the flags of the object that the host reads, writes or maps allow that. Else the
  /// driver refuses it, if it looks.
  bool hostMayDo(const Command& command, const std::vector<BufferUse>& uses) const;
  /// Whether the objects of a command on buffers are some. Else the driver refuses it, if it looks.
  bool areBuffers(const Command& command, const std::vector<BufferUse>& uses) const;
  /// Whether queue, objects and events belong together. Else the driver refuses the command, if it
  /// looks.
  bool isOfOneContext(const Stream& stream, const Command& command,
                      const std::vector<BufferUse>& uses) const;

private:
  bool isPlausible(const Stream& stream, const Command& command,
                   const std::vector<BufferUse>& uses) const;
  /// Whether what it waits for may fail: then it leaves the bytes that it should write as they are.
  bool mayBeSkipped(const Command& command) const;
  void noteBarrierWhileQuiet(cl_command_queue queue) const;
  void noteForOutlooks(const Command& command, std::span<const BufferUse> uses) const;
  void noteWhileQuiet(const Command& command, std::span<const BufferUse> uses) const;
  bool tryNative(const std::shared_ptr<Stream>& stream, Pumps::Enqueuing& enqueuing,
                 const Command& command, const std::vector<BufferUse>& uses, CompletionPtr* noted,
                 const Task* gate = nullptr);
  static void asItCame(const std::shared_ptr<Stream>& stream, Pumps::Enqueuing& enqueuing);
  bool isReserved(const std::vector<BufferUse>& uses) const;
  bool isTold(const TaskEvent& event) const;
  bool waitListIsNative(const Command& command) const;
  bool mayOvertake(const Command& command, const std::vector<BufferUse>& uses) const;
  bool homeIsCurrent(const std::vector<BufferUse>& uses) const;
  bool isReadElsewhere(Lock& lock, const Command& command, const BufferUse& use);
  cl_int defer(Lock& lock, const Command& command, const std::vector<BufferUse>& uses,
               NativeCall call);
  std::shared_ptr<Task> create(const std::shared_ptr<Stream>& stream, const Command& command);

  Shared& shared_;
  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  Scheduler& scheduler_;
  Pumps& pumps_;
  MemoryTable& memory_;
  TrackedBuffers& tracked_;
  NativeWork& nativeWork_;
  HomeCommands& homeCommands_;
  Outlooks& outlooks_;
};

} // namespace libsplit::runtime
