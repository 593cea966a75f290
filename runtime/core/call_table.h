// Which calls of the program are on their way to the driver, of all threads.
//
// Whether a call goes to the driver as it came is decided under the session's lock, or without it
// where nothing of libsplit's is about; the driver is called without it. In between the command is
// in no queue: a marker does not stand behind it, and who copies a buffer does not see that it is
// written to. So a call enters the table before anybody decides about it, and leaves it when the
// driver has returned. It is *undecided*, or *admitted*: the driver has it, or gets it for sure.
//
// Who needs all that is admitted to be in its queue asks the table for those calls, and goes on
// when they have left; never by waiting, since he holds the lock that others need to leave. Calls
// that come after are decided about knowing of him. What is undecided does not count, so who is may
// wait for anything; and who is admitted and waits for libsplit nevertheless, in a callback within
// the driver's call, takes that back first.
//
//   thread 1   enters | admitted | the driver's call ..... | leaves: tells so
//   thread 2            enters | becomes a task: 1 is awaited   a marker, which stands behind 1
//
// Who enters first shows itself and then looks whether libsplit is about; a task first counts, then
// looks here. So one of them sees the other.
#pragma once

#include "runtime/core/opencl.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// Thread-safe, and so are its entries' readers. An entry belongs to the thread that made it.
class CallTable {
public:
  enum class State { Undecided, Admitted };
  /// `ended` is called when a call was admitted and is so no more while any is awaited: in its
  /// thread, which holds no lock then.
  explicit CallTable(std::function<void()> ended = {}) : ended_(std::move(ended)) {}
  ~CallTable();
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;

private:
  struct alignas(64) Slot {
    std::atomic<cl_command_queue> queue = nullptr; ///< null: nobody's
    std::atomic<std::uint64_t> turn = 1;           ///< odd: admitted; never the same again
  };

public:
  /// One call.
  class Entry {
  public:
    Entry(CallTable& table, cl_command_queue queue, State state);
    ~Entry() { end(); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    /// The driver is to have it. With the lock under which that was decided.
    void admit();
    /// It is to be decided again. Without any lock.
    void reconsider();
    /// It is over, or goes another way. While it is admitted, without any lock.
    void end();

  private:
    friend class CallTable;
    bool withdraw();

    CallTable* table_; ///< null: over
    Slot* slot_ = nullptr;
    Entry* outer_ = nullptr;
  };

  /// A call that was admitted when somebody looked.
  class Ticket {
  public:
    /// Whether it is so no more.
    bool isOver() const { return slot_->turn != turn_ || slot_->queue != queue_; }
    bool operator==(const Ticket&) const = default;

  private:
    friend class CallTable;
    const Slot* slot_ = nullptr;
    cl_command_queue queue_ = nullptr;
    std::uint64_t turn_ = 0;
  };
  using Tickets = std::vector<Ticket>;

  /// Calls whose ends are told for as long as this lives.
  class Awaited {
  public:
    Awaited() = default;
    Awaited(Awaited&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)), tickets_(std::move(other.tickets_)) {}
    Awaited& operator=(Awaited&& other) noexcept {
      std::swap(table_, other.table_);
      std::swap(tickets_, other.tickets_);
      return *this;
    }
    ~Awaited();
    bool areOver() const;

  private:
    friend class CallTable;
    CallTable* table_ = nullptr;
    Tickets tickets_;
  };

  enum class Queues { This, Others };
  enum class Own { LeftOut, Counts };
  /// What is admitted in `queue`, or in all others, but for `except`. What the calling thread is
  /// about itself counts if it asks for somebody else's task.
  Awaited await(cl_command_queue queue, Queues which, const Tickets& except = {},
                Own own = Own::LeftOut);
  /// What the calling thread is about itself: its call is one in a callback within those.
  Tickets own() const;
  /// The calling thread waits: what it is about itself is not to be awaited. Whether it was; then
  /// nobody is told.
  bool stepBack();
  /// Whether another thread has a call in `queue`, whatever becomes of it.
  bool hasOthers(cl_command_queue queue) const;

private:
  struct Block {
    std::array<Slot, 64> slots;
    std::atomic<unsigned> used = 0; ///< slots that ever were somebody's, from the first on
    std::atomic<Block*> next = nullptr;
  };
  Slot* claim(cl_command_queue queue);
  template <class Visit> void forEach(const Visit& visit) const;
  bool isOwn(const Slot& slot) const;

  const std::function<void()> ended_;
  std::atomic<unsigned> awaited_ = 0; ///< objects of that class with tickets
  Block first_;
};

} // namespace libsplit::runtime
