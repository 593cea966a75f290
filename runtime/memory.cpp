#include "runtime/memory.h"

#include "runtime/log.h"
#include "runtime/strided_rows.h"

#include <algorithm>
#include <cstdlib>

namespace libsplit::runtime {

namespace {

bool isOver(const CompletionPtr& work) {
  return work->over();
}

/// Of work that failed others must still learn, until a recovery has dealt with it.
bool succeeded(const CompletionPtr& work) {
  return work->succeeded();
}

} // namespace

void NodeHazards::collect(bool write, std::vector<CompletionPtr>& after) const {
  after.insert(after.end(), writers_.begin(), writers_.end());
  if (write)
    after.insert(after.end(), readers_.begin(), readers_.end());
}

void NodeHazards::forgetOver() {
  std::erase_if(readers_, isOver);
  std::erase_if(writers_, isOver);
}

void NodeHazards::addReader(CompletionPtr reader) {
  std::erase_if(readers_, succeeded);
  readers_.push_back(std::move(reader));
}

void NodeHazards::addWriter(CompletionPtr writer) {
  std::erase_if(writers_, succeeded);
  writers_.push_back(std::move(writer));
}

void NodeHazards::setWriters(std::vector<CompletionPtr> writers) {
  writers_ = std::move(writers);
  readers_.clear();
}

bool NodeHazards::idleFor(bool write) const {
  return std::all_of(writers_.begin(), writers_.end(), succeeded) &&
         (!write || std::all_of(readers_.begin(), readers_.end(), succeeded));
}

namespace {

/// Drivers allocate late: an error is wanted now.
cl_int touch(const Dispatch& cl, cl_command_queue queue, cl_mem memory) {
  const unsigned char byte = 0;
  return cl.clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, 1, &byte, 0, nullptr, nullptr);
}

} // namespace

Buffer::~Buffer() {
  // Copies over host memory go before the memory does.
  snapshots_.clear();
  parts_.clear();
  copies_.clear();
  if (directory_)
    --engagements_;
}

void Buffer::collectElsewhere(NodeId node, const ByteSet& bytes,
                              std::vector<CompletionPtr>& after) {
  for (const UnfinishedAccess& access : accesses_)
    if (access.node != node && (bytes.intersects(access.needs) || bytes.intersects(access.changes)))
      after.push_back(access.done);
}

void Buffer::addAccess(UnfinishedAccess access) {
  if (hazards_.size() < 2)
    return;
  std::erase_if(accesses_, [](const UnfinishedAccess& each) { return succeeded(each.done); });
  accesses_.push_back(std::move(access));
}

void Buffer::settle() {
  journal_.settle(*directory_);
  accesses_.clear();
  for (NodeHazards& hazards : hazards_)
    hazards.forgetOver();
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

std::shared_ptr<HostBlock> Buffer::reserveHostMemory(const Machine& machine) {
  if (hostMemory_ || lacksHostMemory_ || machine.homeDevice().node == hostNode)
    return nullptr;
  if (!hostBlock_)
    hostBlock_ = HostBlock::reserve(size_, machine.hasGpu(), machine.promisedMemory());
  lacksHostMemory_ = !hostBlock_;
  if (lacksHostMemory_)
    log(LogLevel::Warn, "no host memory for a buffer of ", size_, " bytes");
  return hostBlock_;
}

std::byte* Buffer::hostMemory(Machine& machine) {
  if (const std::shared_ptr<HostBlock> block = reserveHostMemory(machine)) {
    block->makeReady(cl_, machine, context_);
    hostMemory_ = block->address();
  }
  return hostMemory_;
}

double Buffer::secondsToHostMemory(const Machine& machine) const {
  if (hostMemory_ || lacksHostMemory_ || machine.homeDevice().node == hostNode)
    return 0;
  return hostBlock_ ? hostBlock_->secondsToReady()
                    : HostBlock::secondsToReady(size_, machine.hasGpu());
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

cl_int copyBytes(const Dispatch& cl, cl_command_queue queue, cl_mem buffer, std::byte* host,
                 const ByteSet& bytes, bool toHost, Completion& done, cl_event* last) {
  // The rect commands want the last row's pitch inside the buffer too: the last row goes by itself.
  std::vector<Rows> commands;
  for (Rows rows : asRows(bytes)) {
    const bool fits = rows.count > 2 && rows.first % rows.pitch + rows.length <= rows.pitch;
    if (fits)
      commands.push_back({rows.first, rows.length, rows.pitch, rows.count - 1});
    for (std::uint64_t k = fits ? rows.count - 1 : 0; k < rows.count; ++k)
      commands.push_back({rows.first + k * rows.pitch, rows.length, 0, 1});
  }
  cl_int status = CL_SUCCESS;
  for (std::size_t i = 0; i < commands.size() && status == CL_SUCCESS; ++i) {
    const Rows& rows = commands[i];
    cl_event before = nullptr;
    cl_event* event = i + 1 == commands.size() ? last : &before;
    if (rows.count > 1) {
      std::size_t origin[3] = {rows.first % rows.pitch, rows.first / rows.pitch, 0};
      std::size_t region[3] = {rows.length, rows.count, 1};
      status =
          toHost
              ? cl.clEnqueueReadBufferRect(queue, buffer, CL_FALSE, origin, origin, region,
                                           rows.pitch, 0, rows.pitch, 0, host, 0, nullptr, event)
              : cl.clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, origin, origin, region,
                                            rows.pitch, 0, rows.pitch, 0, host, 0, nullptr, event);
    } else {
      status = toHost ? cl.clEnqueueReadBuffer(queue, buffer, CL_FALSE, rows.first, rows.length,
                                               host + rows.first, 0, nullptr, event)
                      : cl.clEnqueueWriteBuffer(queue, buffer, CL_FALSE, rows.first, rows.length,
                                                host + rows.first, 0, nullptr, event);
    }
    if (before)
      done.precede(Ref<cl_event>::adopt(cl, before));
  }
  return status;
}

} // namespace libsplit::runtime
