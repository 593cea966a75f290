#include "runtime/device/memory.h"

#include "runtime/core/log.h"

#include <algorithm>
#include <bit>

namespace libsplit::runtime {

namespace {

/// Drivers allocate late: an error is wanted before anything uses the memory.
std::shared_ptr<Provision> touching(const Dispatch& cl, cl_command_queue queue,
                                    std::vector<Ref<cl_mem>> memory) {
  return std::make_shared<Provision>(
      cl, [&cl, queue = Ref<cl_command_queue>::retain(cl, queue), memory = std::move(memory)] {
        const unsigned char byte = 0;
        cl_int status = CL_SUCCESS;
        for (const Ref<cl_mem>& each : memory)
          if (status == CL_SUCCESS)
            status = cl.clEnqueueWriteBuffer(queue.get(), each.get(), CL_TRUE, 0, 1, &byte, 0,
                                             nullptr, nullptr);
        return status;
      });
}

} // namespace

Buffer::~Buffer() {
  // Copies over host memory go before the memory does.
  snapshots_.clear();
  parts_.clear();
  copies_.clear();
  relays_.clear();
  if (directory_)
    --engagements_;
}

void Buffer::settle() {
  journal_.settle(*directory_);
  accesses_.forget();
  merges_.clear(); // what failed must not spoil the next
}

void Buffer::engage(Machine& machine) {
  if (directory_)
    return;
  keepsHome_ = Ref<cl_mem>::retain(cl_, home_);
  directory_.emplace(machine.nodes(), ownNode(machine), size_);
  ++engagements_;
}

bool Buffer::mayBeLetGo(const Machine& machine) const {
  const bool isSoughtFor = search_ && search_->issued && !search_->done->over();
  const bool isKnown = !contents_.tables.empty() || !contents_.onHost.empty();
  if (!engaged() || pooled_ || !maps.empty() || isSoughtFor || isKnown ||
      !directory_->isValid(ownNode(machine), ByteSet(0, size_)))
    return false;
  std::vector<CompletionPtr> pending = merges_;
  journal_.collect(pending);
  for (NodeId node = 0; node < machine.nodes(); ++node)
    accesses_.collectAll(node, pending);
  return std::ranges::all_of(
      pending, [](const CompletionPtr& each) { return each->poll() && each->succeeded(); });
}

std::shared_ptr<const void> Buffer::letGo() {
  struct Given { // copies over host memory go before the memory does
    Ref<cl_mem> home;
    std::shared_ptr<HostBlock> block;
    std::map<NodeId, Staging> staging;
    std::map<Engine, Ref<cl_mem>> relays;
    std::map<std::size_t, DeviceCopy> copies;
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Ref<cl_mem>> parts;
    std::map<std::size_t, std::shared_ptr<DeviceSnapshot>> snapshots;
    std::vector<CompletionPtr> merges;
  };
  auto given = std::make_shared<Given>();
  if (hostBlock_)
    hostMemory_ = nullptr; // else it is home's own
  given->home = std::exchange(keepsHome_, {});
  given->block = std::exchange(hostBlock_, nullptr);
  given->staging.swap(staging_);
  given->relays.swap(relays_);
  given->copies.swap(copies_);
  given->parts.swap(parts_);
  given->snapshots.swap(snapshots_);
  given->merges.swap(merges_);
  directory_.reset();
  accesses_ = {};
  journal_ = {};
  forecast_ = {};
  readers_ = {};
  contents_ = {};
  nativeWrites.clear();
  unbooked = {};
  places_ = newPlaces();
  --engagements_;
  return given;
}

std::uint64_t Buffer::bytesElsewhere(const Machine& machine) const {
  std::uint64_t bytes = hostBlock_ ? size_ : 0;
  for (const auto& [device, copy] : copies_) // those in the host's memory are the block, or home's
    if (machine.devices()[device].node != hostNode)
      bytes += copy.holds.size();
  for (const auto& [device, snapshot] : snapshots_)
    bytes += snapshot ? snapshot->end - snapshot->begin : 0;
  for (const auto& [node, staging] : staging_)
    bytes += staging.block ? staging.block->size() : 0;
  return bytes;
}

std::vector<Directory::NeededMove> Buffer::bringAll(std::span<const Directory::Need> needs) {
  for (const Directory::Need& each : needs) {
    forecast_.wanted(each.node, *each.bytes,
                     [&](const ByteSet& bytes) { return accesses_.arrives(each.node, bytes); });
    readers_.wanted(each.node, *each.bytes);
  }
  std::vector<Directory::NeededMove> moves = directory_->bringAll(needs);
  for (const Directory::NeededMove& each : moves)
    forecast_.moved(each.move);
  return moves;
}

void Buffer::wrote(NodeId node, const ByteSet& bytes) {
  directory_->wrote(node, bytes);
  forecast_.wrote(node, bytes);
}

std::shared_ptr<AddressSearch> Buffer::addressSearch(Machine& machine) {
  if (hostMemory_ || machine.homeDevice().node != hostNode)
    return nullptr;
  if (!search_) {
    search_ = std::make_shared<AddressSearch>(cl_);
    if (isInProgramsMemory()) {
      search_->address = property<std::byte*>(cl_.clGetMemObjectInfo, home_, CL_MEM_HOST_PTR);
      search_->done->finish(CL_SUCCESS);
    }
  }
  if (!search_->done->over())
    return search_;
  hostMemory_ = search_->address;
  return nullptr;
}

bool Buffer::isInProgramsMemory() const {
  if (pooled_)
    return !pooled_->block;
  return (property<cl_mem_flags>(cl_.clGetMemObjectInfo, home_, CL_MEM_FLAGS) &
          CL_MEM_USE_HOST_PTR) != 0;
}

KnownContents& Buffer::contents() {
  if (contents_.version != directory_->version())
    contents_ = {directory_->version(), {}, {}};
  return contents_;
}

std::byte* Buffer::hostMemory(Machine& machine) {
  if (hostMemory_ || lacksHostMemory_ || machine.homeDevice().node == hostNode)
    return hostMemory_;
  hostBlock_ = HostBlock::reserve(size_);
  lacksHostMemory_ = !hostBlock_;
  if (lacksHostMemory_)
    log(LogLevel::Warn, "no host memory for a buffer of ", size_, " bytes");
  else
    hostMemory_ = hostBlock_->address();
  return hostMemory_;
}

Room Buffer::stagingRoom(Machine& machine, NodeId node, const ByteRange& bytes,
                         Provisions& pending) {
  Staging& staging = staging_[node];
  if (!staging.covers(bytes)) {
    HostMemory memory = machine.transferMemory(bytes.size(), context_);
    staging = {std::move(memory.block), bytes.begin, std::move(memory.provision)};
    if (!staging) {
      log(LogLevel::Info, "no host memory to merge ", bytes.size(), " bytes");
      return Room::None;
    }
  }
  return readyRoomOf(staging.provision, pending);
}

Staging Buffer::staging(NodeId node, const ByteRange& bytes) const {
  const auto found = staging_.find(node);
  return found != staging_.end() && found->second.covers(bytes) ? found->second : Staging();
}

Room Buffer::snapshotRoom(Machine& machine, std::size_t device, const ByteRange& bytes,
                          Provisions& pending) {
  std::shared_ptr<DeviceSnapshot>& kept = snapshots_[device];
  if (!kept || !kept->covers(bytes)) {
    kept = std::make_shared<DeviceSnapshot>();
    kept->begin = bytes.begin;
    kept->end = bytes.end;
    auto room = [&](std::uint64_t size) -> Ref<cl_mem> {
      cl_int error = CL_SUCCESS;
      auto memory =
          Ref<cl_mem>::adopt(cl_, cl_.clCreateBuffer(machine.contextOf(device, context_),
                                                     CL_MEM_READ_WRITE, size, nullptr, &error));
      return error == CL_SUCCESS ? memory : Ref<cl_mem>();
    };
    kept->bytes = room(bytes.size());
    kept->flags = room((bytes.size() / comparedBlock + 1) * sizeof(cl_uint));
    if (kept->bytes && kept->flags && machine.devices()[device].isGpu)
      kept->provision =
          touching(cl_, machine.idleQueueOf(device, context_), {kept->bytes, kept->flags});
  }
  const Room room = kept->bytes && kept->flags ? roomOf(kept->provision, pending) : Room::None;
  if (room == Room::None)
    kept = nullptr;
  return room;
}

std::shared_ptr<DeviceSnapshot> Buffer::snapshot(std::size_t device, const ByteRange& bytes) const {
  const auto found = snapshots_.find(device);
  return found != snapshots_.end() && found->second && found->second->covers(bytes) ? found->second
                                                                                    : nullptr;
}

ImageShape ImageShape::asked(const Dispatch& cl, cl_mem image) {
  ImageShape shape;
  auto get = [&](cl_image_info name) {
    return property<std::size_t>(cl.clGetImageInfo, image, name);
  };
  shape.format = property<cl_image_format>(cl.clGetImageInfo, image, CL_IMAGE_FORMAT);
  cl_image_desc& as = shape.description;
  as.image_type = property<cl_mem_object_type>(cl.clGetMemObjectInfo, image, CL_MEM_TYPE);
  as.image_width = shape.region[0] = get(CL_IMAGE_WIDTH);
  switch (as.image_type) {
  case CL_MEM_OBJECT_IMAGE1D_ARRAY:
    as.image_array_size = shape.region[1] = get(CL_IMAGE_ARRAY_SIZE);
    break;
  case CL_MEM_OBJECT_IMAGE2D:
    as.image_height = shape.region[1] = get(CL_IMAGE_HEIGHT);
    break;
  case CL_MEM_OBJECT_IMAGE2D_ARRAY:
    as.image_height = shape.region[1] = get(CL_IMAGE_HEIGHT);
    as.image_array_size = shape.region[2] = get(CL_IMAGE_ARRAY_SIZE);
    break;
  case CL_MEM_OBJECT_IMAGE3D:
    as.image_height = shape.region[1] = get(CL_IMAGE_HEIGHT);
    as.image_depth = shape.region[2] = get(CL_IMAGE_DEPTH);
    break;
  default:
    break;
  }
  const std::size_t pixel = get(CL_IMAGE_ELEMENT_SIZE);
  shape.bytes = pixel * shape.region[0] * shape.region[1] * shape.region[2];
  shape.numbers = {pixel, {shape.region[0], shape.region[1], shape.region[2]}};
  return shape;
}

std::optional<ImageShape> ImageShape::of(const Dispatch& cl, cl_mem image) {
  constexpr cl_mem_object_type followed[] = {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY,
                                             CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
                                             CL_MEM_OBJECT_IMAGE3D};
  const ImageShape shape = asked(cl, image);
  if (std::ranges::find(followed, shape.description.image_type) == std::end(followed))
    return std::nullopt;
  const std::uint64_t pixel = shape.numbers.pixel;
  const bool isPlain = std::has_single_bit(pixel) && pixel <= largestPixel &&
                       property<cl_uint>(cl.clGetImageInfo, image, CL_IMAGE_NUM_MIP_LEVELS) < 2 &&
                       property<cl_uint>(cl.clGetImageInfo, image, CL_IMAGE_NUM_SAMPLES) < 2;
  return isPlain && shape.bytes > 0 ? std::optional(shape) : std::nullopt;
}

Ref<cl_mem> Buffer::createImage(const Device& on) const {
  cl_int error = CL_SUCCESS;
  auto copy = Ref<cl_mem>::adopt(cl_, cl_.clCreateImage(on.context.get(), CL_MEM_READ_WRITE,
                                                        &image_->format, &image_->description,
                                                        nullptr, &error));
  if (error == CL_SUCCESS)
    return copy;
  log(LogLevel::Info, "device ", on.label, " has no such image (error ", error, ")");
  return {};
}

DeviceCopy Buffer::create(Machine& machine, std::size_t device, const ByteRange& bytes) {
  const Device& on = machine.devices()[device];
  if (image_)
    return {createImage(on), nullptr, bytes, {on.copied, bytes.size()}};
  cl_mem_flags flags = CL_MEM_READ_WRITE;
  void* memory = nullptr;
  if (on.node == hostNode) {
    memory = hostMemory(machine);
    if (!memory)
      return {};
    flags |= CL_MEM_USE_HOST_PTR;
  }
  cl_int error = CL_SUCCESS;
  DeviceCopy copy;
  copy.memory = Ref<cl_mem>::adopt(cl_, cl_.clCreateBuffer(machine.contextOf(device, context_),
                                                           flags, bytes.size(), memory, &error));
  if (error != CL_SUCCESS)
    return {};
  copy.holds = bytes;
  copy.taken = {on.copied, bytes.size()};
  if (bytes.size() < size_)
    log(LogLevel::Info, "device ", on.label, " holds bytes [", bytes.begin, ",", bytes.end,
        ") of a buffer of ", size_, " bytes");
  if (on.isGpu)
    copy.provision = touching(cl_, machine.idleQueueOf(device, context_), {copy.memory});
  return copy;
}

Room Buffer::roomOn(Machine& machine, std::size_t device, const ByteRange& bytes,
                    Provisions& pending) {
  if (!isCopiedTo(machine, device))
    return Room::There;
  DeviceCopy& copy = copies_[device];
  if (!copy.memory) {
    copy = create(machine, device, bytes);
    places_ = newPlaces();
  }
  const Room room = copy.memory ? roomOf(copy.provision, pending) : Room::None;
  if (room == Room::None) {
    forgetCopy(device);
    const bool isWhole = bytes.size() == size_;
    if (isWhole)
      refusedWhole_.insert(device);
    log(LogLevel::Info, "device ", machine.devices()[device].label, " has no room for ",
        isImage() ? "an image of "
        : isWhole ? "a buffer of "
                  : "a part of a buffer, ",
        bytes.size(), " bytes");
  }
  return room;
}

void Buffer::forgetCopy(std::size_t device) {
  std::erase_if(parts_, [&](const auto& each) { return std::get<0>(each.first) == device; });
  copies_.erase(device);
  places_ = newPlaces();
}

std::uint64_t Buffer::newPlaces() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void Buffer::drop(Machine& machine, std::size_t device) {
  const NodeId node = machine.devices()[device].node;
  // Should something else fail, what arrived there once must not count again.
  const ByteSet all(0, size_);
  journal_.note(directory_->state(), Journal::Effect::Spoils, node, all, {});
  directory_->spoiled(node, all);
  forgetCopy(device);
  ++timesDropped_[device];
}

std::shared_ptr<const void> Buffer::yieldAtHome(const Machine& machine) {
  struct Given {
    std::map<Engine, Ref<cl_mem>> relays;
    std::shared_ptr<DeviceSnapshot> snapshot;
  };
  auto given = std::make_shared<Given>();
  given->relays.swap(relays_);
  if (const auto found = snapshots_.find(machine.home()); found != snapshots_.end()) {
    given->snapshot = std::move(found->second);
    snapshots_.erase(found);
  }
  places_ = newPlaces(); // who asks under the old number takes the relays to be there
  return given;
}

ByteRange Buffer::holds(const Machine& machine, std::size_t device) const {
  if (!isCopiedTo(machine, device))
    return {0, size_};
  const auto found = copies_.find(device);
  return found == copies_.end() || !found->second.memory ? ByteRange() : found->second.holds;
}

bool Buffer::hasPlaceFor(const Machine& machine, NodeId node, const ByteSet& bytes) const {
  if (node == hostNode || bytes.empty())
    return true;
  const std::size_t device = machine.deviceOfNode(node);
  // What it was made with may still be on its way, and comes in no order with other work.
  if (const auto found = copies_.find(device); found != copies_.end() && found->second.provision &&
                                               !found->second.provision->done()->succeeded())
    return false;
  const ByteRange held = holds(machine, device), hull = bytes.hull();
  return held.begin <= hull.begin && hull.end <= held.end;
}

PlacedMemory Buffer::on(const Machine& machine, std::size_t device) const {
  if (!isCopiedTo(machine, device))
    return {home_, 0};
  const auto found = copies_.find(device);
  return found == copies_.end()
             ? PlacedMemory()
             : PlacedMemory{found->second.memory.get(), found->second.holds.begin};
}

ArgumentMemory Buffer::argument(const Machine& machine, std::size_t device, std::size_t origin,
                                std::size_t size) {
  const auto [whole, begin] = on(machine, device);
  if (whole && holds(machine, device).size() < size_)
    return {whole, begin - origin};
  if (!whole || (origin == 0 && size == size_))
    return {whole, 0};
  Ref<cl_mem>& part = parts_[{device, origin, size}];
  if (!part) {
    cl_buffer_region region{origin, size};
    cl_int error = CL_SUCCESS;
    part = Ref<cl_mem>::adopt(cl_,
                              cl_.clCreateSubBuffer(whole, 0, // what the whole allows
                                                    CL_BUFFER_CREATE_TYPE_REGION, &region, &error),
                              whole);
  }
  return {part.get(), 0};
}

HostWay Buffer::wayTo(Machine& machine, std::size_t device, Engine engine) {
  // What the host may do itself needs no relay, for which there may be no memory.
  const bool isAllowed = engine == Engine::CopyOut  ? access_.reads
                         : engine == Engine::CopyIn ? access_.writes
                                                    : access_.isFull();
  if (isCopiedTo(machine, device) || isAllowed) {
    const auto [memory, begin] = on(machine, device);
    HostWay way{.memory = memory, .begin = begin};
    way.hostRows = machine.devices()[device].quirks.hostRows;
    if (image_)
      way.image = image_->layout();
    return way;
  }
  constexpr std::size_t mostRelayed = 8 << 20; // a buffer should not take twice its memory
  const std::size_t size = std::min(size_, mostRelayed);
  Ref<cl_mem>& relay = relays_[engine];
  if (!relay) {
    cl_int error = CL_SUCCESS;
    relay = Ref<cl_mem>::adopt(
        cl_, cl_.clCreateBuffer(context_, CL_MEM_READ_WRITE, size, nullptr, &error));
  }
  return {home_, access_, relay.get(), size, {}, machine.homeDevice().quirks.hostRows};
}

std::vector<Rows> Buffer::rowsOf(const ByteSet& bytes) const {
  if (!image_)
    return asRows(bytes);
  return asRows(bytes, image_->layout());
}

} // namespace libsplit::runtime
