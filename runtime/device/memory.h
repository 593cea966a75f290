// A buffer of the application and its copies on other devices.
//
// The application's own cl_mem lives on its home device and stays the real thing. Once a split
// launch touches it the buffer is *engaged*: it gets a directory of valid bytes per memory node,
// storage on other nodes as they need it, and a record of the work in flight on each node. Until
// then it costs nothing. All members are used under the session's lock.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"
#include "runtime/core/call_table.h"
#include "runtime/device/accesses.h"
#include "runtime/device/host_block.h"
#include "runtime/device/journal.h"
#include "runtime/device/machine.h"
#include "runtime/device/provision.h"
#include "runtime/device/row_copy.h"
#include "runtime/plan/forecast.h"
#include "runtime/plan/known_contents.h"
#include "runtime/plan/readers.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace libsplit::runtime {

/// Host memory for a part of a buffer.
struct Staging {
  std::shared_ptr<HostBlock> block;
  std::uint64_t begin = 0;              ///< the buffer's byte that is the block's first
  std::shared_ptr<Provision> provision; ///< null: it takes none

  explicit operator bool() const { return block != nullptr; }
  bool covers(const ByteRange& bytes) const {
    return block && begin <= bytes.begin && bytes.end <= begin + block->size();
  }
  /// Where byte 0 of the buffer would lie.
  std::byte* base() const { return block->address() - begin; }
};

/// Bytes of which a device says at once whether they changed.
inline constexpr std::uint64_t comparedBlock = 4096;

/// A device's own copy of bytes [begin, end) of a buffer as they were before a launch, and a word
/// for each block of them that tells whether it changed.
struct DeviceSnapshot {
  Ref<cl_mem> bytes, flags;
  std::uint64_t begin = 0, end = 0;
  std::shared_ptr<Provision> provision; ///< null: it takes none

  bool covers(const ByteRange& range) const { return begin <= range.begin && range.end <= end; }
};

/// So many bytes of a device's memory count as taken as long as it lives.
class TakenMemory {
public:
  TakenMemory() = default;
  TakenMemory(std::shared_ptr<std::atomic<std::uint64_t>> of, std::uint64_t bytes)
      : of_(std::move(of)), bytes_(bytes) {
    *of_ += bytes_;
  }
  TakenMemory(TakenMemory&& other) noexcept
      : of_(std::exchange(other.of_, nullptr)), bytes_(other.bytes_) {}
  TakenMemory& operator=(TakenMemory&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~TakenMemory() {
    if (of_)
      *of_ -= bytes_;
  }

private:
  std::shared_ptr<std::atomic<std::uint64_t>> of_;
  std::uint64_t bytes_ = 0;
};

/// The host memory that a pooled buffer's bytes are at home in.
struct PooledMemory {
  std::byte* address = nullptr;
  std::shared_ptr<HostBlock> block; ///< null: it is the program's own (CL_MEM_USE_HOST_PTR)
  TakenMemory taken{};              ///< of what there is for pooled buffers
};

/// What a device has in place of the program's own memory.
struct DeviceCopy {
  Ref<cl_mem> memory;
  std::shared_ptr<Provision> provision; ///< null: it takes none
  ByteRange holds;                      ///< of the buffer
  TakenMemory taken{};
};

/// Memory that holds a buffer, or a part of it.
struct PlacedMemory {
  cl_mem memory = nullptr;
  std::uint64_t begin = 0; ///< the buffer's byte that is the memory's first

  explicit operator bool() const { return memory != nullptr; }
  /// Where that byte of the buffer lies in the memory.
  std::uint64_t offsetOf(std::uint64_t byte) const { return byte - begin; }
};

/// What a kernel gets for a buffer.
struct ArgumentMemory {
  cl_mem memory = nullptr;
  /// How far the memory's first byte lies behind the argument's, modulo 2^64: a kernel that takes
  /// no windows needs 0.
  std::uint64_t behind = 0;
};

struct Stream;

/// A native command that writes to a buffer and may still run.
struct NativeWrite {
  std::weak_ptr<const Stream> stream;
  CompletionPtr done;
};

/// Native work of which nobody kept book. It takes two steps to find out: calls that the driver has
/// not returned from have to, then a marker in each queue stands behind all. A queue that is in
/// order leaves out its own work when it asks; so another one that comes later asks again.
struct UnbookedWork {
  std::shared_ptr<const CallTable::Awaited> calls; ///< null: not asked for yet
  std::optional<std::vector<CompletionPtr>> ends;  ///< once these were over
  cl_command_queue leftOut = nullptr;              ///< by whom it asked; null: nothing is left out
  std::vector<CompletionPtr> before;               ///< what an earlier one found
  bool asksAgain = false;

  /// `own` wants to know; null: a queue that leaves out nothing.
  void isAskedFor(cl_command_queue own) {
    if (!ends || !leftOut || leftOut == own)
      return;
    before = std::move(*ends);
    ends.reset();
    calls.reset();
    asksAgain = true;
  }
  /// What `own` found.
  void found(cl_command_queue own, std::vector<CompletionPtr> others) {
    others.insert(others.end(), before.begin(), before.end());
    ends = std::move(others);
    // What was left out the first time is there now, and the other way round.
    leftOut = asksAgain && own != leftOut ? nullptr : own;
    before.clear();
    asksAgain = false;
  }
};

/// What the application has mapped by way of `handle`: a buffer or a part of it.
struct MappedRegion {
  cl_mem handle = nullptr;
  const void* address = nullptr;
  bool operator==(const MappedRegion&) const = default;
};

/// An image that can be had on several devices: what another is made from, and what a command on
/// all of it names. Its bytes, as a buffer's, are those that clEnqueueReadImage packs.
struct ImageShape {
  cl_image_format format{};
  cl_image_desc description{};
  std::array<std::size_t, 3> region{1, 1, 1};
  std::size_t bytes = 0;
  ImageNumbers numbers{}; ///< what expressions ask of it
  /// As the driver tells, whatever its kind; no pixels of what it does not know.
  static ImageShape asked(const Dispatch& cl, cl_mem image);
  /// Nothing if it is of a kind that is not followed.
  static std::optional<ImageShape> of(const Dispatch& cl, cl_mem image);
  ImageLayout layout() const {
    return {numbers.pixel * region[0], region[1], numbers.pixel,
            description.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY};
  }
};

/// The question where a buffer's bytes lie in host memory, on its way.
struct AddressSearch {
  explicit AddressSearch(const Dispatch& cl) : done(std::make_shared<Completion>(cl)) {}
  CompletionPtr done;
  std::byte* address = nullptr; ///< once it is done; null: can't be had
  bool issued = false;
};

class Buffer : public std::enable_shared_from_this<Buffer> {
public:
  /// `engagements` counts the engaged buffers of the session and must outlive this one.
  Buffer(const Dispatch& cl, cl_context context, cl_mem home, std::size_t size, HostAccess access,
         std::atomic<std::size_t>& engagements)
      : cl_(cl), context_(context), home_(home), size_(size), access_(access),
        engagements_(engagements) {}
  ~Buffer();
  /// One that stands for an image. All that the program's commands do to it they do to all of it.
  Buffer(const Dispatch& cl, cl_context context, cl_mem home, const ImageShape& image,
         std::atomic<std::size_t>& engagements)
      : Buffer(cl, context, home, image.bytes, {}, engagements) {
    image_ = image;
  }
  /// A pooled one: no device has all of it for good. Its bytes are at home in the host's memory,
  /// and what `standIn` names is nothing but the program's handle.
  Buffer(const Dispatch& cl, cl_context context, cl_mem standIn, std::size_t size,
         HostAccess access, PooledMemory memory, std::atomic<std::size_t>& engagements)
      : Buffer(cl, context, standIn, size, access, engagements) {
    pooled_ = std::move(memory);
    hostMemory_ = pooled_->address;
    unbooked.ends.emplace(); // no driver has anything to do with it
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  cl_context context() const { return context_; }
  cl_mem home() const { return home_; }
  std::size_t size() const { return size_; }
  bool isImage() const { return image_.has_value(); }
  /// Of a pooled one; null: it is none.
  const PooledMemory* pooled() const { return pooled_ ? &*pooled_ : nullptr; }
  /// The node that has its bytes where nobody needs them: home's memory, or the host's.
  NodeId ownNode(const Machine& machine) const {
    return pooled_ ? hostNode : machine.homeDevice().node;
  }
  /// Whether `device` works on a copy, of which there may be none or a part; else on the program's
  /// own memory.
  bool isCopiedTo(const Machine& machine, std::size_t device) const {
    return pooled_ || device != machine.home();
  }
  /// It counts as so much of home's memory as long as it lives.
  void takes(TakenMemory memory) { taken_ = std::move(memory); }
  /// Of an image: its ImageNumbers, for as long as the buffer lives.
  std::span<const std::byte> imageNumbers() const {
    return std::as_bytes(std::span(&image_->numbers, 1));
  }
  /// To the home buffer; the copies have no such limits.
  const HostAccess& homeAccess() const { return access_; }
  bool engaged() const { return directory_.has_value(); }

  /// Why the buffer must stay on the home device (an image over it, a foreign API), if it must.
  const std::string& homeOnly() const { return homeOnly_; }
  void setHomeOnly(std::string why) { homeOnly_ = std::move(why); }
  /// The program has given it up, with work on it pending, or none.
  bool isReleased() const { return isReleased_; }
  void setReleased() { isReleased_ = true; }
  /// Whether bytes of it are, or may be, in memory that the program can free once the buffer is
  /// gone (CL_MEM_USE_HOST_PTR).
  bool isInProgramsMemory() const;
  /// Regions that the application has mapped; while any is, launches on it are not split.
  std::vector<MappedRegion> maps;
  bool mapsWrite = false;      ///< any of them may be written to
  mutable TracedBuffer traced; ///< what a trace knows of it

  std::uint64_t lastUse = 0; ///< of a copy by a launch on pooled buffers, which count

  /// Starts keeping the directory.
  void engage(Machine& machine);
  /// Whether it may become the program's alone again: home has all its bytes, nobody knows what
  /// they are (that would have to be found out anew), and nothing that was done to any copy is
  /// under way, or failed. Asks the driver.
  bool mayBeLetGo(const Machine& machine) const;
  /// Has it so. What it had besides is for the caller to destroy without the lock, before the
  /// buffer itself.
  std::shared_ptr<const void> letGo();
  /// What copies of it hold, current or not, staging memory included: it would have to be made, and
  /// filled, anew.
  std::uint64_t bytesElsewhere(const Machine& machine) const;
  /// Where the home buffer lies, if that is in the host's memory: the way to find out, or null if
  /// it is known, was looked for in vain, or needs no looking for. The driver tells it by a map,
  /// which waits for earlier commands; so it is asked on the home device's lane, without the lock.
  std::shared_ptr<AddressSearch> addressSearch(Machine& machine);
  /// Of an engaged one. Throws std::bad_optional_access of another.
  Directory& directory() { return directory_.value(); }
  const Directory& directory() const { return directory_.value(); }
  /// The work that is under way on its copies.
  Accesses& accesses() { return accesses_; }
  const Accesses& accesses() const { return accesses_; }
  /// Directory::bringAll and Directory::wrote, with the forecast told of them.
  std::vector<Directory::NeededMove> bringAll(std::span<const Directory::Need> needs);
  void wrote(NodeId node, const ByteSet& bytes);
  /// What to send ahead.
  Forecast& forecast() { return forecast_; }
  /// Where the program's next write will be read.
  Readers& readers() { return readers_; }
  /// What the directory counted in advance.
  Journal& journal() { return journal_; }
  /// After all work on it is over: puts the directory right, and lets what failed not spoil what
  /// comes.
  void settle();
  /// Native commands of several queues, while it is engaged. The program need not order them
  /// against what other queues do to other bytes, or by atomics; who moves bytes must.
  std::vector<NativeWrite> nativeWrites;
  /// What nobody kept book of: what all queues had natively when somebody asked.
  UnbookedWork unbooked;
  /// What is known of the bytes as they are now.
  KnownContents& contents();

  /// Whether `device` has a copy, or has room for one that holds `bytes`, which is then made. Of
  /// one that had no room the next question is whether it has any now.
  Room roomOn(Machine& machine, std::size_t device, const ByteRange& bytes, Provisions& pending);
  /// Whether the last whole copy for the device was refused.
  bool wasRefusedWhole(std::size_t device) const { return refusedWhole_.contains(device); }
  /// Gives up the copy of a device other than home, of which nobody uses anything any more. What it
  /// held is valid there no longer.
  void drop(Machine& machine, std::size_t device);
  /// How often that was done.
  unsigned timesDropped(std::size_t device) const {
    const auto found = timesDropped_.find(device);
    return found == timesDropped_.end() ? 0 : found->second;
  }
  /// Whether there is anything on the program's own device beside the program's memory.
  bool hasMoreAtHome(const Machine& machine) const {
    return !relays_.empty() || snapshots_.contains(machine.home());
  }
  /// Gives that up, for the caller to destroy without the lock. Home must have all bytes, and
  /// nobody work there. It is made anew on demand.
  std::shared_ptr<const void> yieldAtHome(const Machine& machine);
  /// The bytes that the copy of `device` has a place for; empty if there is none. Home has all, but
  /// of a pooled one.
  ByteRange holds(const Machine& machine, std::size_t device) const;
  /// Whether `node` has a place for all of `bytes`. The host's memory has, or will have.
  bool hasPlaceFor(const Machine& machine, NodeId node, const ByteSet& bytes) const;
  /// Another number whenever a copy was made or given up, which no other buffer ever has: under the
  /// same number, `argument` answers the same.
  std::uint64_t places() const { return places_; }
  /// The memory by which `device` works on the buffer, and which of its bytes that holds. False if
  /// there is none.
  PlacedMemory on(const Machine& machine, std::size_t device) const;
  /// … as a kernel's argument that is bytes [origin, origin + size) of it. Null if there is no
  /// copy, or no such part of it can be had.
  ArgumentMemory argument(const Machine& machine, std::size_t device, std::size_t origin,
                          std::size_t size);
  /// The way between the copy of `device` and the host's memory; false if there is none. Its
  /// commands belong on that engine's queue alone, whose order keeps the relay in order.
  HostWay wayTo(Machine& machine, std::size_t device, Engine engine);
  /// What copies of `bytes` go by. Of an image they are whole pixels.
  std::vector<Rows> rowsOf(const ByteSet& bytes) const;
  /// The host node's memory: `size()` bytes. Null if there is none and none can be allocated, or if
  /// it is the home buffer's own and its address is not known.
  std::byte* hostMemory(Machine& machine);
  /// Whether there is host memory where what `node` made of `bytes` waits to be merged.
  Room stagingRoom(Machine& machine, NodeId node, const ByteRange& bytes, Provisions& pending);
  /// That memory. Kept for the next launch; work that uses it holds on to the block. Null if there
  /// is none.
  Staging staging(NodeId node, const ByteRange& bytes) const;
  /// Whether there is room on `device` for `bytes` as they are now.
  Room snapshotRoom(Machine& machine, std::size_t device, const ByteRange& bytes,
                    Provisions& pending);
  /// That room. Kept for the next launch. Null if the device has none.
  std::shared_ptr<DeviceSnapshot> snapshot(std::size_t device, const ByteRange& bytes) const;
  /// Merges that may still use the staging memory.
  std::vector<CompletionPtr>& merges() { return merges_; }

private:
  DeviceCopy create(Machine& machine, std::size_t device, const ByteRange& bytes);
  void forgetCopy(std::size_t device);
  static std::uint64_t newPlaces();
  Ref<cl_mem> createImage(const Device& on) const;

  const Dispatch& cl_;
  cl_context context_;
  cl_mem home_;
  std::size_t size_;
  HostAccess access_;
  std::optional<ImageShape> image_;
  std::optional<PooledMemory> pooled_;
  TakenMemory taken_;
  std::atomic<std::size_t>& engagements_;
  std::string homeOnly_;
  bool isReleased_ = false;
  Ref<cl_mem> keepsHome_; ///< while engaged
  std::optional<Directory> directory_;
  Accesses accesses_;
  Journal journal_;
  Forecast forecast_;
  Readers readers_;
  KnownContents contents_;
  std::shared_ptr<AddressSearch> search_;
  std::byte* hostMemory_ = nullptr; ///< the home buffer's own address, or the block's
  std::shared_ptr<HostBlock> hostBlock_;
  bool lacksHostMemory_ = false; ///< there was none; not tried again
  std::map<NodeId, Staging> staging_;
  std::map<std::size_t, std::shared_ptr<DeviceSnapshot>> snapshots_; ///< by device
  std::vector<CompletionPtr> merges_;
  std::map<Engine, Ref<cl_mem>> relays_;     ///< to and from the home buffer, made on first use
  std::map<std::size_t, DeviceCopy> copies_; ///< by device; home only of a pooled one
  std::uint64_t places_ = newPlaces();
  std::set<std::size_t> refusedWhole_; ///< devices
  std::map<std::size_t, unsigned> timesDropped_;
  /// By device, origin and size, of the copy there.
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Ref<cl_mem>> parts_;
};

/// Bytes are wanted that a device had alone when it failed.
struct LostBytes : std::exception {
  const char* what() const noexcept override {
    return "bytes were lost with the device that failed";
  }
};

/// A cl_mem of the application: a buffer, a sub-buffer of one, or something that is neither.
struct MemoryObject {
  Ref<cl_mem> handle;             ///< set in snapshots only: keeps the object while work needs it
  std::shared_ptr<Buffer> buffer; ///< the root buffer; null for images and pipes
  HostAccess access;              ///< a sub-buffer's may be narrower than its parent's
  std::size_t origin = 0;         ///< of a sub-buffer
  std::size_t size = 0;
  bool isImageOver = false; ///< not a buffer, but an image that shares one's bytes
  cl_mem_flags flags = 0;   ///< of a pooled one: as the program gave them
  /// Whether it is one, where there is a `buffer`.
  bool isImage() const { return isImageOver || buffer->isImage(); }
};

} // namespace libsplit::runtime
