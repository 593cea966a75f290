#include "analysis-pass/tests/oracle/recorder.h"

#include <algorithm>
#include <utility>

namespace libsplit::oracle {
namespace {
constexpr std::uint8_t readBit = 1, inputBit = 2, writeBit = 4, changeBit = 8;
constexpr const char* beyond = "access beyond the buffer";
} // namespace

/// Of the recorder before, whose room need not be brought anew.
thread_local std::vector<Recorder::Object> Recorder::spare;

Recorder::Recorder(const Memories& memories, std::function<bool(const std::byte*)> isOther)
    : objects_(std::exchange(spare, {})), isOther_(std::move(isOther)), base_(memories.base()) {
  objects_.resize(memories.count());
  for (unsigned i = 0; i < memories.count(); ++i) {
    Object& object = objects_[i];
    object.low = object.high = 0;
    auto bytes = memories.at(i);
    object.data = bytes.data();
    object.flags.assign(bytes.size(), 0);
    object.written.assign(bytes.size(), {});
    object.read.assign(bytes.size(), {});
    object.last.assign(bytes.begin(), bytes.end());
  }
}

Recorder::~Recorder() {
  spare = std::move(objects_);
}

Recorder::Object* Recorder::find(const void* at, std::uint64_t size, std::uint64_t& offset) {
  auto distance = reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(base_);
  std::size_t slot = distance / slotSize;
  if (slot >= objects_.size())
    return nullptr;
  Object& object = objects_[slot];
  offset = distance % slotSize - slotSize / 2; // wraps to something large before the object
  bool isInside = offset < object.flags.size() && size <= object.flags.size() - offset;
  return isInside ? &object : nullptr;
}

void Recorder::beginGroup() {
  ++group_;
  phase_ = 0;
}

std::vector<Touched> Recorder::endGroup() {
  std::vector<Touched> result;
  for (Object& object : objects_) {
    Touched& touched = result.emplace_back();
    for (std::uint64_t i = object.low; i < object.high; ++i) {
      if (object.flags[i] & readBit)
        touched.reads.add({i, i + 1});
      if (object.flags[i] & inputBit)
        touched.inputs.add({i, i + 1});
      if (object.flags[i] & writeBit)
        touched.writes.add({i, i + 1});
      if (object.flags[i] & changeBit)
        touched.changes.add({i, i + 1});
      object.flags[i] = 0;
    }
    object.low = object.high = 0;
  }
  return result;
}

void Recorder::flag(Object& object, std::uint64_t at, std::uint8_t bits) {
  object.flags[at] |= bits;
  if (object.low == object.high)
    object.low = at, object.high = at + 1;
  object.low = std::min(object.low, at);
  object.high = std::max(object.high, at + 1);
}

const char* Recorder::reads(const void* at, std::uint64_t size, std::uint64_t item) {
  std::uint64_t offset = 0;
  Object* object = find(at, size, offset);
  if (!object)
    return isOther_(static_cast<const std::byte*>(at)) ? nullptr : beyond;
  for (std::uint64_t i = offset; i < offset + size; ++i) {
    const Event& written = object->written[i];
    bool isOwn = written.item == item;
    flag(*object, i, isOwn ? readBit : readBit | inputBit);
    racy_ |= unordered(written, item);
    Event& read = object->read[i];
    const bool another = read.item != 0 && read.item != item;
    read = {another ? several : item, another && read.group != group_ ? 0 : group_, phase_,
            read.item == 0 || read.update == update_ ? update_ : 0};
  }
  return nullptr;
}

const char* Recorder::willWrite(const void* at, std::uint64_t size) {
  std::uint64_t offset = 0;
  return find(at, size, offset) || isOther_(static_cast<const std::byte*>(at)) ? nullptr : beyond;
}

void Recorder::wrote(const void* at, std::uint64_t size, std::uint64_t item) {
  std::uint64_t offset = 0;
  Object* object = find(at, size, offset);
  if (!object)
    return;
  for (std::uint64_t i = offset; i < offset + size; ++i) {
    Event& written = object->written[i];
    bool changed = object->last[i] != object->data[i];
    flag(*object, i, changed ? writeBit | changeBit : writeBit);
    racy_ |= (unordered(written, item) && changed) || unordered(object->read[i], item);
    written = {item, group_, phase_, update_};
    object->last[i] = object->data[i];
  }
}

} // namespace libsplit::oracle
