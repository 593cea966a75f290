#include "runtime/session/memory_table.h"

#include "runtime/core/callback_scope.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

// --- objects

/// In place of one with the same handle, which went without libsplit seeing it.
/// The program can still get at the `parent` of what it has.
void MemoryTable::add(cl_mem handle, std::shared_ptr<MemoryObject> object, cl_mem parent) {
  objects_[handle] = {std::move(object), 1, parent};
  if (const auto of = objects_.find(parent); parent && of != objects_.end())
    ++of->second.references;
}

void MemoryTable::bufferCreated(cl_mem buffer) {
  auto query = cl_.clGetMemObjectInfo;
  auto context = property<cl_context>(query, buffer, CL_MEM_CONTEXT);
  auto size = property<std::size_t>(query, buffer, CL_MEM_SIZE);
  auto flags = property<cl_mem_flags>(query, buffer, CL_MEM_FLAGS);
  auto object = std::make_shared<MemoryObject>();
  object->access = HostAccess::of(flags);
  object->buffer =
      std::make_shared<Buffer>(cl_, context, buffer, size, object->access, shared_.engagements);
  object->size = size;
  if (property<cl_bool>(query, buffer, CL_MEM_USES_SVM_POINTER) != CL_FALSE)
    object->buffer->setHomeOnly("it lies in shared virtual memory");
  const Lock lock(shared_.mutex);
  add(buffer, std::move(object));
}

void MemoryTable::subBufferCreated(cl_mem part, cl_mem parent) {
  auto query = cl_.clGetMemObjectInfo;
  auto object = std::make_shared<MemoryObject>();
  object->origin = property<std::size_t>(query, part, CL_MEM_OFFSET);
  object->size = property<std::size_t>(query, part, CL_MEM_SIZE);
  const HostAccess own = HostAccess::of(property<cl_mem_flags>(query, part, CL_MEM_FLAGS));
  const Lock lock(shared_.mutex);
  auto root = find(parent);
  if (!root || !root->buffer)
    return;
  object->access = {own.reads && root->access.reads, own.writes && root->access.writes};
  object->buffer = root->buffer;
  add(part, std::move(object), parent);
}

void MemoryTable::imageCreated(cl_mem image) {
  auto object = std::make_shared<MemoryObject>();
  object->access =
      HostAccess::of(property<cl_mem_flags>(cl_.clGetMemObjectInfo, image, CL_MEM_FLAGS));
  // Those of which the host may not read and write all stay at home.
  if (const auto shape = object->access.isFull() ? ImageShape::of(cl_, image) : std::nullopt) {
    object->buffer = std::make_shared<Buffer>(
        cl_, property<cl_context>(cl_.clGetMemObjectInfo, image, CL_MEM_CONTEXT), image, *shape,
        shared_.engagements);
    object->size = shape->bytes;
  }
  const Lock lock(shared_.mutex);
  add(image, std::move(object));
}

void MemoryTable::imageOverBuffer(cl_mem image, cl_mem buffer) {
  {
    // The image shares the buffer's bytes, so commands on the image are uses of the buffer.
    const Lock lock(shared_.mutex);
    auto root = find(buffer);
    if (root) {
      auto object = std::make_shared<MemoryObject>(*root);
      object->isImageOver = true;
      add(image, std::move(object), buffer);
    }
  }
  keepAtHome(buffer, "an image was made over the buffer");
}

void MemoryTable::keepAtHome(cl_mem buffer, const std::string& why) {
  Lock lock(shared_.mutex);
  auto object = find(buffer);
  if (!object || !object->buffer)
    return;
  object->buffer->setHomeOnly(why);
  if (object->buffer->engaged()) {
    lock.unlock();
    shared_.stepAside(why);
  }
}

void MemoryTable::retained(cl_mem object) {
  const Lock lock(shared_.mutex);
  auto found = objects_.find(object);
  if (found != objects_.end())
    ++found->second.references;
}

void MemoryTable::endIsTold(cl_mem object) {
  const Lock lock(shared_.mutex);
  if (auto found = objects_.find(object); found != objects_.end())
    found->second.isEndTold = true;
}

void MemoryTable::released(cl_mem object) {
  // Destroyed after the lock is gone.
  std::vector<std::shared_ptr<MemoryObject>> last;
  std::vector<std::shared_ptr<Task>> arrived;
  std::shared_ptr<Buffer> buffer; // that is gone, and not a part of it alone
  bool isTold = false;
  Lock lock(shared_.mutex);
  for (auto found = objects_.find(object);
       found != objects_.end() && --found->second.references == 0; found = objects_.find(object)) {
    isTold = isTold || found->second.isEndTold;
    last.push_back(std::move(found->second.object));
    object = found->second.parent;
    buffer = object ? nullptr : last.back()->buffer;
    objects_.erase(found);
  }
  if (last.empty())
    return;
  if (buffer) {
    buffer->setReleased();
    // The program may free memory that it gave the buffer, or wait to be told of its end. But in a
    // callback, what is sent may wait for the thread that is in it.
    if (!CallbackScope::active() && mover_.sends(*buffer) &&
        (isTold || buffer->isInProgramsMemory()))
      mover_.awaitSentAhead(lock);
  }
  arrived = mover_.takeArrived();
}

const std::shared_ptr<MemoryObject>& MemoryTable::find(cl_mem object) const {
  static const std::shared_ptr<MemoryObject> none;
  auto found = objects_.find(object);
  return found == objects_.end() ? none : found->second.object;
}

std::vector<std::shared_ptr<MemoryObject>> MemoryTable::engaged() const {
  std::vector<std::shared_ptr<MemoryObject>> engaged;
  for (const auto& [handle, entry] : objects_)
    if (const auto& buffer = entry.object->buffer; buffer && buffer->engaged())
      engaged.push_back(entry.object);
  return engaged;
}

std::vector<BufferUse> MemoryTable::usesOfEngaged() const {
  std::vector<BufferUse> uses;
  for (const auto& [handle, entry] : objects_)
    if (const auto& buffer = entry.object->buffer;
        buffer && buffer->engaged() && !buffer->pooled()) // of which drivers know nothing
      uses.push_back({handle, true});
  return uses;
}

std::vector<HeldUse> MemoryTable::hold(const std::vector<BufferUse>& uses) const {
  std::vector<HeldUse> held;
  for (const BufferUse& use : uses)
    if (use.object)
      held.push_back({use, find(use.object), Ref<cl_mem>::retain(cl_, use.object)});
  return held;
}

// --- maps and bytes

void MemoryTable::addMap(Buffer& buffer, const MappedRegion& region, bool writes) {
  buffer.maps.push_back(region);
  buffer.mapsWrite = buffer.mapsWrite || writes;
}

void MemoryTable::mapped(cl_mem handle, const void* address, bool writes) {
  const Lock lock(shared_.mutex);
  auto object = find(handle);
  if (object && object->buffer)
    addMap(*object->buffer, {handle, address}, writes);
}

void MemoryTable::unmapped(cl_mem handle, const void* address) {
  const Lock lock(shared_.mutex);
  auto object = find(handle);
  if (!object || !object->buffer)
    return;
  Buffer& buffer = *object->buffer;
  auto region = std::find(buffer.maps.begin(), buffer.maps.end(), MappedRegion{handle, address});
  if (region == buffer.maps.end()) // a driver may take another handle of the same bytes
    region = std::find_if(buffer.maps.begin(), buffer.maps.end(),
                          [&](const MappedRegion& each) { return each.address == address; });
  if (region == buffer.maps.end())
    return;
  buffer.maps.erase(region);
  if (buffer.mapsWrite && buffer.engaged())
    buffer.directory().changed(); // the application wrote in between
  buffer.mapsWrite = buffer.mapsWrite && !buffer.maps.empty();
}

bool MemoryTable::isMappedForWriting(cl_mem handle) const {
  if (shared_.isQuiet())
    return false;
  const Lock lock(shared_.mutex);
  auto object = find(handle);
  return object && object->buffer && object->buffer->mapsWrite;
}

bool MemoryTable::mayBeMapped(cl_mem handle, const void* address) const {
  const Lock lock(shared_.mutex);
  auto object = find(handle);
  if (!object || !object->buffer)
    return true;
  const std::vector<MappedRegion>& maps = object->buffer->maps;
  return std::find(maps.begin(), maps.end(), MappedRegion{handle, address}) != maps.end();
}

bool MemoryTable::overlap(const BufferUse& a, const BufferUse& b) const {
  if (shared_.isQuiet())
    return false;
  const Lock lock(shared_.mutex);
  const auto &first = find(a.object), &second = find(b.object);
  const bool known = first && second && first->buffer;
  if (known ? first->buffer != second->buffer : a.object != b.object)
    return false;
  const std::uint64_t from = known ? first->origin : 0, to = known ? second->origin : 0;
  return from + a.begin < to + *b.end && to + b.begin < from + *a.end;
}

} // namespace libsplit::runtime
