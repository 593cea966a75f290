// What libsplit holds of OpenCL's objects: one reference of the driver's to each, however many Refs
// there are.
//
// A program may ask how many references there are to an object, and is to hear what it would hear
// without libsplit (session/reference_counts.h). So it has to be known which of them are
// libsplit's, and which objects libsplit made itself. That the driver is asked for one reference
// alone also spares calls: to count takes about 10 ns here.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// Any thread. No lock is held when the driver is told to release something: that may call the
/// program back.
class References {
public:
  enum class Kind : std::uint8_t {
    Memory,
    Event,
    Kernel,
    Program,
    Context,
    Queue,
    Sampler,
    Device
  };
  struct Object {
    void* handle;
    Kind kind;
    bool isOwn;       ///< libsplit made it
    void* parent;     ///< the buffer or program that it was made of, if that was said
    unsigned drivers; ///< references of the driver's that are libsplit's
    void*& context;   ///< for who finds out; null until then
  };

  References() = default;
  References(const References&) = delete;
  References& operator=(const References&) = delete;

  /// One more. `retain`, which tells the driver, is called if there was none.
  template <class Retain> void add(Kind kind, void* handle, const Retain& retain) {
    Shard& shard = shardOf(handle);
    const std::lock_guard lock(shard.mutex);
    Held& held = shard.of(handle);
    if (held.count++ > 0)
      return;
    // Under the lock: who comes second relies on it.
    retain();
    held = {.count = 1, .drivers = 1, .leaving = held.leaving, .kind = kind};
  }

  /// One more, which comes with a reference of the driver's: libsplit made the object, out of
  /// `parent`.
  void adopt(Kind kind, void* handle, void* parent) {
    Shard& shard = shardOf(handle);
    const std::lock_guard lock(shard.mutex);
    Held& held = shard.of(handle);
    if (held.count == 0)
      held = {.leaving = held.leaving, .kind = kind};
    if (parent && !held.parent) {
      countChild(parent, 1);
      held.parent = parent;
    }
    held.isOwn = true;
    ++held.drivers;
    ++held.count;
  }

  /// One less. `release`, which tells the driver, is called if it was the last.
  template <class Release> void remove(void* handle, const Release& release) {
    Shard& shard = shardOf(handle);
    std::unique_lock lock(shard.mutex);
    const auto found = shard.held.find(handle);
    Held& held = found->second; // stays where it is, whatever else comes and goes
    if (--held.count > 0)
      return;
    ++held.leaving;
    ++shard.leaving;
    const Held last = held;
    lock.unlock();
    for (unsigned i = 0; i < last.drivers; ++i)
      release();
    if (last.parent)
      countChild(last.parent, -1);
    lock.lock();
    --shard.leaving;
    if (--held.leaving == 0 && held.count == 0)
      shard.forget(handle);
  }

  /// What is held, for who looks at it.
  class View {
  public:
    /// Visits each object.
    template <class Visit> void each(const Visit& visit) const {
      for (Shard& shard : references_.shards_)
        for (auto& [handle, held] : shard.held)
          if (held.count > 0)
            visit(Object{handle, held.kind, held.isOwn, held.parent, held.drivers, held.context});
    }
    /// References of the driver's to that object which are libsplit's.
    long driversOf(void* handle) const {
      const auto& held = references_.shardOf(handle).held;
      const auto found = held.find(handle);
      return found == held.end() ? 0 : static_cast<long>(found->second.drivers);
    }
    /// Objects of libsplit's that were made out of that one.
    long childrenOf(void* parent) const {
      const std::lock_guard lock(references_.childrenMutex_);
      const auto found = references_.children_.find(parent);
      return found == references_.children_.end() ? 0 : found->second;
    }

  private:
    friend class References;
    explicit View(References& references) : references_(references) {}
    References& references_;
  };

  /// Calls `look` with a View while nothing is added or given back, so that what drivers say
  /// meanwhile and what libsplit holds are of the same moment, but for what is being made. All
  /// locks are held: drivers may only be asked what they answer at once, and no Ref may come or go.
  /// False: something was still being given back when patience ran out.
  template <class Look> bool whileNothingChanges(const Look& look) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point until = Clock::now() + patience;
    for (;;) {
      {
        std::array<std::unique_lock<std::mutex>, shardCount> locks;
        bool areLeaving = false;
        for (std::size_t each = 0; each < shardCount; ++each) {
          locks[each] = std::unique_lock(shards_[each].mutex);
          areLeaving |= shards_[each].leaving > 0;
        }
        if (!areLeaving || Clock::now() >= until) {
          look(View(*this));
          return !areLeaving;
        }
      }
      std::this_thread::yield(); // nobody knows whether those count still
    }
  }

private:
  static constexpr std::size_t shardCount = 16;
  /// How long is waited until all is given back. That may need the thread that asks: drivers call
  /// programs back when objects go.
  static constexpr std::chrono::milliseconds patience{1};

  struct Held {
    unsigned count = 0;   ///< Refs
    unsigned drivers = 0; ///< references of the driver's that belong to all of them
    unsigned leaving = 0; ///< threads that are giving back the driver's
    Kind kind{};
    bool isOwn = false;
    void* parent = nullptr;
    void* context = nullptr;
  };
  struct alignas(64) Shard {
    using Objects = std::unordered_map<void*, Held>;
    static constexpr std::size_t mostSpares = 64;

    std::mutex mutex;
    Objects held;
    std::vector<Objects::node_type> spares; ///< events come and go: places that were others'
    unsigned leaving = 0; ///< threads that are giving back the driver's, of any of these

    Shard() { spares.reserve(mostSpares); }
    Held& of(void* handle) {
      if (spares.empty() || held.contains(handle))
        return held[handle];
      Objects::node_type place = std::move(spares.back());
      spares.pop_back();
      place.key() = handle;
      place.mapped() = {};
      return held.insert(std::move(place)).position->second;
    }
    void forget(void* handle) {
      Objects::node_type place = held.extract(handle);
      if (spares.size() < mostSpares)
        spares.push_back(std::move(place));
    }
  };

  Shard& shardOf(void* handle) {
    return shards_[(reinterpret_cast<std::uintptr_t>(handle) >> 5) * 0x9e3779b97f4a7c15ULL >> 60];
  }

  void countChild(void* parent, int change) {
    const std::lock_guard lock(childrenMutex_);
    if ((children_[parent] += change) == 0)
      children_.erase(parent);
  }

  std::array<Shard, shardCount> shards_;
  mutable std::mutex childrenMutex_;
  std::unordered_map<void*, long> children_;
};

} // namespace libsplit::runtime
