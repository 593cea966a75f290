// Which bytes of which memory object were read and written, by whom, and whether order mattered.
#pragma once

#include "analysis-pass/tests/oracle/machine.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace libsplit::oracle {

class Recorder {
public:
  /// An object lies in the middle of a slot, the rest of which belongs to nobody. No power of two:
  /// an index that wrapped around at 32 bits must not meet the object of another slot.
  static constexpr std::uint64_t slotSize = (std::uint64_t{1} << 36) + (std::uint64_t{3} << 22);
  static constexpr std::uint64_t maxObject = std::uint64_t{1} << 20;

  /// `isOther` tells which bytes outside of all slots the kernel may use.
  Recorder(const Memories& memories, std::function<bool(const std::byte*)> isOther);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void beginGroup();
  void nextPhase() { ++phase_; } ///< all work-items of the group have passed a barrier
  std::vector<Touched> endGroup();

  /// Of work-item `item` > 0. Null, or why it has no meaning.
  const char* reads(const void* at, std::uint64_t size, std::uint64_t item);
  const char* willWrite(const void* at, std::uint64_t size);
  void wrote(const void* at, std::uint64_t size, std::uint64_t item);

  /// What is read and written in between is an atomic of this kind whose result nobody uses.
  void beginUpdate(std::uint32_t kind) {
    if (updateDepth_++ == 0)
      update_ = kind;
  }
  void endUpdate() {
    if (--updateDepth_ == 0)
      update_ = 0;
  }

  void undefined(std::string why) { undefined_ = std::move(why); }
  const std::string& undefined() const { return undefined_; }
  bool racy() const { return racy_; }
  void unspecified() { unspecified_ = true; }
  bool isUnspecified() const { return unspecified_; }

private:
  /// When a byte was last written, or read, and by whom.
  struct Event {
    std::uint64_t item = 0;  ///< 0: never; `several`
    std::uint32_t group = 0; ///< 0: several
    std::uint32_t phase = 0;
    std::uint32_t update = 0; ///< which kind of atomic; 0: none
  };
  static constexpr std::uint64_t several = ~std::uint64_t{0};

  struct Object {
    const std::byte* data = nullptr;
    std::vector<std::uint8_t> flags; ///< of the group under way
    std::vector<Event> written, read;
    std::vector<std::byte> last;     ///< values when they were last seen written
    std::uint64_t low = 0, high = 0; ///< where `flags` are set
  };
  /// The object that has `size` bytes at `at`, from its byte `offset` on; null if there is none.
  Object* find(const void* at, std::uint64_t size, std::uint64_t& offset);
  bool unordered(const Event& event, std::uint64_t item) const {
    return event.item != 0 && event.item != item &&
           (event.group != group_ || event.phase == phase_) &&
           (event.update == 0 || event.update != update_);
  }
  void flag(Object& object, std::uint64_t at, std::uint8_t bits);

  static thread_local std::vector<Object> spare;
  std::vector<Object> objects_;
  std::function<bool(const std::byte*)> isOther_;
  const std::byte* base_ = nullptr; ///< of the first slot
  std::uint32_t group_ = 0, phase_ = 0;
  std::uint32_t update_ = 0, updateDepth_ = 0;
  bool racy_ = false;
  bool unspecified_ = false;
  std::string undefined_;
};

} // namespace libsplit::oracle
