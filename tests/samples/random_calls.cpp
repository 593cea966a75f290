// Random calls on shared buffers, drawn from a seed (--size): launches of many kinds, transfers,
// maps, fills, copies, sub-buffers, three queues one of which is out of order, events between them,
// objects that are given up while commands use them. The program orders what touches the same
// buffer, and nothing else; so its result is one.
//
// --variant N: N threads do so at once. Each has a queue of its own, and all have two in common.
// In each phase a buffer is one thread's, or all may read it; parts of one large buffer are a
// thread's for ever. Threads meet between phases, but do not wait for commands: what a thread
// enqueues waits for events of other threads'. They ask after such events, too, hold commands back
// by user events, have themselves called when a command is over, and build programs.
#include "kernels/random_calls.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

namespace {

constexpr std::size_t elements = 1 << 13; // of a buffer; a power of two
constexpr std::size_t partElements = elements / 4;
constexpr unsigned phases = 4;
constexpr unsigned nobody = ~0U;

struct Pending {
  cl_event event = nullptr; // kept by the thread that enqueued the command
  unsigned queue = 0;
  bool writes = false;
};

/// A buffer, a part of it, and what was enqueued on either.
struct Shared {
  sample::Memory whole, part;
  std::vector<Pending> pending;
  unsigned owner = nobody; ///< the thread that may write it in this phase
  bool isSlice = false;    ///< it has no parts, and its owner stays
};

/// A view of a buffer that a command uses.
struct View {
  Shared* shared = nullptr;
  cl_mem memory = nullptr;
  std::size_t size = 0; // elements
};

sample::Memory part(cl_mem whole, std::size_t begin, std::size_t count) {
  const cl_buffer_region region{begin * sizeof(cl_uint), count * sizeof(cl_uint)};
  cl_int error = CL_SUCCESS;
  sample::Memory made =
      clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  sample::check(error, "clCreateSubBuffer");
  return made;
}

/// What all threads use.
struct Common {
  Common(sample::Sample& s, unsigned threadCount) : sample(s), threads(threadCount) {
    for (unsigned i = 0; i <= threads; ++i)
      queues.push_back(s.queue());
    queues.push_back(s.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
    for (unsigned i = 0; i < 4; ++i)
      buffers.push_back(std::make_unique<Shared>());
    if (threads == 1)
      return;
    const std::vector<cl_uint> zeros(threads * elements);
    root = s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, zeros.size() * sizeof(cl_uint),
                    const_cast<cl_uint*>(zeros.data()));
    for (unsigned t = 0; t < threads; ++t) {
      Shared& slice = *buffers.emplace_back(std::make_unique<Shared>());
      slice.whole = part(root, t * elements, elements);
      slice.owner = t;
      slice.isSlice = true;
    }
  }
  /// After a failure, too: what is pending uses memory that goes now.
  ~Common() {
    for (const auto& queue : queues)
      clFlush(queue);
    for (const auto& queue : queues)
      clFinish(queue);
    while (callbacks > 0)
      std::this_thread::yield();
  }
  Common(const Common&) = delete;

  void flushAll() {
    for (const auto& queue : queues)
      sample::check(clFlush(queue), "clFlush");
  }

  sample::Sample& sample;
  unsigned threads;
  std::vector<sample::Queue> queues; ///< each thread's, one in order, one out of order
  sample::Memory root{};
  std::vector<std::unique_ptr<Shared>> buffers{};
  std::atomic<int> callbacks = 0; ///< that are still to come
};

/// One thread's calls.
class Caller {
public:
  Caller(Common& common, unsigned number)
      : common_(common), number_(number), random_(common.sample.options().size + 7919UL * number) {
    build();
  }

  /// Buffers to begin with.
  void makeBuffers() {
    for (const auto& each : common_.buffers)
      if (!each->isSlice)
        renew(*each);
  }
  /// Who may write what in the next phase.
  void handOut() {
    for (const auto& each : common_.buffers)
      if (!each->isSlice)
        each->owner = chance(30) ? nobody : static_cast<unsigned>(below(common_.threads));
  }
  void calls(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      call();
  }
  /// After a phase, by one thread for all: what this one enqueued on what was nobody's.
  void tellReads() {
    for (auto& [shared, reads] : reads_)
      shared->pending.insert(shared->pending.end(), reads.begin(), reads.end());
    reads_.clear();
  }
  void output() const {
    for (const auto& bytes : read_)
      common_.sample.output(*bytes);
  }

private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }

  std::vector<cl_uint> values(std::size_t count) {
    std::vector<cl_uint> result(count);
    for (cl_uint& each : result)
      each = static_cast<cl_uint>(random_());
    return result;
  }

  void build() {
    program_ = common_.sample.program(sample::randomCallsSource);
    kernels_.clear();
    for (const char* name : {"plus", "add_to", "neighbours", "reverse", "permute", "count",
                             "largest", "odd_ones", "tiles"})
      kernels_.push_back(sample::kernel(program_, name));
  }

  /// A new buffer in the place of one that commands may still use.
  void renew(Shared& shared) {
    auto first = values(elements);
    constexpr cl_mem_flags flags[] = {CL_MEM_READ_WRITE, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR};
    shared.part.reset();
    shared.whole = common_.sample.buffer(flags[below(2)] | CL_MEM_COPY_HOST_PTR,
                                         elements * sizeof(cl_uint), first.data());
    shared.part = part(shared.whole, below(4) * partElements, partElements);
    shared.pending.clear();
  }

  /// Of a buffer that this thread may read, or write.
  View view(bool writes) {
    std::vector<Shared*> possible;
    for (const auto& each : common_.buffers)
      if (each->owner == number_ || (!writes && each->owner == nobody))
        possible.push_back(each.get());
    if (possible.empty())
      return {};
    Shared& shared = *possible[below(possible.size())];
    if (!shared.isSlice && chance(25))
      return {&shared, shared.part, partElements};
    return {&shared, shared.whole, elements};
  }

  /// What a command on `queue` has to wait for.
  std::vector<cl_event> waits(unsigned queue, const View& of, bool writes) {
    std::vector<cl_event> events;
    for (const Pending& each : of.shared->pending) {
      const bool implied = each.queue == queue && queue <= common_.threads && chance(70);
      if ((writes || each.writes) && !implied)
        events.push_back(each.event);
    }
    return events;
  }
  void note(unsigned queue, const View& of, bool writes, cl_event event) {
    if (of.shared->owner != number_) {
      reads_[of.shared].push_back({event, queue, writes});
      return;
    }
    if (writes)
      of.shared->pending.clear();
    of.shared->pending.push_back({event, queue, writes});
  }
  cl_event keep(cl_event event) {
    events_.emplace_back(event);
    return event;
  }

  void launch(unsigned queue) {
    View in = view(false), out = view(true);
    if (!in.shared || !out.shared || in.shared == out.shared)
      return;
    const std::size_t size = std::min(in.size, out.size);
    const std::size_t which = below(kernels_.size());
    const auto& kernel = kernels_[which];
    const bool needsSize = which >= 2 && which <= 4;
    const auto n = static_cast<cl_uint>(needsSize ? size : below(1000));
    sample::check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &in.memory), "clSetKernelArg");
    sample::check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &out.memory), "clSetKernelArg");
    sample::check(clSetKernelArg(kernel, 2, sizeof n, &n), "clSetKernelArg");
    std::size_t global = size, offset = 0, local = 64;
    if (!needsSize && chance(40)) {
      global = (1 + below(size / 64)) * 64;
      offset = below((size - global) / 64 + 1) * 64;
    }
    const bool givesLocal = which == 8 || chance(60);
    auto events = waits(queue, in, false);
    for (cl_event each : waits(queue, out, true))
      events.push_back(each);
    cl_event event = nullptr;
    sample::check(clEnqueueNDRangeKernel(common_.queues[queue], kernel, 1, &offset, &global,
                                         givesLocal ? &local : nullptr,
                                         static_cast<cl_uint>(events.size()),
                                         events.empty() ? nullptr : events.data(), &event),
                  "clEnqueueNDRangeKernel");
    keep(event);
    note(queue, in, false, event);
    note(queue, out, true, event);
  }

  void transfer(unsigned queue, bool toHost) {
    View of = view(!toHost);
    if (!of.shared)
      return;
    const std::size_t count = 1 + below(of.size), begin = below(of.size - count + 1);
    const auto events = waits(queue, of, !toHost);
    auto host = std::make_unique<std::vector<cl_uint>>(values(count));
    const cl_bool blocking = chance(25) ? CL_TRUE : CL_FALSE;
    cl_event event = nullptr;
    const auto waiting = static_cast<cl_uint>(events.size());
    const cl_event* list = events.empty() ? nullptr : events.data();
    const std::size_t offset = begin * sizeof(cl_uint), size = count * sizeof(cl_uint);
    common_.flushAll();
    sample::check(toHost ? clEnqueueReadBuffer(common_.queues[queue], of.memory, blocking, offset,
                                               size, host->data(), waiting, list, &event)
                         : clEnqueueWriteBuffer(common_.queues[queue], of.memory, blocking, offset,
                                                size, host->data(), waiting, list, &event),
                  "a transfer");
    keep(event);
    note(queue, of, !toHost, event);
    (toHost ? read_ : written_).push_back(std::move(host));
  }

  void copy(unsigned queue) {
    View from = view(false), to = view(true);
    if (!from.shared || !to.shared || from.shared == to.shared)
      return;
    const std::size_t count = 1 + below(std::min(from.size, to.size));
    auto events = waits(queue, from, false);
    for (cl_event each : waits(queue, to, true))
      events.push_back(each);
    cl_event event = nullptr;
    sample::check(clEnqueueCopyBuffer(common_.queues[queue], from.memory, to.memory,
                                      below(from.size - count + 1) * sizeof(cl_uint),
                                      below(to.size - count + 1) * sizeof(cl_uint),
                                      count * sizeof(cl_uint), static_cast<cl_uint>(events.size()),
                                      events.empty() ? nullptr : events.data(), &event),
                  "clEnqueueCopyBuffer");
    keep(event);
    note(queue, from, false, event);
    note(queue, to, true, event);
  }

  void fill(unsigned queue) {
    View of = view(true);
    if (!of.shared)
      return;
    const std::size_t count = 1 + below(of.size);
    const auto events = waits(queue, of, true);
    const auto pattern = static_cast<cl_uint>(random_());
    cl_event event = nullptr;
    sample::check(clEnqueueFillBuffer(common_.queues[queue], of.memory, &pattern, sizeof pattern,
                                      below(of.size - count + 1) * sizeof(cl_uint),
                                      count * sizeof(cl_uint), static_cast<cl_uint>(events.size()),
                                      events.empty() ? nullptr : events.data(), &event),
                  "clEnqueueFillBuffer");
    keep(event);
    note(queue, of, true, event);
  }

  /// A map that waits, a change by the host, and an unmap that does not.
  void map(unsigned queue) {
    View of = view(true);
    if (!of.shared)
      return;
    const bool writes = chance(60);
    const std::size_t count = 1 + below(of.size), begin = below(of.size - count + 1);
    const auto events = waits(queue, of, true);
    common_.flushAll();
    cl_int error = CL_SUCCESS;
    auto* mapped = static_cast<cl_uint*>(clEnqueueMapBuffer(
        common_.queues[queue], of.memory, CL_TRUE,
        writes ? CL_MAP_READ | CL_MAP_WRITE : CL_MAP_READ, begin * sizeof(cl_uint),
        count * sizeof(cl_uint), static_cast<cl_uint>(events.size()),
        events.empty() ? nullptr : events.data(), nullptr, &error));
    sample::check(error, "clEnqueueMapBuffer");
    read_.push_back(std::make_unique<std::vector<cl_uint>>(mapped, mapped + count));
    if (writes)
      for (std::size_t i = 0; i < count; i += 1 + below(8))
        mapped[i] = mapped[i] * 3 + 1;
    cl_event event = nullptr;
    sample::check(
        clEnqueueUnmapMemObject(common_.queues[queue], of.memory, mapped, 0, nullptr, &event),
        "clEnqueueUnmapMemObject");
    keep(event);
    note(queue, of, true, event);
  }

  /// What the queue waits for in others must be on its way.
  void finish(unsigned queue) {
    common_.flushAll();
    sample::check(clFinish(common_.queues[queue]), "clFinish");
  }

  /// A user event, which is over when this goes.
  struct Gate {
    sample::Event event;
    ~Gate() { clSetUserEventStatus(event, CL_COMPLETE); }
  };

  /// A command that the program holds back for a moment, while other threads enqueue behind it.
  void heldBack(unsigned queue) {
    cl_int error = CL_SUCCESS;
    const Gate gate{clCreateUserEvent(common_.sample.context(), &error)};
    sample::check(error, "clCreateUserEvent");
    const cl_event waited = gate.event;
    cl_event event = nullptr;
    sample::check(clEnqueueMarkerWithWaitList(common_.queues[queue], 1, &waited, &event),
                  "clEnqueueMarkerWithWaitList");
    keep(event);
    launch(queue);
  }

  static void CL_CALLBACK over(cl_event, cl_int, void* data) {
    --*static_cast<std::atomic<int>*>(data);
  }

  void askAfter() {
    if (events_.empty())
      return;
    const cl_event event = events_[below(events_.size())];
    cl_int status = CL_SUCCESS;
    sample::check(
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
        "clGetEventInfo");
    ++common_.callbacks;
    sample::check(clSetEventCallback(event, CL_COMPLETE, over, &common_.callbacks),
                  "clSetEventCallback");
  }

  void call() {
    const std::size_t which = below(3);
    const unsigned queue =
        which == 0 ? number_ : common_.threads + static_cast<unsigned>(which) - 1;
    const std::size_t kind = below(common_.threads > 1 ? 110 : 100);
    if (kind < 50)
      launch(queue);
    else if (kind < 60)
      transfer(queue, false);
    else if (kind < 72)
      transfer(queue, true);
    else if (kind < 79)
      copy(queue);
    else if (kind < 84)
      fill(queue);
    else if (kind < 90)
      map(queue);
    else if (kind < 94)
      common_.flushAll();
    else if (kind < 97)
      finish(queue);
    else if (kind < 100) {
      Shared& shared = *common_.buffers[below(common_.buffers.size())];
      if (!shared.isSlice && (common_.threads == 1 || shared.owner == number_))
        renew(shared);
    } else if (kind < 104)
      heldBack(queue);
    else if (kind < 109)
      askAfter();
    else
      build();
  }

  Common& common_;
  unsigned number_;
  std::mt19937_64 random_;
  sample::Program program_{};
  std::vector<sample::Kernel> kernels_{};
  std::vector<sample::Event> events_{};
  std::map<Shared*, std::vector<Pending>> reads_{}; ///< of what was nobody's in this phase
  std::vector<std::unique_ptr<std::vector<cl_uint>>> read_{}, written_{};
};

void randomCalls(sample::Sample& s) {
  const auto threads = static_cast<unsigned>(std::clamp(std::stoi(s.options().variant), 1, 8));
  const unsigned each = s.options().iterations / phases;
  std::vector<std::unique_ptr<Caller>> callers; // what they gave to commands outlives these
  Common common(s, threads);
  for (unsigned t = 0; t < threads; ++t)
    callers.push_back(std::make_unique<Caller>(common, t));
  callers[0]->makeBuffers();
  callers[0]->handOut();

  std::barrier meeting(threads, [&]() noexcept {
    for (const auto& caller : callers)
      caller->tellReads();
    callers[0]->handOut();
  });
  std::mutex mutex;
  std::exception_ptr failure;
  auto work = [&](unsigned t) {
    try {
      for (unsigned phase = 0; phase < phases; ++phase) {
        callers[t]->calls(each);
        common.flushAll(); // others may wait behind a command that waits for one of this thread's
        meeting.arrive_and_wait();
      }
    } catch (...) {
      for (const auto& queue : common.queues)
        clFlush(queue);
      std::lock_guard lock(mutex);
      failure = std::current_exception();
      meeting.arrive_and_drop();
    }
  };
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t)
    others.emplace_back(work, t);
  work(0);
  for (std::thread& other : others)
    other.join();
  if (failure)
    std::rethrow_exception(failure);

  common.flushAll();
  for (const auto& queue : common.queues)
    sample::check(clFinish(queue), "clFinish");
  std::vector<cl_mem> results;
  for (const auto& shared : common.buffers)
    results.push_back(shared->whole);
  for (const cl_mem result : results) {
    std::vector<cl_uint> bytes(elements);
    sample::read(common.queues[0], result, bytes);
    s.output(bytes);
  }
  for (const auto& caller : callers)
    caller->output();
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1, .iterations = 60, .variant = "1"}, randomCalls);
}
