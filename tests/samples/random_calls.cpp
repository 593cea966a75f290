// Random calls on shared buffers, drawn from a seed (--size): launches of many kinds, transfers,
// maps, fills, copies, sub-buffers, three queues one of which is out of order, events between them,
// objects that are given up while commands use them. The program orders what touches the same
// buffer, and nothing else; so its result is one.
#include "kernels/random_calls.h"
#include "tests/samples/sample.h"

#include <array>
#include <memory>
#include <random>

namespace {

constexpr std::size_t elements = 1 << 13; // of a buffer; a power of two
constexpr std::size_t partElements = elements / 4;

struct Pending {
  cl_event event = nullptr; // kept by `events`
  unsigned queue = 0;
  bool writes = false;
};

/// A buffer, a part of it, and what was enqueued on either.
struct Shared {
  sample::Memory whole, part;
  std::size_t partBegin = 0; // elements
  std::vector<Pending> pending;
};

/// A view of a buffer that a command uses.
struct View {
  Shared* shared = nullptr;
  cl_mem memory = nullptr;
  std::size_t size = 0; // elements
};

class RandomCalls {
public:
  explicit RandomCalls(sample::Sample& s)
      : s_(s), random_(s.options().size), program_(s.program(sample::randomCallsSource)) {
    queues_[0] = s.queue();
    queues_[1] = s.queue();
    queues_[2] = s.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    for (const char* name : {"plus", "add_to", "neighbours", "reverse", "permute", "count",
                             "largest", "odd_ones", "tiles"})
      kernels_.push_back(sample::kernel(program_, name));
    for (auto& each : shared_) {
      each = std::make_unique<Shared>();
      renew(*each);
    }
  }

  /// After a failure, too: what is pending uses memory that goes now.
  ~RandomCalls() {
    for (const auto& queue : queues_)
      clFlush(queue);
    for (const auto& queue : queues_)
      clFinish(queue);
  }
  RandomCalls(const RandomCalls&) = delete;

  void run() {
    for (unsigned i = 0; i < s_.options().iterations; ++i)
      call();
    for (unsigned queue = 0; queue < queues_.size(); ++queue)
      finish(queue);
    for (const auto& each : shared_) {
      std::vector<cl_uint> bytes(elements);
      sample::check(clEnqueueReadBuffer(queues_[0], each->whole, CL_TRUE, 0,
                                        elements * sizeof(cl_uint), bytes.data(), 0, nullptr,
                                        nullptr),
                    "clEnqueueReadBuffer");
      s_.output(bytes);
    }
    for (const auto& bytes : read_)
      s_.output(*bytes);
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

  /// A new buffer in the place of one that commands may still use.
  void renew(Shared& shared) {
    auto first = values(elements);
    constexpr cl_mem_flags flags[] = {CL_MEM_READ_WRITE, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR};
    shared.part.reset();
    shared.whole =
        s_.buffer(flags[below(2)] | CL_MEM_COPY_HOST_PTR, elements * sizeof(cl_uint), first.data());
    shared.partBegin = below(4) * partElements;
    const cl_buffer_region region{shared.partBegin * sizeof(cl_uint),
                                  partElements * sizeof(cl_uint)};
    cl_int error = CL_SUCCESS;
    shared.part = clCreateSubBuffer(shared.whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                    &region, &error);
    sample::check(error, "clCreateSubBuffer");
    shared.pending.clear();
  }

  View view(bool parts = true) {
    Shared& shared = *shared_[below(shared_.size())];
    if (parts && chance(25))
      return {&shared, shared.part, partElements};
    return {&shared, shared.whole, elements};
  }

  /// What a command on `queue` has to wait for.
  std::vector<cl_event> waits(unsigned queue, const View& of, bool writes) {
    std::vector<cl_event> events;
    for (const Pending& each : of.shared->pending) {
      const bool implied = each.queue == queue && queue != 2 && chance(70);
      if ((writes || each.writes) && !implied)
        events.push_back(each.event);
    }
    return events;
  }
  void note(unsigned queue, const View& of, bool writes, cl_event event) {
    if (writes)
      of.shared->pending.clear();
    of.shared->pending.push_back({event, queue, writes});
  }
  cl_event keep(cl_event event) {
    events_.emplace_back(event);
    return event;
  }

  void launch(unsigned queue) {
    View in = view(), out = view();
    if (in.shared == out.shared)
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
    sample::check(clEnqueueNDRangeKernel(queues_[queue], kernel, 1, &offset, &global,
                                         givesLocal ? &local : nullptr,
                                         static_cast<cl_uint>(events.size()),
                                         events.empty() ? nullptr : events.data(), &event),
                  "clEnqueueNDRangeKernel");
    keep(event);
    note(queue, in, false, event);
    note(queue, out, true, event);
  }

  void transfer(unsigned queue, bool toHost) {
    View of = view();
    const std::size_t count = 1 + below(of.size), begin = below(of.size - count + 1);
    const auto events = waits(queue, of, !toHost);
    auto host = std::make_unique<std::vector<cl_uint>>(values(count));
    const cl_bool blocking = chance(25) ? CL_TRUE : CL_FALSE;
    cl_event event = nullptr;
    const auto waiting = static_cast<cl_uint>(events.size());
    const cl_event* list = events.empty() ? nullptr : events.data();
    const std::size_t offset = begin * sizeof(cl_uint), size = count * sizeof(cl_uint);
    flushAll();
    sample::check(toHost ? clEnqueueReadBuffer(queues_[queue], of.memory, blocking, offset, size,
                                               host->data(), waiting, list, &event)
                         : clEnqueueWriteBuffer(queues_[queue], of.memory, blocking, offset, size,
                                                host->data(), waiting, list, &event),
                  "a transfer");
    keep(event);
    note(queue, of, !toHost, event);
    (toHost ? read_ : written_).push_back(std::move(host));
  }

  void copy(unsigned queue) {
    View from = view(), to = view();
    if (from.shared == to.shared)
      return;
    const std::size_t count = 1 + below(std::min(from.size, to.size));
    auto events = waits(queue, from, false);
    for (cl_event each : waits(queue, to, true))
      events.push_back(each);
    cl_event event = nullptr;
    sample::check(clEnqueueCopyBuffer(queues_[queue], from.memory, to.memory,
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
    View of = view();
    const std::size_t count = 1 + below(of.size);
    const auto events = waits(queue, of, true);
    const auto pattern = static_cast<cl_uint>(random_());
    cl_event event = nullptr;
    sample::check(clEnqueueFillBuffer(queues_[queue], of.memory, &pattern, sizeof pattern,
                                      below(of.size - count + 1) * sizeof(cl_uint),
                                      count * sizeof(cl_uint), static_cast<cl_uint>(events.size()),
                                      events.empty() ? nullptr : events.data(), &event),
                  "clEnqueueFillBuffer");
    keep(event);
    note(queue, of, true, event);
  }

  /// A map that waits, a change by the host, and an unmap that does not.
  void map(unsigned queue) {
    View of = view();
    const bool writes = chance(60);
    const std::size_t count = 1 + below(of.size), begin = below(of.size - count + 1);
    const auto events = waits(queue, of, true);
    flushAll();
    cl_int error = CL_SUCCESS;
    auto* mapped = static_cast<cl_uint*>(clEnqueueMapBuffer(
        queues_[queue], of.memory, CL_TRUE, writes ? CL_MAP_READ | CL_MAP_WRITE : CL_MAP_READ,
        begin * sizeof(cl_uint), count * sizeof(cl_uint), static_cast<cl_uint>(events.size()),
        events.empty() ? nullptr : events.data(), nullptr, &error));
    sample::check(error, "clEnqueueMapBuffer");
    read_.push_back(std::make_unique<std::vector<cl_uint>>(mapped, mapped + count));
    if (writes)
      for (std::size_t i = 0; i < count; i += 1 + below(8))
        mapped[i] = mapped[i] * 3 + 1;
    cl_event event = nullptr;
    sample::check(clEnqueueUnmapMemObject(queues_[queue], of.memory, mapped, 0, nullptr, &event),
                  "clEnqueueUnmapMemObject");
    keep(event);
    note(queue, of, true, event);
  }

  void flushAll() {
    for (const auto& queue : queues_)
      sample::check(clFlush(queue), "clFlush");
  }

  /// What the queue waits for in others must be on its way.
  void finish(unsigned queue) {
    flushAll();
    sample::check(clFinish(queues_[queue]), "clFinish");
  }

  void call() {
    const auto queue = static_cast<unsigned>(below(3));
    const std::size_t kind = below(100);
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
      flushAll();
    else if (kind < 97)
      finish(queue);
    else
      renew(*shared_[below(shared_.size())]);
  }

  sample::Sample& s_;
  std::mt19937_64 random_;
  sample::Program program_;
  std::array<sample::Queue, 3> queues_;
  std::vector<sample::Kernel> kernels_;
  std::array<std::unique_ptr<Shared>, 4> shared_;
  std::vector<sample::Event> events_;
  std::vector<std::unique_ptr<std::vector<cl_uint>>> read_, written_;
};

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1, .iterations = 60},
                     [](sample::Sample& s) { RandomCalls(s).run(); });
}
