// The program's buffers and images: what each handle stands for, how often the program holds it,
// where it has mapped them.
#pragma once

#include "runtime/device/memory.h"
#include "runtime/session/command.h"
#include "runtime/session/mover.h"
#include "runtime/session/shared.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace libsplit::runtime {

/// Any thread, without the session's lock where nothing else is said.
class MemoryTable {
public:
  MemoryTable(Shared& shared, Mover& mover) : shared_(shared), cl_(shared.cl), mover_(mover) {}

  // Objects, as the program makes and drops them.
  void bufferCreated(cl_mem buffer);
  void subBufferCreated(cl_mem part, cl_mem parent);
  /// Pooled ones, which the driver knows nothing of but handles; of a part, its parent. With the
  /// lock.
  void pooledCreated(cl_mem handle, const std::shared_ptr<MemoryObject>& object,
                     cl_mem parent = nullptr) {
    add(handle, object, parent);
  }
  void imageCreated(cl_mem image);
  void imageOverBuffer(cl_mem image, cl_mem buffer);
  /// The object's bytes can change behind libsplit's back, or be read there.
  void keepAtHome(cl_mem buffer, const std::string& why);
  void retained(cl_mem object);
  void released(cl_mem object);
  /// The program is to be told of the object's end.
  void endIsTold(cl_mem object);

  // Maps.
  /// One map more. `writes`: it may be written to.
  void mapped(cl_mem buffer, const void* address, bool writes);
  /// One map less.
  void unmapped(cl_mem buffer, const void* address);
  bool isMappedForWriting(cl_mem buffer) const;
  /// Whether the program has mapped it there; true also for what is no tracked buffer.
  bool mayBeMapped(cl_mem object, const void* address) const;

  /// What the driver tells of an image. Without the lock.
  ImageShape shapeOf(cl_mem image) const { return ImageShape::asked(cl_, image); }
  /// Whether two uses have bytes in common, perhaps by way of different sub-buffers. Both say where
  /// they end.
  bool overlap(const BufferUse& a, const BufferUse& b) const;

  // With the lock.
  /// Null if it is not known. Where it is kept: valid as long as the lock is held.
  const std::shared_ptr<MemoryObject>& find(cl_mem object) const;
  /// Those whose bytes are kept book of.
  std::vector<std::shared_ptr<MemoryObject>> engaged() const;
  /// Of a command of which nobody knows what it touches: all of each of these.
  std::vector<BufferUse> usesOfEngaged() const;
  /// The uses' objects, which stay alive for as long as these do.
  std::vector<HeldUse> hold(const std::vector<BufferUse>& uses) const;
  static void addMap(Buffer& buffer, const MappedRegion& region, bool writes);

private:
  struct Entry {
    std::shared_ptr<MemoryObject> object;
    int references = 1;      ///< the program's, and of what is made over it
    cl_mem parent = nullptr; ///< what it is made over
    bool isEndTold = false;  ///< the program has a destructor callback
  };
  void add(cl_mem handle, std::shared_ptr<MemoryObject> object, cl_mem parent = nullptr);

  Shared& shared_;
  const Dispatch& cl_;
  Mover& mover_;
  std::unordered_map<cl_mem, Entry> objects_;
};

} // namespace libsplit::runtime
