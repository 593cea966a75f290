#include "runtime/device/pump.h"

#include "runtime/core/log.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <iterator>
#include <thread>

namespace libsplit::runtime {

namespace {

/// A chunk begins where a device copies to and from fast.
constexpr std::size_t alignment = 64;
/// Pumps at most: two links, both ways at the same time.
constexpr std::size_t mostPumps = 4;
/// More threads do not copy faster.
constexpr unsigned mostThreads = 16;
/// To make a pump takes as long as it takes a driver to copy its memory so often, about: the pages
/// have to exist and to be pinned, and the driver may hold up the program's calls meanwhile.
constexpr std::size_t copiesThatPay = 8;

/// Half of the processors: the program has something to do as well.
unsigned threadsWanted() {
  return std::clamp(std::thread::hardware_concurrency() / 2, 1U, mostThreads);
}

std::size_t chunkOf(std::size_t memory, unsigned threads) {
  return std::max(memory / (std::size_t{2} * threads) / alignment, std::size_t{1}) * alignment;
}

/// Whether everything that is in the queue and that `copy` waits for has been done; if the program
/// did not ask to wait for it, at once. The driver says what is wrong if something is.
bool isItsTurn(const Dispatch& cl, const BulkCopy& copy, bool blocking) {
  constexpr auto atOnce = std::chrono::microseconds(100); // an idle device answers sooner
  if (!blocking && copy.waitCount > 0)
    return false;
  cl_event marker = nullptr;
  if (cl.clEnqueueMarkerWithWaitList(copy.queue, copy.waitCount, copy.waitList, &marker) !=
      CL_SUCCESS)
    return false;
  const auto owned = Ref<cl_event>::adopt(cl, marker);
  if (blocking)
    return cl.clWaitForEvents(1, &marker) == CL_SUCCESS;
  cl.clFlush(copy.queue);
  const auto begin = std::chrono::steady_clock::now();
  cl_int status = CL_QUEUED;
  while (status > CL_COMPLETE && std::chrono::steady_clock::now() - begin < atOnce) {
    std::this_thread::yield();
    status = property<cl_int>(cl.clGetEventInfo, marker, CL_EVENT_COMMAND_EXECUTION_STATUS);
  }
  return status == CL_COMPLETE;
}

/// One of the two parts of a pump's memory that a thread has, and the chunk on its way there.
struct Half {
  std::byte* address = nullptr;
  Ref<cl_event> onItsWay; ///< empty: nothing is
  std::size_t begin = 0, size = 0;
};

} // namespace

BulkCopy BulkCopy::part(std::size_t begin, std::size_t bytes) const {
  BulkCopy part = *this;
  part.offset += begin;
  part.host += begin;
  part.size = bytes;
  part.waitCount = 0;
  part.waitList = nullptr;
  part.event = nullptr;
  return part;
}

cl_int BulkCopy::enqueue(const Dispatch& cl, cl_bool blocking) const {
  return toHost ? cl.clEnqueueReadBuffer(queue, memory, blocking, offset, size, host, waitCount,
                                         waitList, event)
                : cl.clEnqueueWriteBuffer(queue, memory, blocking, offset, size, host, waitCount,
                                          waitList, event);
}

Pump::Pump(const Dispatch& cl, std::shared_ptr<HostBlock> memory, unsigned threads)
    : cl_(cl), memory_(std::move(memory)), threads_(threads),
      chunk_(chunkOf(memory_->size(), threads)) {}

cl_int Pump::copy(const BulkCopy& copy, ThreadTeam& team) const {
  std::atomic<std::size_t> next = 0;
  std::atomic<cl_int> status = CL_SUCCESS;
  auto finish = [&](Half& half) {
    if (!half.onItsWay)
      return;
    const cl_event event = half.onItsWay.get();
    if (const cl_int error = cl_.clWaitForEvents(1, &event); error != CL_SUCCESS)
      status = error;
    else if (copy.toHost)
      std::memcpy(copy.host + half.begin, half.address, half.size);
    half.onItsWay = {};
  };
  auto start = [&](Half& half) {
    if (!copy.toHost)
      std::memcpy(half.address, copy.host + half.begin, half.size);
    BulkCopy chunk = copy.part(half.begin, half.size);
    chunk.host = half.address;
    cl_event event = nullptr;
    chunk.event = &event;
    if (const cl_int error = chunk.enqueue(cl_, false); error != CL_SUCCESS)
      status = error;
    else
      half.onItsWay = Ref<cl_event>::adopt(cl_, event);
    cl_.clFlush(copy.queue);
  };
  const std::size_t chunks = (copy.size + chunk_ - 1) / chunk_;
  team.run(static_cast<unsigned>(std::min<std::size_t>(threads_, chunks)), [&](unsigned thread) {
    std::byte* own = memory_->address() + 2 * thread * chunk_;
    std::array<Half, 2> halves{Half{own}, Half{own + chunk_}};
    for (std::size_t turn = 0;; ++turn) {
      Half& half = halves[turn % 2];
      finish(half);
      const std::size_t index = status == CL_SUCCESS ? next++ : chunks;
      if (index >= chunks) {
        finish(halves[(turn + 1) % 2]);
        return;
      }
      half.begin = index * chunk_;
      half.size = std::min(chunk_, copy.size - half.begin);
      start(half);
    }
  });
  return status;
}

Pumps::Pumps(const Dispatch& cl, std::size_t memory)
    : cl_(cl), threads_(threadsWanted()), memory_(chunkOf(memory, threads_) * 2 * threads_),
      team_(mostThreads) {}

std::optional<Pumps::Kind> Pumps::kindOf(const BulkCopy& copy, bool blocking) const {
  if (!isLarge(copy.size) || !copy.host || !copy.queue || !copy.memory)
    return std::nullopt;
  const auto device =
      property<cl_device_id>(cl_.clGetCommandQueueInfo, copy.queue, CL_QUEUE_DEVICE);
  const auto queueIs = property<cl_command_queue_properties>(cl_.clGetCommandQueueInfo, copy.queue,
                                                             CL_QUEUE_PROPERTIES);
  if (!device || (queueIs & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) ||
      !(property<cl_device_type>(cl_.clGetDeviceInfo, device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU))
    return std::nullopt;
  const auto there = property<std::size_t>(cl_.clGetMemObjectInfo, copy.memory, CL_MEM_SIZE);
  const auto context =
      property<cl_context>(cl_.clGetCommandQueueInfo, copy.queue, CL_QUEUE_CONTEXT);
  if (copy.offset > there || copy.size > there - copy.offset ||
      property<cl_context>(cl_.clGetMemObjectInfo, copy.memory, CL_MEM_CONTEXT) != context ||
      property<cl_mem_object_type>(cl_.clGetMemObjectInfo, copy.memory, CL_MEM_TYPE) !=
          CL_MEM_OBJECT_BUFFER)
    return std::nullopt;
  return Kind{device, copy.toHost, blocking};
}

void Pumps::excludes(const void* address, std::size_t size) {
  if (!address || !isLarge(size))
    return;
  std::lock_guard lock(mutex_);
  std::size_t& known = excluded_[static_cast<const std::byte*>(address)];
  known = std::max(known, size);
}

bool Pumps::isExcluded(const BulkCopy& copy) const {
  std::lock_guard lock(mutex_);
  const auto after = excluded_.lower_bound(copy.host + copy.size);
  return std::any_of(excluded_.begin(), after,
                     [&](const auto& each) { return copy.host < each.first + each.second; });
}

/// One that nobody uses; none: there is none yet, or none is to be.
Pumps::Pinned Pumps::take(const BulkCopy& copy) {
  std::lock_guard lock(mutex_);
  if (!idle_.empty()) {
    Pinned taken = std::move(idle_.back());
    idle_.pop_back();
    return taken;
  }
  if (copied_ < copiesThatPay * memory_ || contexts_.size() == mostPumps)
    return {};
  const auto context =
      property<cl_context>(cl_.clGetCommandQueueInfo, copy.queue, CL_QUEUE_CONTEXT);
  contexts_.push_back(context);
  maker_.post([this, context = Ref<cl_context>::retain(cl_, context)] { make(context); });
  return {};
}

void Pumps::make(const Ref<cl_context>& context) {
  std::shared_ptr<HostBlock> block = HostBlock::reserve(memory_);
  if (!block)
    return; // and it will not be tried again
  block->pin(cl_, context.get());
  giveBack({std::make_unique<Pump>(cl_, std::move(block), threads_), context.get()});
}

void Pumps::giveBack(Pinned pinned) {
  std::lock_guard lock(mutex_);
  // Of a context that is gone by now it goes as well.
  if (std::ranges::find(contexts_, pinned.context) != contexts_.end())
    idle_.push_back(std::move(pinned));
}

void Pumps::forget(cl_context context) {
  std::vector<Pinned> gone; // without the lock: drivers may call the program
  std::lock_guard lock(mutex_);
  std::erase(contexts_, context);
  const auto last = std::ranges::stable_partition(
      idle_, [&](const Pinned& each) { return each.context != context; });
  std::ranges::move(last, std::back_inserter(gone));
  idle_.erase(last.begin(), last.end());
}

void Pumps::stop() {
  maker_.stop(2);
}

CopyRates Pumps::ratesOf(const Kind& kind) {
  std::lock_guard lock(mutex_);
  return rates_.try_emplace(kind, memory_).first->second;
}

/// Of a call that does not block the time that it takes is what counts.
cl_int Pumps::copyBy(CopyRates::Way way, const Pinned& with, const Kind& kind,
                     const BulkCopy& copy) {
  const auto from = std::chrono::steady_clock::now();
  const cl_int status =
      way == CopyRates::Way::Pump ? with.pump->copy(copy, team_) : copy.enqueue(cl_, kind.blocking);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - from;
  std::lock_guard lock(mutex_);
  rates_.at(kind).note(way, copy.size, seconds.count());
  copied_ += copy.size;
  return status;
}

std::optional<cl_int> Pumps::copy(const BulkCopy& copy, bool blocking) {
  using Way = CopyRates::Way;
  const std::optional<Kind> kind = kindOf(copy, blocking);
  if (!kind || isExcluded(copy))
    return std::nullopt;
  CopyRates rates = ratesOf(*kind);
  Pinned with = take(copy);
  auto way = [&] { return with.pump ? rates.next() : Way::Driver; };
  if (!(blocking || way() == Way::Pump) || !isItsTurn(cl_, copy, blocking)) {
    if (with.pump)
      giveBack(std::move(with));
    return blocking ? std::nullopt : std::optional(copyBy(Way::Driver, {}, *kind, copy));
  }
  // The program's event is that of a last, small command.
  constexpr std::size_t lastBytes = 4096;
  const std::size_t end = copy.size - (copy.event ? std::min(lastBytes, copy.size) : 0);
  cl_int status = CL_SUCCESS;
  for (std::size_t begin = 0; begin < end && status == CL_SUCCESS;) {
    if (!with.pump)
      with = take(copy);
    // By pieces, until it is known how the rest goes best. What must not block has been decided.
    const bool all = !blocking || (with.pump && rates.isSettled());
    const std::size_t size = all ? end - begin : std::min(memory_, end - begin);
    status = copyBy(blocking ? way() : Way::Pump, with, *kind, copy.part(begin, size));
    rates = ratesOf(*kind);
    begin += size;
  }
  if (with.pump)
    giveBack(std::move(with));
  if (status == CL_SUCCESS && copy.event) {
    BulkCopy last = copy.part(end, copy.size - end);
    last.event = copy.event;
    status = last.enqueue(cl_, blocking);
  }
  return status;
}

} // namespace libsplit::runtime
