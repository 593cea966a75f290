// Threads with a queue each, which share a program, an input and a table of counts, make and drop
// buffers all the time, wait in three different ways, and have callbacks of events launch more.
// Variant `slices`: their results are sub-buffers of one buffer, which they write and read as a
// whole at their own place. Where callbacks run inside the call that completes a command (PoCL's
// basic device), launching from them is not for every driver, so the tests run this on others.
#include "kernels/many_threads.h"
#include "tests/samples/sample.h"

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace {

constexpr cl_int bins = 97;
constexpr unsigned threads = 4;

std::size_t bin(cl_int value) {
  return static_cast<cl_uint>(value) % static_cast<cl_uint>(bins);
}

/// What a callback launches, and a buffer that it is the last to let go of.
struct Continuation {
  cl_command_queue queue;
  cl_kernel kernel;
  std::size_t items;
  sample::Memory held;
  std::atomic<unsigned>* over;
};

void CL_CALLBACK launchMore(cl_event, cl_int status, void* data) {
  std::unique_ptr<Continuation> given(static_cast<Continuation*>(data));
  const std::size_t local = 16;
  if (status == CL_COMPLETE &&
      clEnqueueNDRangeKernel(given->queue, given->kernel, 1, nullptr, &given->items, &local, 0,
                             nullptr, nullptr) == CL_SUCCESS)
    clFlush(given->queue);
  given->held.reset();
  ++*given->over;
}

struct Shared {
  sample::Sample& sample;
  sample::Program program;
  std::vector<cl_int> values; ///< of `in`
  sample::Memory in{}, counts{}, root{};
  sample::Queue afterwards{}; ///< for what callbacks launch
  sample::Kernel more{};      ///< they launch this
  std::atomic<unsigned> callbacks = 0;
  std::mutex inFinish{};
};

sample::Memory part(cl_mem whole, std::size_t begin, std::size_t size) {
  cl_buffer_region region{begin, size};
  cl_int error = CL_SUCCESS;
  sample::Memory made =
      clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  sample::check(error, "clCreateSubBuffer");
  return made;
}

void enqueue(cl_command_queue queue, cl_kernel kernel, std::size_t items, cl_event* event) {
  const std::size_t local = 16;
  sample::check(
      clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &local, 0, nullptr, event),
      "clEnqueueNDRangeKernel");
}

/// Reads in one of three ways; the bytes are there on return.
void readBack(Shared& shared, cl_command_queue queue, cl_mem from, std::size_t begin,
              std::vector<cl_int>& to, cl_event other, unsigned way) {
  const std::size_t bytes = to.size() * sizeof(cl_int);
  sample::Event done;
  sample::check(
      clEnqueueReadBuffer(queue, from, way == 0, begin, bytes, to.data(), 0, nullptr, done.out()),
      "clEnqueueReadBuffer");
  if (way == 1) {
    sample::check(clFlush(queue), "clFlush");
    const cl_event both[] = {done, other};
    sample::check(clWaitForEvents(2, both), "clWaitForEvents");
  } else if (way == 2) {
    std::lock_guard lock(shared.inFinish);
    sample::check(clFinish(queue), "clFinish");
  }
}

std::vector<cl_int> expected(const Shared& shared, cl_int c, cl_int before) {
  const std::size_t n = shared.values.size();
  std::vector<cl_int> result(2 * n, before);
  for (cl_int value : shared.values) {
    const std::size_t k = static_cast<cl_uint>(value * 3 + c) % n;
    result[k] = static_cast<cl_int>(k) * 7 + c;
  }
  for (std::size_t i = 0; i < n; ++i)
    result[n + i] = result[static_cast<std::size_t>(shared.values[i])];
  return result;
}

/// Thread `t`; `result` gets what its last round computed.
void work(Shared& shared, unsigned t, std::vector<cl_int>& result) {
  sample::Sample& s = shared.sample;
  const std::size_t n = shared.values.size(), bytes = n * sizeof(cl_int);
  const auto size = static_cast<cl_int>(n);
  const auto queue = s.queue(t % 2 ? CL_QUEUE_PROFILING_ENABLE : 0);
  const auto triple = sample::kernel(shared.program, "triple");
  const auto scatter = sample::kernel(shared.program, "scatter");
  const auto tally = sample::kernel(shared.program, "tally");
  const auto gather = sample::kernel(shared.program, "gather");

  for (unsigned round = 0; round < s.options().iterations; ++round) {
    const cl_int c = static_cast<cl_int>(t * 1000 + round);
    auto indices = s.buffer(CL_MEM_READ_WRITE, bytes);
    sample::Memory own;
    if (!shared.root)
      own = s.buffer(CL_MEM_READ_WRITE, 2 * bytes);
    const cl_mem whole = shared.root ? shared.root : own;
    const std::size_t begin = shared.root ? t * 2 * bytes : 0;
    auto low = part(whole, begin, bytes), high = part(whole, begin + bytes, bytes);
    const std::vector<cl_int> before(2 * n, c);
    sample::check(clEnqueueWriteBuffer(queue, whole, CL_FALSE, begin, 2 * bytes, before.data(), 0,
                                       nullptr, nullptr),
                  "clEnqueueWriteBuffer");
    sample::Event tripled, gathered;
    sample::setArguments(triple, shared.in, indices, c);
    enqueue(queue, triple, n, tripled.out());
    sample::setArguments(scatter, indices, low, size, c);
    enqueue(queue, scatter, n, nullptr);
    sample::setArguments(tally, indices, shared.counts, bins);
    enqueue(queue, tally, n, nullptr);
    sample::setArguments(gather, low, shared.in, high, size);
    enqueue(queue, gather, n, gathered.out());
    low.reset();
    high.reset();
    auto more = std::make_unique<Continuation>(
        Continuation{shared.afterwards, shared.more, n, std::move(indices), &shared.callbacks});
    sample::check(clSetEventCallback(gathered, CL_COMPLETE, launchMore, more.get()),
                  "clSetEventCallback");
    static_cast<void>(more.release());

    result.assign(2 * n, -1);
    readBack(shared, queue, whole, begin, result, tripled, (round + t) % 3);
    sample::require(result == expected(shared, c, c), "thread " + std::to_string(t) + ", round " +
                                                          std::to_string(round) + ": wrong bytes");
  }
}

void manyThreads(sample::Sample& s) {
  const std::size_t n = s.options().size;
  std::vector<cl_int> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<cl_int>(sample::randomBits(i) % n);
  std::vector<cl_uint> counts(bins);
  Shared shared{.sample = s, .program = s.program(sample::manyThreadsSource), .values = values};
  shared.in = s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, n * sizeof(cl_int), values.data());
  shared.counts =
      s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bins * sizeof(cl_uint), counts.data());
  if (s.options().variant == "slices")
    shared.root = s.buffer(CL_MEM_READ_WRITE, threads * 2 * n * sizeof(cl_int));
  shared.afterwards = s.queue();
  shared.more = sample::kernel(shared.program, "tally");
  sample::setArguments(shared.more, shared.in, shared.counts, bins);

  std::vector<std::vector<cl_int>> results(threads);
  std::vector<std::exception_ptr> failures(threads);
  std::vector<std::thread> running;
  for (unsigned t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      try {
        work(shared, t, results[t]);
      } catch (...) {
        failures[t] = std::current_exception();
      }
    });
  for (std::thread& thread : running)
    thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure)
      std::rethrow_exception(failure);

  const unsigned rounds = s.options().iterations;
  while (shared.callbacks < threads * rounds)
    std::this_thread::yield();
  sample::read(shared.afterwards, shared.counts, counts);
  std::vector<cl_uint> right(bins);
  for (unsigned t = 0; t < threads; ++t)
    for (unsigned round = 0; round < rounds; ++round)
      for (cl_int value : values) {
        ++right[bin(value * 3 + static_cast<cl_int>(t * 1000 + round))];
        ++right[bin(value)];
      }
  sample::require(counts == right, "wrong counts");
  for (const auto& result : results)
    s.output(result);
  s.output(counts);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096, .iterations = 12, .variant = "own"}, manyThreads);
}
