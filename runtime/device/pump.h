// Large copies between a GPU and memory of the program, which is mostly not pinned.
//
// Drivers copy such memory on one thread through a small pinned buffer of their own, at a fifth of
// what the link does or less. A pump has more of it, and threads enough to keep the link busy: each
// takes the next chunk that nobody has, copies it to its own part of the pinned memory and enqueues
// it from there, or the other way round; while one part is on the link it works on its second one.
//
//   thread 0   copy 0 | copy 2 |   wait for 0, copy 5 | ...
//   thread 1     copy 1 | copy 3 |      wait for 1, copy 6 | ...
//   link               0 | 1 | 2 | 3 | ...
//
// The call returns when all is over. All chunks are commands of the program's own in-order queue. A
// write reads the program's memory only when all before it is over, since that may still be filling
// it. What other threads enqueue there meanwhile comes behind the whole copy: before they do, they
// enqueue in one command what is left of it, and wait for nothing.
//
//   this thread    waits for the queue | 0 | 1 | 2 |       | waits for the rest | returns
//   another one                                 3..9, kernel
//   the queue      earlier work        | 0 | 1 | 2 | 3..9 | kernel
//
// A command that does not block goes this way only if the driver took as long in the call,
// since it copies such memory before it returns, and if nothing else is in the queue: what is there
// may wait for what the program does next.
//
// Where the driver does as well (it can pin, the memory is pinned, there is but one processor), it
// goes on doing it: `Pumps` measures both ways, piece by piece, from the first large copy on, and
// has the pinned memory made beside that one. So a pump costs nothing before it is there, and no
// rate of any machine is written down here.
#pragma once

#include "runtime/core/call_table.h"
#include "runtime/core/opencl.h"
#include "runtime/core/thread_team.h"
#include "runtime/core/worker.h"
#include "runtime/device/copy_rates.h"
#include "runtime/device/host_block.h"

#include <atomic>
#include <compare>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// A copy as clEnqueueReadBuffer and clEnqueueWriteBuffer are asked for it.
struct BulkCopy {
  cl_command_queue queue = nullptr;
  cl_mem memory = nullptr;
  bool toHost = false;
  std::size_t offset = 0, size = 0;
  std::byte* host = nullptr; ///< only read if it is not `toHost`
  cl_uint waitCount = 0;
  const cl_event* waitList = nullptr;
  cl_event* event = nullptr; ///< gets the last command's, which ends last, if it is not null

  /// The part [begin, begin + size) of it, without events.
  BulkCopy part(std::size_t begin, std::size_t size) const;
  /// By the driver, in one command.
  cl_int enqueue(const Dispatch& cl, cl_bool blocking) const;
};

/// A copy whose parts are enqueued one after the other, so that all stay together. Thread-safe.
class CopyUnderWay {
public:
  CopyUnderWay(const Dispatch& cl, const BulkCopy& copy) : cl_(cl), copy_(copy) {}
  CopyUnderWay(const CopyUnderWay&) = delete;
  CopyUnderWay& operator=(const CopyUnderWay&) = delete;

  const BulkCopy& copy() const { return copy_; }
  /// Where the first part begins that nobody has.
  std::size_t next() const;
  /// The next part, of at most `size` bytes and before `until`: the caller enqueues it, and says
  /// so. Its size is 0 if there is none.
  BulkCopy take(std::size_t size, std::size_t until);
  void isEnqueued();
  /// Enqueues what nobody has; all of the copy is in its queue then.
  void hurry();
  /// What `hurry` enqueued, if it did, and the status of it. All is over then.
  std::optional<cl_int> finishRest();
  /// Whoever hurries it enqueues nothing any more, and what he has enqueued is over. Of one that
  /// went its way nothing is left to be done.
  void giveUp();

private:
  void enqueueRest(std::size_t begin);

  const Dispatch& cl_;
  const BulkCopy copy_;
  mutable std::mutex mutex_;
  std::condition_variable enqueued_;
  std::size_t next_ = 0;
  unsigned taken_ = 0;     ///< parts that are not enqueued yet
  unsigned hurrying_ = 0;  ///< threads
  bool isRestDue_ = false; ///< one of those is to enqueue the rest
  Ref<cl_event> rest_;
  std::optional<cl_int> restStatus_; ///< of the rest's call
};

/// Not thread-safe.
class Pump {
public:
  /// `memory` is for two chunks of each of `threads`.
  Pump(const Dispatch& cl, std::shared_ptr<HostBlock> memory, unsigned threads);

  /// What is left of `copy` before `until`, if nobody hurries it. CL_SUCCESS, or the first error;
  /// what it enqueued is over on return.
  cl_int copy(CopyUnderWay& copy, std::size_t until, ThreadTeam& team) const;

private:
  const Dispatch& cl_;
  std::shared_ptr<HostBlock> memory_;
  unsigned threads_;
  std::size_t chunk_;
};

/// The process's pumps. Thread-safe; never used under the session's lock.
class Pumps {
public:
  /// `memory`: bytes that a pump has. There are few pumps at most. `calls` must outlive this.
  Pumps(const Dispatch& cl, std::size_t memory, CallTable& calls);

  /// Whether copies of that size are the pumps' business at all.
  bool isLarge(std::size_t bytes) const { return bytes >= memory_ / 3; }
  /// Copies by pump or by the driver, whichever was faster. `blocking`: as the program asked for
  /// it. Nothing if it is none of the pumps' business (it is small, the queue is out of order or no
  /// GPU's, or the driver has to refuse it): nothing was done then.
  std::optional<cl_int> copy(const BulkCopy& copy, bool blocking);
  /// Lives while the calling thread enqueues something for the program. What is on its way in that
  /// queue goes before it, and no other thread begins a copy in parts there; one of its own may.
  /// Costs two atomic exchanges if nothing is on its way.
  class Enqueuing : public CallTable::Entry {
  public:
    Enqueuing(Pumps& pumps, cl_command_queue queue, CallTable::State state)
        : Entry(pumps.calls_, queue, state) {
      if (pumps.underWay_ > 0) // who begins a copy shows it and then looks who calls
        pumps.giveWay(queue);
    }
  };
  /// Memory at `address` that the driver gave or was given, and reads and writes fast itself.
  void excludes(const void* address, std::size_t size);
  /// Gives up what is pinned in `context` and not in use, which goes with the result. Null if there
  /// is nothing.
  std::shared_ptr<const void> yield(cl_context context);
  /// The program gives up `context`: the same, and what is in use goes when it no longer is.
  std::shared_ptr<const void> forget(cl_context context);
  /// No pump is made any more.
  void stop();

private:
  /// What is measured by itself.
  struct Kind {
    cl_device_id device = nullptr;
    bool toHost = false, blocking = false;
    auto operator<=>(const Kind&) const = default;
  };
  /// A copy that other threads are to find, for as long as this lives.
  struct OnItsWay {
    OnItsWay(Pumps& pumps, const BulkCopy& of);
    ~OnItsWay();
    OnItsWay(const OnItsWay&) = delete;
    OnItsWay& operator=(const OnItsWay&) = delete;
    std::shared_ptr<CopyUnderWay> copy;

  private:
    Pumps& pumps_;
  };
  /// A pump, and the context that its memory is pinned in.
  struct Pinned {
    std::unique_ptr<Pump> pump;
    cl_context context = nullptr;
  };

  void giveWay(cl_command_queue queue);
  std::optional<Kind> kindOf(const BulkCopy& copy, bool blocking) const;
  CopyRates ratesOf(const Kind& kind);
  cl_int copyInTurn(const Kind& kind, CopyUnderWay& copy, Pinned& with);
  cl_int copyBy(CopyRates::Way way, const Pinned& with, const Kind& kind, CopyUnderWay& copy,
                std::size_t until);
  void note(CopyRates::Way way, const Kind& kind, std::size_t bytes, double seconds);
  bool isExcluded(const BulkCopy& copy) const;
  Pinned take(const BulkCopy& copy);
  void giveBack(Pinned pinned);
  void make(const Ref<cl_context>& context);

  const Dispatch& cl_;
  const unsigned threads_;
  const std::size_t memory_;
  ThreadTeam team_;
  mutable std::mutex mutex_;
  std::map<Kind, CopyRates> rates_;
  std::size_t copied_ = 0; ///< bytes, of large copies so far
  std::vector<Pinned> idle_;
  std::vector<cl_context> contexts_; ///< of each pump, also of those in use or being made
  std::map<const std::byte*, std::size_t> excluded_;
  CallTable& calls_;
  std::atomic<std::size_t> underWay_ = 0; ///< copies of `onTheirWay_`
  std::vector<std::shared_ptr<CopyUnderWay>> onTheirWay_;
  Worker maker_;
};

} // namespace libsplit::runtime
