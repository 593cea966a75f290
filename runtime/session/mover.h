// How bytes get from one memory node to another.
//
// A copy from device to device goes through the sender's ring of host memory (staging_ring.h),
// chunk by chunk: an instruction of the sender's lane for copies out, then one for copies in of
// each receiver. All that a launch needs leaves before anything arrives, from all nodes at once, so
// that no two of them wait for each other; and a chunk waits only for work of its own node on the
// same bytes, and for those that used its part of the ring before.
//
// Lanes take instructions in an order in which each depends on earlier ones alone. So chunks that
// arrive are issued at the latest when a part of a ring is wanted that still waits for them.
//
// Where one of the two ends is the host's own memory, small copies and those of devices that are no
// GPUs go straight there; others, too, go through a ring, which a GPU reads and writes several
// times as fast.
//
// Worked example: nodes 1 and 2 exchange 20 MiB each way, through rings of 24. Each sends chunks of
// 8, 8 and 4 MiB. The instructions: out 1.1, out 2.1, out 1.2, out 2.2, out 1.3, out 2.3, then all
// six copies in. With 40 MiB each way the fourth chunk would wait for the first copy in, which is
// therefore issued before: three out and three in of each, and then the rest.
#pragma once

#include "runtime/session/issuer.h"
#include "runtime/session/moved.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// One end of a transfer.
struct DeviceEnd {
  std::size_t device = 0;
  HostWay way;
  cl_command_queue queue = nullptr;
  Engine engine = Engine::CopyIn;
};

/// A move that a directory has counted.
struct BufferMove {
  Buffer* buffer = nullptr;
  Move move;
  Directory::State before;                ///< what the directory said before that
  std::size_t transfer = 0, receiver = 0; ///< what became of it
};

/// Moves that directories count. Where they are not issued in the end, since something failed in
/// between, the directories are as before.
class CountedMoves {
public:
  CountedMoves() = default;
  CountedMoves(const CountedMoves&) = delete;
  CountedMoves& operator=(const CountedMoves&) = delete;
  ~CountedMoves();

  /// Has the buffer's directory count what `needs` take, and nothing else. By need, as
  /// Directory::bringAll.
  void add(Buffer& buffer, std::span<const Directory::Need> needs);
  /// The same of what the program wants now, of which the buffer's forecast is told.
  void addWanted(Buffer& buffer, std::span<const Directory::Need> needs);
  bool isEmpty() const { return moves_.empty(); }
  /// To be issued: whoever takes them sees to the directories.
  std::vector<BufferMove> take() { return std::exchange(moves_, {}); }

private:
  template <class Count> void count(Buffer& buffer, const Count& bringAll);
  std::vector<BufferMove> moves_;
};

/// Under the session's lock.
class Mover {
public:
  Mover(Shared& shared, Issuer& issuer)
      : cl_(shared.cl), machine_(shared.machine), stats_(shared.stats), tracer_(shared.tracer),
        mayHaveLost_(shared.mayHaveLost), issuer_(issuer) {}

  /// Has `bytes` brought to `node`, where they are not valid yet. `moved`, if any, gets what that
  /// takes. Throws LostBytes, or std::runtime_error where there is no memory for them.
  void bring(Task& task, Buffer& buffer, NodeId node, const ByteSet& bytes,
             std::vector<Moved>* moved = nullptr);
  /// Issues all of them at once; by move. Throws if something that it takes can't be had; the
  /// directories are as before then.
  std::vector<Moved> transfer(Task& task, std::span<BufferMove> moves);
  /// The same of what was counted, which is none any more then.
  std::vector<Moved> transfer(Task& task, CountedMoves& counted) {
    std::vector<BufferMove> moves = counted.take();
    return transfer(task, moves);
  }
  /// Throws LostBytes if some of `bytes` are valid nowhere any more.
  void requireSomewhere(const Buffer& buffer, const ByteSet& bytes) const;
  /// The end of a transfer that a device reads or writes: its memory, its queue. Throws if there is
  /// none.
  DeviceEnd endOf(Buffer& buffer, std::size_t device, Engine engine, Timing timing = Timing::On);
  /// An instruction of that end's lane that copies `rows` to or from host memory.
  Instruction copyInstruction(const DeviceEnd& end, const Buffer& buffer, std::vector<Rows> rows,
                              std::byte* host, bool packed, const CompletionPtr& done) const;

  /// Sends what a later launch will want elsewhere (plan/forecast.h) as soon as `task` has written
  /// it, by a task of no queue: nobody has to wait for that one but who uses those bytes.
  void sendAhead(Task& task, std::span<const std::shared_ptr<Buffer>> buffers);
  /// Work of no queue, beside a launch that it waits for first if there is one: noted as what is
  /// sent ahead is. Once it is over, and the launch has retired, it is `retired`.
  void note(std::shared_ptr<Task> work) { sentAhead_.push_back(std::move(work)); }
  /// Whether some of the buffer's bytes are on their way so.
  bool sends(const Buffer& buffer) const;
  /// Whether some such work with a `retired` of its own is under way on `device`.
  bool works(std::size_t device) const;
  /// What has arrived, of launches that have retired, which may hold the last reference to a
  /// buffer: it is to go without the lock. What failed stays for a recovery to see.
  std::vector<std::shared_ptr<Task>> takeArrived();
  /// All that was sent ahead and not taken.
  std::vector<std::shared_ptr<Task>> takeSentAhead() { return std::exchange(sentAhead_, {}); }
  /// One of which it is known that it is over and failed; null: there is none.
  std::shared_ptr<Task> failedAhead() const;
  /// Nothing was sent ahead that was not taken.
  bool isIdle() const { return sentAhead_.empty(); }
  /// Whether some is under way. What failed is not; it stays until a recovery takes it.
  bool isSendingAhead() const;
  /// Whether a buffer on its way is one that nobody else uses any more.
  bool sendsUnusedBuffer() const;
  /// Waits, without `lock`, until what was sent ahead has arrived, or failed. Nothing that it waits
  /// for itself may depend on the program.
  void awaitSentAhead(Lock& lock);
  /// The same of what comes of tasks that are ending, if buffers are in memory that the program may
  /// free once it knows that they have.
  void awaitSentFromProgramsMemory(Lock& lock);

private:
  void awaitThose(Lock& lock, bool (*isOne)(const Task&));
  struct Transfer;
  bool isDestination(NodeId node) const;
  bool isLost(NodeId node) const;
  void checkEnd(Buffer& buffer, NodeId node, Engine engine);
  void issueChunkCopy(Task& task, Buffer& buffer, const Chunk& chunk, NodeId node, Engine engine,
                      std::byte* part, std::vector<CompletionPtr> after, const CompletionPtr& done,
                      Uncounted uncounted);
  void issueLeaving(Task& task, Transfer& transfer, std::size_t index,
                    const StagingRing::Part& part);
  void issueArriving(Task& task, Transfer& transfer, std::size_t index, std::size_t receiver,
                     std::byte* part, const CompletionPtr& left, const CompletionPtr& done);
  void issueDirect(Task& task, Transfer& transfer);
  std::vector<Transfer> asTransfers(std::span<BufferMove> moves);

  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  Stats& stats_;
  Tracer& tracer_;
  const bool& mayHaveLost_;
  Issuer& issuer_;
  std::vector<std::shared_ptr<Task>> sentAhead_; ///< of no queue; under way, or failed
};

} // namespace libsplit::runtime
