// What libsplit holds of OpenCL's objects: one reference of the driver's to each, however many Refs
// there are.
//
// A program may ask how many references there are to an object, and is to hear what it would hear
// without libsplit (session/reference_counts.h). So it has to be known which of them are
// libsplit's, and which objects libsplit made itself. That the driver is asked for one reference
// alone also spares calls: to count takes about 10 ns here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <mutex>
#include <thread>
#include <unordered_map>
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
    bool isOwn; ///< libsplit made it
  };

  References() = default;
  References(const References&) = delete;
  References& operator=(const References&) = delete;

  /// One more. `retain`, which tells the driver, is called if there was none.
  template <class Retain> void add(Kind kind, void* handle, const Retain& retain) {
    Shard& shard = shardOf(handle);
    const std::lock_guard lock(shard.mutex);
    Held& held = shard.held[handle];
    if (held.count++ > 0)
      return;
    // Under the lock: who comes second relies on it.
    retain();
    held.kind = kind;
    held.isOwn = false;
    held.drivers = 1;
  }

  /// One more, which comes with a reference of the driver's: libsplit made the object, if it does
  /// not hold it yet.
  void adopt(Kind kind, void* handle) {
    Shard& shard = shardOf(handle);
    const std::lock_guard lock(shard.mutex);
    Held& held = shard.held[handle];
    if (held.count++ == 0) {
      held.kind = kind;
      held.isOwn = true;
      held.drivers = 0;
    }
    ++held.drivers;
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
    unsigned drivers = held.drivers;
    lock.unlock();
    for (; drivers > 0; --drivers)
      release();
    lock.lock();
    if (--held.leaving == 0 && held.count == 0)
      shard.held.erase(handle);
  }

  /// What `read` says of the driver's references to the object, less libsplit's. All of an object
  /// that libsplit made are libsplit's, but that is not asked.
  template <class Read> long withoutOurs(void* handle, const Read& read) {
    Shard& shard = shardOf(handle);
    for (;;) {
      {
        const std::lock_guard lock(shard.mutex);
        const auto found = shard.held.find(handle);
        if (found == shard.held.end())
          return read();
        if (found->second.leaving == 0)
          return read() - static_cast<long>(found->second.drivers);
      }
      std::this_thread::yield(); // one is about to go, and nobody knows whether it counts still
    }
  }

  /// All that is held at this moment, with one more of each, which the caller has to remove.
  std::vector<Object> addToAll() {
    std::vector<Object> all;
    for (Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      all.reserve(all.size() + shard.held.size());
      for (auto& [handle, held] : shard.held)
        if (held.count > 0) {
          ++held.count;
          all.push_back({handle, held.kind, held.isOwn});
        }
    }
    return all;
  }

private:
  struct Held {
    unsigned count = 0;   ///< Refs
    unsigned drivers = 0; ///< references of the driver's that belong to all of them
    unsigned leaving = 0; ///< threads that are giving back the driver's
    Kind kind{};
    bool isOwn = false;
  };
  struct alignas(64) Shard {
    std::mutex mutex;
    std::pmr::unsynchronized_pool_resource room;
    std::pmr::unordered_map<void*, Held> held{&room};
  };

  Shard& shardOf(void* handle) {
    return shards_[(reinterpret_cast<std::uintptr_t>(handle) >> 5) * 0x9e3779b97f4a7c15ULL >> 60];
  }

  std::array<Shard, 16> shards_;
};

} // namespace libsplit::runtime
