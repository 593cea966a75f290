#include "runtime/device/pump.h"

#include "runtime/core/callback_scope.h"
#include "runtime/core/completion.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>

namespace libsplit::runtime {

namespace {

/// A chunk begins where a device copies to and from fast.
constexpr std::size_t cacheLine = 64;
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
  return std::max(memory / (std::size_t{2} * threads) / cacheLine, std::size_t{1}) * cacheLine;
}

class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

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
    status = executionStatus(cl, marker);
  }
  return status == CL_COMPLETE;
}

/// One of the two parts of a pump's memory that a thread has, and the chunk on its way there.
struct Half {
  std::byte* address = nullptr;
  Ref<cl_event> onItsWay{}; ///< empty: nothing is
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

std::size_t CopyUnderWay::next() const {
  std::lock_guard lock(mutex_);
  return next_;
}

BulkCopy CopyUnderWay::take(std::size_t size, std::size_t until) {
  std::lock_guard lock(mutex_);
  const std::size_t begin = next_;
  next_ = std::max(next_, std::min(begin + size, until));
  taken_ += next_ > begin;
  return copy_.part(begin, next_ - begin);
}

void CopyUnderWay::isEnqueued() {
  std::lock_guard lock(mutex_);
  if (--taken_ == 0)
    enqueued_.notify_all();
}

void CopyUnderWay::hurry() {
  std::unique_lock lock(mutex_);
  const std::size_t begin = std::exchange(next_, copy_.size);
  const bool isFirst = begin < copy_.size; // of those that hurry: the rest is its to enqueue
  isRestDue_ = isRestDue_ || isFirst;
  // A thread that has a part is with the driver or copies. With the driver it may be until a
  // callback returns.
  ++hurrying_;
  if (!CallbackScope::active())
    enqueued_.wait(lock, [&] { return taken_ == 0 && (isFirst || !isRestDue_); });
  if (isFirst) {
    enqueueRest(begin);
    isRestDue_ = false;
  }
  --hurrying_;
  enqueued_.notify_all();
}

void CopyUnderWay::enqueueRest(std::size_t begin) {
  BulkCopy rest = copy_.part(begin, copy_.size - begin);
  if (begin == 0) {
    rest.waitCount = copy_.waitCount;
    rest.waitList = copy_.waitList;
  }
  cl_event event = nullptr;
  rest.event = &event;
  restStatus_ = rest.enqueue(cl_, CL_FALSE);
  if (restStatus_ != CL_SUCCESS)
    return;
  if (copy_.event)
    *copy_.event = event;
  rest_ = copy_.event ? Ref<cl_event>::retain(cl_, event) : Ref<cl_event>::adopt(cl_, event);
  cl_.clFlush(copy_.queue);
}

std::optional<cl_int> CopyUnderWay::finishRest() {
  std::unique_lock lock(mutex_);
  enqueued_.wait(lock, [&] { return hurrying_ == 0; });
  if (!rest_)
    return restStatus_;
  const cl_event event = rest_.get();
  lock.unlock();
  return awaitEvent(cl_, event);
}

void CopyUnderWay::giveUp() {
  if (take(copy_.size, copy_.size).size > 0)
    isEnqueued();
  finishRest();
}

Pump::Pump(const Dispatch& cl, std::shared_ptr<HostBlock> memory, unsigned threads)
    : cl_(cl), memory_(std::move(memory)), threads_(threads),
      chunk_(chunkOf(memory_->size(), threads)) {}

cl_int Pump::copy(CopyUnderWay& underWay, std::size_t until, ThreadTeam& team) const {
  const BulkCopy& copy = underWay.copy();
  std::atomic<cl_int> status = CL_SUCCESS;
  auto finish = [&](Half& half) {
    if (!half.onItsWay)
      return;
    if (const cl_int error = awaitEvent(cl_, half.onItsWay.get()); error != CL_SUCCESS)
      status = error;
    else if (copy.toHost)
      std::memcpy(copy.host + half.begin, half.address, half.size);
    half.onItsWay = {};
  };
  auto start = [&](Half& half, BulkCopy chunk) {
    half.begin = chunk.offset - copy.offset;
    half.size = chunk.size;
    if (!copy.toHost)
      std::memcpy(half.address, chunk.host, half.size);
    chunk.host = half.address;
    cl_event event = nullptr;
    chunk.event = &event;
    if (const cl_int error = chunk.enqueue(cl_, CL_FALSE); error != CL_SUCCESS)
      status = error;
    else
      half.onItsWay = Ref<cl_event>::adopt(cl_, event);
    underWay.isEnqueued();
    cl_.clFlush(copy.queue);
  };
  const std::size_t chunks = (until - std::min(underWay.next(), until) + chunk_ - 1) / chunk_;
  team.run(static_cast<unsigned>(std::min<std::size_t>(threads_, chunks)), [&](unsigned thread) {
    std::byte* own = memory_->address() + 2 * thread * chunk_;
    std::array<Half, 2> halves{Half{own}, Half{own + chunk_}};
    for (std::size_t turn = 0;; ++turn) {
      Half& half = halves[turn % 2];
      finish(half);
      const BulkCopy chunk = underWay.take(status == CL_SUCCESS ? chunk_ : 0, until);
      if (chunk.size == 0) {
        finish(halves[(turn + 1) % 2]);
        return;
      }
      start(half, chunk);
    }
  });
  return status;
}

Pumps::Pumps(const Dispatch& cl, std::size_t memory, CallTable& calls)
    : cl_(cl), threads_(threadsWanted()), memory_(chunkOf(memory, threads_) * 2 * threads_),
      team_(mostThreads), calls_(calls) {}

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
  // What the driver refuses it refuses at once, whatever the queue waits for.
  const auto flags = property<cl_mem_flags>(cl_.clGetMemObjectInfo, copy.memory, CL_MEM_FLAGS);
  const auto bits = property<cl_uint>(cl_.clGetDeviceInfo, device, CL_DEVICE_MEM_BASE_ADDR_ALIGN);
  const cl_mem_flags other = copy.toHost ? CL_MEM_HOST_WRITE_ONLY : CL_MEM_HOST_READ_ONLY;
  if ((flags & (CL_MEM_HOST_NO_ACCESS | other)) ||
      property<std::size_t>(cl_.clGetMemObjectInfo, copy.memory, CL_MEM_OFFSET) %
          std::max(bits / 8, 1U))
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
  if (!maker_.post([this, context = Ref<cl_context>::retain(cl_, context)] { make(context); }))
    contexts_.pop_back(); // another time
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

Pumps::OnItsWay::OnItsWay(Pumps& pumps, const BulkCopy& of)
    : copy(std::make_shared<CopyUnderWay>(pumps.cl_, of)), pumps_(pumps) {
  std::lock_guard lock(pumps_.mutex_);
  pumps_.onTheirWay_.push_back(copy);
  pumps_.underWay_ = pumps_.onTheirWay_.size();
}

Pumps::OnItsWay::~OnItsWay() {
  {
    std::lock_guard lock(pumps_.mutex_);
    std::erase(pumps_.onTheirWay_, copy);
    pumps_.underWay_ = pumps_.onTheirWay_.size();
  }
  copy->giveUp(); // an exception may have ended the call, whose memory and event others still know
}

void Pumps::giveWay(cl_command_queue queue) {
  std::unique_lock lock(mutex_);
  const std::vector<std::shared_ptr<CopyUnderWay>> all = onTheirWay_;
  lock.unlock();
  for (const auto& each : all)
    if (each->copy().queue == queue)
      each->hurry();
}

std::shared_ptr<const void> Pumps::yield(cl_context context) {
  auto yielded = std::make_shared<std::vector<Pinned>>();
  std::lock_guard lock(mutex_);
  const auto last = std::ranges::stable_partition(
      idle_, [&](const Pinned& each) { return each.context != context; });
  std::ranges::move(last, std::back_inserter(*yielded));
  idle_.erase(last.begin(), last.end());
  return yielded->empty() ? nullptr : yielded;
}

std::shared_ptr<const void> Pumps::forget(cl_context context) {
  {
    std::lock_guard lock(mutex_);
    std::erase(contexts_, context);
  }
  return yield(context);
}

void Pumps::stop() {
  maker_.stop(2);
}

CopyRates Pumps::ratesOf(const Kind& kind) {
  std::lock_guard lock(mutex_);
  return rates_.try_emplace(kind, memory_).first->second;
}

void Pumps::note(CopyRates::Way way, const Kind& kind, std::size_t bytes, double seconds) {
  std::lock_guard lock(mutex_);
  rates_.at(kind).note(way, bytes, seconds);
  copied_ += bytes;
}

/// The next bytes of `copy`, up to `until`, if nobody hurries it.
cl_int Pumps::copyBy(CopyRates::Way way, const Pinned& with, const Kind& kind, CopyUnderWay& copy,
                     std::size_t until) {
  const std::size_t begin = copy.next();
  const Stopwatch watch;
  cl_int status = CL_SUCCESS;
  if (way == CopyRates::Way::Pump) {
    status = with.pump->copy(copy, until, team_);
  } else if (const BulkCopy part = copy.take(until, until); part.size > 0) {
    status = part.enqueue(cl_, CL_TRUE);
    copy.isEnqueued();
  }
  // Of one that was hurried it is not known who copied what.
  if (const std::size_t end = copy.next(); end <= until && end > begin)
    note(way, kind, end - begin, watch.seconds());
  return status;
}

/// `copy` when everything before it is over, which of one that does not block is so.
cl_int Pumps::copyInTurn(const Kind& kind, CopyUnderWay& underWay, Pinned& with) {
  using Way = CopyRates::Way;
  const BulkCopy& copy = underWay.copy();
  CopyRates rates = ratesOf(kind);
  // The program's event is that of a last, small command.
  constexpr std::size_t lastBytes = 4096;
  const std::size_t end = copy.size - (copy.event ? std::min(lastBytes, copy.size) : 0);
  cl_int status = CL_SUCCESS;
  for (std::size_t begin = 0; begin < end && status == CL_SUCCESS; begin = underWay.next()) {
    if (!with.pump)
      with = take(copy);
    // By pieces, until it is known how the rest goes best. What must not block has been decided.
    const bool all = !kind.blocking || (with.pump && rates.isSettled());
    const Way way = !kind.blocking ? Way::Pump : with.pump ? rates.next() : Way::Driver;
    status = copyBy(way, with, kind, underWay, all ? end : std::min(begin + memory_, end));
    rates = ratesOf(kind);
  }
  if (status != CL_SUCCESS)
    underWay.take(copy.size, copy.size); // nobody goes on with it
  else if (BulkCopy last = underWay.take(copy.size, copy.size); last.size > 0) {
    last.event = copy.event;
    status = last.enqueue(cl_, kind.blocking ? CL_TRUE : CL_FALSE);
    underWay.isEnqueued();
  }
  const std::optional<cl_int> rest = underWay.finishRest();
  return status == CL_SUCCESS && rest ? *rest : status;
}

std::optional<cl_int> Pumps::copy(const BulkCopy& copy, bool blocking) {
  using Way = CopyRates::Way;
  const std::optional<Kind> kind = kindOf(copy, blocking);
  if (!kind || isExcluded(copy))
    return std::nullopt;
  Pinned with = take(copy);
  const bool wantsPump = with.pump && ratesOf(*kind).next() == Way::Pump;
  std::optional<cl_int> status;
  if (blocking || wantsPump) {
    const OnItsWay underWay(*this, copy);
    if (!calls_.hasOthers(copy.queue) && isItsTurn(cl_, copy, blocking))
      status = copyInTurn(*kind, *underWay.copy, with);
    else if (underWay.copy->take(copy.size, copy.size).size == 0)
      status = underWay.copy->finishRest(); // another thread has enqueued it
    else
      underWay.copy->isEnqueued(); // by the driver, as if nobody had tried
  }
  if (with.pump)
    giveBack(std::move(with));
  if (status || blocking)
    return status;
  // Of a call that does not block the time that it takes is what counts.
  const Stopwatch watch;
  status = copy.enqueue(cl_, CL_FALSE);
  ratesOf(*kind);
  note(Way::Driver, *kind, copy.size, watch.seconds());
  return status;
}

} // namespace libsplit::runtime
