#include "runtime/memory.h"

#include "runtime/log.h"

#include <algorithm>
#include <cstdlib>

namespace libsplit::runtime {

void NodeHazards::collect(bool write, std::vector<CompletionPtr>& after) const {
  after.insert(after.end(), writers_.begin(), writers_.end());
  if (write)
    after.insert(after.end(), readers_.begin(), readers_.end());
}

void NodeHazards::addReader(CompletionPtr reader) {
  std::erase_if(readers_, [](const CompletionPtr& old) { return old->over(); });
  readers_.push_back(std::move(reader));
}

void NodeHazards::addWriter(CompletionPtr writer) {
  std::erase_if(writers_, [](const CompletionPtr& old) { return old->over(); });
  writers_.push_back(std::move(writer));
}

void NodeHazards::setWriters(std::vector<CompletionPtr> writers) {
  writers_ = std::move(writers);
  readers_.clear();
}

bool NodeHazards::idleFor(bool write) const {
  auto over = [](const CompletionPtr& work) { return work->over(); };
  return std::all_of(writers_.begin(), writers_.end(), over) &&
         (!write || std::all_of(readers_.begin(), readers_.end(), over));
}

namespace {

/// Drivers allocate late: an error is wanted now.
cl_int touch(const Dispatch& cl, cl_command_queue queue, cl_mem memory) {
  const unsigned char byte = 0;
  return cl.clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, 1, &byte, 0, nullptr, nullptr);
}

} // namespace

std::shared_ptr<HostBlock> HostBlock::allocate(const Dispatch& cl, Machine& machine,
                                               cl_context context, std::size_t size) {
  auto block = std::make_shared<HostBlock>();
  block->size_ = size;
  // One context's pinned memory serves all.
  for (std::size_t i = 0; i < machine.devices().size(); ++i) {
    if (!machine.devices()[i].isGpu)
      continue;
    cl_int error = CL_SUCCESS;
    auto pinned = Ref<cl_mem>::adopt(
        cl, cl.clCreateBuffer(machine.contextOf(i, context),
                              CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size, nullptr, &error));
    if (error != CL_SUCCESS)
      break;
    void* address =
        cl.clEnqueueMapBuffer(machine.idleQueueOf(i, context), pinned.get(), CL_TRUE,
                              CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, nullptr, nullptr, &error);
    if (error != CL_SUCCESS || !address)
      break;
    block->pinned_ = std::move(pinned);
    block->address_ = static_cast<std::byte*>(address);
    return block;
  }
  constexpr std::size_t page = 4096;
  void* memory = std::aligned_alloc(page, (size + page - 1) / page * page);
  block->owned_ = {static_cast<std::byte*>(memory), std::free};
  block->address_ = static_cast<std::byte*>(memory);
  return memory ? block : nullptr;
}

Buffer::~Buffer() {
  // Copies over host memory go before the memory does.
  snapshots_.clear();
  parts_.clear();
  copies_.clear();
  if (directory_)
    --engagements_;
}

void Buffer::engage(Machine& machine) {
  if (directory_)
    return;
  keepsHome_ = Ref<cl_mem>::retain(cl_, home_);
  directory_.emplace(machine.nodes(), machine.homeDevice().node, size_);
  ++engagements_;
  hazards_.resize(machine.nodes());
}

std::shared_ptr<AddressSearch> Buffer::addressSearch(Machine& machine) {
  if (hostMemory_ || machine.homeDevice().node != hostNode)
    return nullptr;
  if (!search_) {
    search_ = std::make_shared<AddressSearch>(cl_);
    if (property<cl_mem_flags>(cl_.clGetMemObjectInfo, home_, CL_MEM_FLAGS) & CL_MEM_USE_HOST_PTR) {
      search_->address = property<std::byte*>(cl_.clGetMemObjectInfo, home_, CL_MEM_HOST_PTR);
      search_->done->finish(CL_SUCCESS);
    }
  }
  if (!search_->done->over())
    return search_;
  hostMemory_ = search_->address;
  return nullptr;
}

KnownContents& Buffer::contents() {
  if (contents_.version != directory_->version())
    contents_ = {directory_->version(), {}, {}};
  return contents_;
}

std::byte* Buffer::hostMemory(Machine& machine) {
  if (hostMemory_ || machine.homeDevice().node == hostNode)
    return hostMemory_;
  hostBlock_ = HostBlock::allocate(cl_, machine, context_, size_);
  if (hostBlock_)
    hostMemory_ = hostBlock_->address();
  else
    log(LogLevel::Warn, "no host memory for a buffer of ", size_, " bytes");
  return hostMemory_;
}

Staging Buffer::staging(Machine& machine, NodeId node, const ByteRange& bytes) {
  Staging& staging = staging_[node];
  if (!staging.covers(bytes)) {
    staging = {HostBlock::allocate(cl_, machine, context_, bytes.size()), bytes.begin};
    if (!staging)
      log(LogLevel::Info, "no host memory to merge ", bytes.size(), " bytes");
  }
  return staging;
}

std::shared_ptr<DeviceSnapshot> Buffer::snapshot(Machine& machine, std::size_t device,
                                                 const ByteRange& bytes) {
  std::shared_ptr<DeviceSnapshot>& kept = snapshots_[device];
  if (kept && kept->begin <= bytes.begin && bytes.end <= kept->end)
    return kept;
  auto made = std::make_shared<DeviceSnapshot>();
  made->begin = bytes.begin;
  made->end = bytes.end;
  auto room = [&](std::uint64_t size) -> Ref<cl_mem> {
    cl_int error = CL_SUCCESS;
    auto memory =
        Ref<cl_mem>::adopt(cl_, cl_.clCreateBuffer(machine.contextOf(device, context_),
                                                   CL_MEM_READ_WRITE, size, nullptr, &error));
    if (error == CL_SUCCESS && machine.devices()[device].isGpu)
      error = touch(cl_, machine.idleQueueOf(device, context_), memory.get());
    return error == CL_SUCCESS ? memory : Ref<cl_mem>();
  };
  made->bytes = room(bytes.size());
  made->flags = room((bytes.size() / comparedBlock + 1) * sizeof(cl_uint));
  kept = made->bytes && made->flags ? std::move(made) : nullptr;
  return kept;
}

Ref<cl_mem> Buffer::create(Machine& machine, std::size_t device) {
  const Device& on = machine.devices()[device];
  cl_mem_flags flags = CL_MEM_READ_WRITE;
  void* memory = nullptr;
  if (on.node == hostNode) {
    memory = hostMemory(machine);
    if (!memory)
      return {};
    flags |= CL_MEM_USE_HOST_PTR;
  }
  cl_int error = CL_SUCCESS;
  auto copy =
      Ref<cl_mem>::adopt(cl_, cl_.clCreateBuffer(on.context.get(), flags, size_, memory, &error));
  if (error == CL_SUCCESS && on.isGpu)
    error = touch(cl_, machine.idleQueueOf(device, context_), copy.get());
  if (error == CL_SUCCESS)
    return copy;
  log(LogLevel::Info, "device ", on.label, " has no room for a buffer of ", size_, " bytes (error ",
      error, ")");
  return {};
}

cl_mem Buffer::on(Machine& machine, std::size_t device, std::size_t origin, std::size_t size) {
  cl_mem whole = home_;
  if (device != machine.home()) {
    Ref<cl_mem>& copy = copies_[device];
    if (!copy)
      copy = create(machine, device);
    whole = copy.get();
  }
  if (!whole || (origin == 0 && size == size_))
    return whole;
  Ref<cl_mem>& part = parts_[{device, origin, size}];
  if (!part) {
    cl_buffer_region region{origin, size};
    cl_int error = CL_SUCCESS;
    part = Ref<cl_mem>::adopt(cl_,
                              cl_.clCreateSubBuffer(whole, CL_MEM_READ_WRITE,
                                                    CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
  }
  return part.get();
}

namespace {

/// Rows of equal length at equal distance, as the rect commands take them.
struct Rows {
  std::uint64_t first = 0, length = 0, pitch = 0, count = 0;
};

std::optional<Rows> asRows(const std::vector<ByteRange>& ranges) {
  Rows rows{ranges[0].begin, ranges[0].size(), 0, ranges.size()};
  if (ranges.size() < 2)
    return std::nullopt;
  rows.pitch = ranges[1].begin - ranges[0].begin;
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].size() != rows.length || ranges[i].begin - ranges[i - 1].begin != rows.pitch)
      return std::nullopt;
  return rows;
}

} // namespace

cl_int copyBytes(const Dispatch& cl, cl_command_queue queue, cl_mem buffer, std::byte* host,
                 const ByteSet& bytes, bool toHost, Completion& done, cl_event* last) {
  const auto& ranges = bytes.ranges();
  std::size_t next = 0; // range
  cl_int status = CL_SUCCESS;
  // The event that the next command should give, unless it is one between the first and the last.
  cl_event first = nullptr;
  auto eventOf = [&](bool isFirst, bool isLast) {
    return isLast ? last : isFirst ? &first : nullptr;
  };
  auto rows = ranges.empty() ? std::nullopt : asRows(ranges);
  // The rect commands want the last row's pitch inside the buffer too: all but the last row go so.
  if (rows && rows->count > 2 && rows->first % rows->pitch + rows->length <= rows->pitch) {
    std::size_t origin[3] = {rows->first % rows->pitch, rows->first / rows->pitch, 0};
    std::size_t region[3] = {rows->length, rows->count - 1, 1};
    status = toHost ? cl.clEnqueueReadBufferRect(queue, buffer, CL_FALSE, origin, origin, region,
                                                 rows->pitch, 0, rows->pitch, 0, host, 0, nullptr,
                                                 eventOf(true, false))
                    : cl.clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, origin, origin, region,
                                                  rows->pitch, 0, rows->pitch, 0, host, 0, nullptr,
                                                  eventOf(true, false));
    next = ranges.size() - 1;
  }
  for (; next < ranges.size() && status == CL_SUCCESS; ++next) {
    const ByteRange& range = ranges[next];
    cl_event* event = eventOf(next == 0, next + 1 == ranges.size());
    status = toHost ? cl.clEnqueueReadBuffer(queue, buffer, CL_FALSE, range.begin, range.size(),
                                             host + range.begin, 0, nullptr, event)
                    : cl.clEnqueueWriteBuffer(queue, buffer, CL_FALSE, range.begin, range.size(),
                                              host + range.begin, 0, nullptr, event);
  }
  if (first)
    done.begin(Ref<cl_event>::adopt(cl, first));
  return status;
}

} // namespace libsplit::runtime
