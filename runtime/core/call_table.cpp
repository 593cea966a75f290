#include "runtime/core/call_table.h"

#include <algorithm>
#include <new>
#include <thread>

namespace libsplit::runtime {

namespace {

// Static: see callback_scope.cpp.
/// What the calling thread is about, its innermost call.
[[gnu::tls_model("initial-exec")]] thread_local CallTable::Entry* innermost = nullptr;
/// Where the calling thread looks for a free slot first, plus one; 0: it has not looked yet.
[[gnu::tls_model("initial-exec")]] thread_local unsigned place = 0;

std::atomic<unsigned> places = 0; ///< given to threads

} // namespace

CallTable::~CallTable() {
  for (Block* block = first_.next; block;) {
    Block* const next = block->next;
    delete block;
    block = next;
  }
}

/// A slot of the thread's own, as far as there are enough. No thread waits for another here.
CallTable::Slot* CallTable::claim(cl_command_queue queue) {
  if (place == 0)
    place = ++places;
  for (Block* block = &first_;;) {
    const auto count = static_cast<unsigned>(block->slots.size());
    for (unsigned i = 0; i < count; ++i) {
      const unsigned index = (place - 1 + i) % count;
      Slot& slot = block->slots[index];
      if (slot.queue.load(std::memory_order_relaxed))
        continue;
      for (unsigned used = block->used; used <= index;)
        block->used.compare_exchange_weak(used, index + 1);
      cl_command_queue nobody = nullptr;
      if (slot.queue.compare_exchange_strong(nobody, queue))
        return &slot;
    }
    Block* next = block->next;
    if (!next) {
      auto* made = new (std::nothrow) Block;
      if (made && block->next.compare_exchange_strong(next, made))
        next = made;
      else
        delete made;
    }
    block = next ? next : &first_; // without memory: until a call is over
    if (!next)
      std::this_thread::yield();
  }
}

template <class Visit> void CallTable::forEach(const Visit& visit) const {
  for (const Block* block = &first_; block; block = block->next)
    for (unsigned i = 0, used = block->used; i < used; ++i)
      if (const cl_command_queue queue = block->slots[i].queue)
        visit(block->slots[i], queue);
}

bool CallTable::isOwn(const Slot& slot) const {
  for (const Entry* each = innermost; each; each = each->outer_)
    if (each->slot_ == &slot)
      return true;
  return false;
}

CallTable::Entry::Entry(CallTable& table, cl_command_queue queue, State state) : table_(&table) {
  if (!queue) {
    table_ = nullptr; // the driver refuses it
    return;
  }
  slot_ = table.claim(queue); // as its last call left it, admitted mostly
  outer_ = std::exchange(innermost, this);
  if (state == State::Undecided)
    reconsider();
  else if (slot_->turn % 2 == 0)
    ++slot_->turn;
}

void CallTable::Entry::admit() {
  if (!table_)
    return;
  const std::uint64_t turn = slot_->turn.load(std::memory_order_relaxed);
  if (turn % 2 == 0)
    slot_->turn.store(turn + 1, std::memory_order_release); // the lock does the rest
}

/// It is undecided from here on. Whether somebody may wait for that.
bool CallTable::Entry::withdraw() {
  if (!table_ || slot_->turn % 2 == 0)
    return false;
  ++slot_->turn;
  return table_->awaited_ > 0;
}

void CallTable::Entry::reconsider() {
  if (withdraw())
    table_->ended_();
}

void CallTable::Entry::end() {
  if (!table_)
    return;
  CallTable& table = *std::exchange(table_, nullptr);
  innermost = outer_;
  const std::uint64_t turn = slot_->turn.load(std::memory_order_relaxed);
  const bool wasAdmitted = turn % 2 == 1;
  // What was undecided stays so to the end: nobody would be told of that.
  if (wasAdmitted) // who takes it next is so at once, or says otherwise
    slot_->turn.store(turn + 2, std::memory_order_release);
  slot_->queue.exchange(nullptr);
  if (wasAdmitted && table.awaited_ > 0)
    table.ended_();
}

CallTable::Awaited::~Awaited() {
  if (table_)
    --table_->awaited_;
}

bool CallTable::Awaited::areOver() const {
  return std::ranges::all_of(tickets_, [](const Ticket& each) { return each.isOver(); });
}

CallTable::Awaited CallTable::await(cl_command_queue queue, Queues which, const Tickets& except,
                                    Own own) {
  Awaited found;
  auto look = [&] {
    found.tickets_.clear();
    forEach([&](const Slot& slot, cl_command_queue used) {
      Ticket ticket;
      ticket.slot_ = &slot;
      ticket.queue_ = used;
      ticket.turn_ = slot.turn;
      if (ticket.turn_ % 2 == 1 && (used == queue) == (which == Queues::This) &&
          (own == Own::Counts || !isOwn(slot)) && std::ranges::find(except, ticket) == except.end())
        found.tickets_.push_back(ticket);
    });
  };
  look();
  if (found.tickets_.empty())
    return found;
  found.table_ = this;
  ++awaited_; // what ends from here on is told
  look();
  return found;
}

CallTable::Tickets CallTable::own() const {
  Tickets found;
  for (const Entry* each = innermost; each; each = each->outer_) {
    if (each->table_ != this || each->slot_->turn % 2 == 0)
      continue;
    Ticket ticket;
    ticket.slot_ = each->slot_;
    ticket.queue_ = each->slot_->queue;
    ticket.turn_ = each->slot_->turn;
    found.push_back(ticket);
  }
  return found;
}

bool CallTable::stepBack() {
  bool isAwaited = false;
  for (Entry* each = innermost; each; each = each->outer_)
    if (each->table_ == this)
      isAwaited = each->withdraw() || isAwaited;
  return isAwaited;
}

bool CallTable::hasOthers(cl_command_queue queue) const {
  bool found = false;
  forEach([&](const Slot& slot, cl_command_queue used) {
    found = found || (used == queue && !isOwn(slot));
  });
  return found;
}

} // namespace libsplit::runtime
