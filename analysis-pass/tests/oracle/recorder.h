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

  void beginGroup();
  void nextPhase() { ++phase_; } ///< all work-items of the group have passed a barrier
  std::vector<Touched> endGroup();

  /// Of work-item `item` > 0. Null, or why it has no meaning.
  const char* reads(const void* at, std::uint64_t size, std::uint64_t item);
  const char* willWrite(const void* at, std::uint64_t size);
  void wrote(const void* at, std::uint64_t size, std::uint64_t item);

  void undefined(std::string why) { undefined_ = std::move(why); }
  const std::string& undefined() const { return undefined_; }
  bool racy() const { return racy_; }
  void unspecified() { unspecified_ = true; }
  bool isUnspecified() const { return unspecified_; }

private:
  /// When a byte was last written, or read, and by whom.
  struct Event {
    std::uint64_t item = 0; ///< 0: never; `several`
    std::uint32_t group = 0;
    std::uint32_t phase = 0;
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
           (event.group != group_ || event.phase == phase_);
  }
  void flag(Object& object, std::uint64_t at, std::uint8_t bits);

  std::vector<Object> objects_;
  std::function<bool(const std::byte*)> isOther_;
  const std::byte* base_ = nullptr; ///< of the first slot
  std::uint32_t group_ = 0, phase_ = 0;
  bool racy_ = false;
  bool unspecified_ = false;
  std::string undefined_;
};

} // namespace libsplit::oracle
