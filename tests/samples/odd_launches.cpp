// Launches that a program may well make and a test-bench seldom does: empty and tiny NDRanges,
// offsets, aliasing arguments, objects released while in use, arguments changed between
// asynchronous launches, threads, chains over two queues, a poll for completion, and errors, whose
// codes are printed so that two runs can be compared. --variant local_memory: one more, by launches
// with more local memory than the device has.
#include "kernels/odd_launches.h"
#include "tests/samples/sample.h"

#include <functional>
#include <iostream>
#include <numeric>
#include <thread>

namespace {

using sample::check;
using sample::require;

std::vector<cl_int> iota(std::size_t n) {
  std::vector<cl_int> values(n);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

std::size_t bytesOf(const std::vector<cl_int>& values) {
  return values.size() * sizeof(cl_int);
}

void show(const char* what, cl_int code) {
  std::cout << what << ": " << sample::errorName(code) << std::endl;
}

void errors(sample::Sample& s, cl_program program) {
  const auto queue = s.queue();
  const auto plus = sample::kernel(program, "plus");
  const auto nothing = sample::kernel(program, "nothing");
  const auto buffer = s.buffer(CL_MEM_READ_WRITE, 4096);
  const std::size_t n = 1024;
  const std::size_t zero = 0;
  const std::size_t three = 3;
  const std::size_t huge = std::size_t{1} << 40;
  const std::size_t n4[4] = {4, 4, 4, 4};
  const auto launch = [&](const char* what, cl_kernel kernel, cl_uint dimensions,
                          const std::size_t* global, const std::size_t* local) {
    show(what, clEnqueueNDRangeKernel(queue, kernel, dimensions, nullptr, global, local, 0, nullptr,
                                      nullptr));
    check(clFinish(queue), "clFinish");
  };

  launch("no argument set", plus, 1, &n, nullptr);
  show("argument 7", clSetKernelArg(plus, 7, 4, &n));
  show("buffer of wrong size", clSetKernelArg(plus, 0, 1, buffer.address()));
  show("scalar from nowhere", clSetKernelArg(plus, 2, 4, nullptr));
  sample::setArguments(plus, buffer, buffer);
  launch("last argument not set", plus, 1, &n, nullptr);
  sample::setArgument(plus, 2, cl_int{0});
  launch("all arguments set", plus, 1, &n, nullptr);
  show("argument of wrong size", clSetKernelArg(plus, 2, 3, &n));
  sample::setArgument(plus, 2, cl_int{0});
  launch("local size does not divide", plus, 1, &n, &three);
  launch("local size too large", plus, 1, &huge, &huge);
  launch("no dimensions", plus, 0, &n, nullptr);
  launch("four dimensions", plus, 4, n4, nullptr);
  launch("no global size", plus, 1, nullptr, nullptr);
  launch("empty NDRange", plus, 1, &zero, nullptr);
  launch("empty NDRange with local size", plus, 1, &zero, &three);
  launch("no arguments at all", nothing, 1, &n, nullptr);
  show("no queue",
       clEnqueueNDRangeKernel(nullptr, plus, 1, nullptr, &n, nullptr, 0, nullptr, nullptr));
  const cl_event none = nullptr;
  show("wait for nothing",
       clEnqueueNDRangeKernel(queue, plus, 1, nullptr, &n, nullptr, 1, &none, nullptr));
  cl_int code = CL_SUCCESS;
  clCreateKernel(program, "no_such_kernel", &code);
  show("no such kernel", code);
  clCreateBuffer(s.context(), CL_MEM_READ_WRITE, 0, nullptr, &code);
  show("buffer of size 0", code);
  clCreateBuffer(s.context(), CL_MEM_USE_HOST_PTR, 64, nullptr, &code);
  show("buffer over nothing", code);
  std::vector<char> bytes(4097);
  show("read past the end",
       clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4097, bytes.data(), 0, nullptr, nullptr));
  show("write past the end",
       clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 4096, 1, bytes.data(), 0, nullptr, nullptr));
  show("write from nowhere",
       clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, nullptr, 0, nullptr, nullptr));
  show("copy onto itself",
       clEnqueueCopyBuffer(queue, buffer, buffer, 0, 8, 64, 0, nullptr, nullptr));
  show("fill with 3 bytes",
       clEnqueueFillBuffer(queue, buffer, "abc", 3, 0, 3, 0, nullptr, nullptr));
  clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 4000, 200, 0, nullptr, nullptr, &code);
  show("map past the end", code);
  show("unmap of something else",
       clEnqueueUnmapMemObject(queue, buffer, bytes.data(), 0, nullptr, nullptr));
  const cl_buffer_region outside = {4000, 200};
  clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &outside, &code);
  show("sub-buffer past the end", code);
  check(clFinish(queue), "clFinish");
}

/// Commands for a driver to refuse, each behind a launch on the same buffer that may not be over.
void refusedBehindLaunches(sample::Sample& s, cl_program program) {
  const std::size_t n = s.options().size, half = n / 2 * sizeof(cl_int), local = 64;
  const auto queue = s.queue();
  const auto plus = sample::kernel(program, "plus");
  std::vector<cl_int> expected = iota(n);
  std::vector<cl_int> host(n);
  const auto buffer = s.buffer(CL_MEM_COPY_HOST_PTR, bytesOf(expected), expected.data());
  const auto mapped = s.buffer(CL_MEM_COPY_HOST_PTR, bytesOf(expected), expected.data());
  cl_int code = CL_SUCCESS;
  const auto part = [&](std::size_t begin) {
    const cl_buffer_region region = {begin, half};
    sample::Memory made =
        clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    check(code, "clCreateSubBuffer");
    return made;
  };
  const auto low = part(0), high = part(half / 2);
  void* const address =
      clEnqueueMapBuffer(queue, mapped, CL_TRUE, CL_MAP_READ, 0, half, 0, nullptr, nullptr, &code);
  check(code, "clEnqueueMapBuffer");

  const cl_device_id device = s.device();
  const sample::Context elsewhere = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  check(code, "clCreateContext");
  const sample::Memory strange =
      clCreateBuffer(elsewhere, CL_MEM_READ_WRITE, bytesOf(host), nullptr, &code);
  check(code, "clCreateBuffer");
  const sample::Queue strangeQueue =
      clCreateCommandQueueWithProperties(elsewhere, device, nullptr, &code);
  check(code, "clCreateCommandQueueWithProperties");
  const sample::Event strangeEvent = clCreateUserEvent(elsewhere, &code);
  check(code, "clCreateUserEvent");
  check(clSetUserEventStatus(strangeEvent, CL_COMPLETE), "clSetUserEventStatus");

  using Sizes = const std::size_t[3];
  Sizes start = {0, 0, 0}, aside = {8, 8, 0}, none = {0, 1, 1}, block = {16, 16, 1};
  const auto read = [&](const std::size_t* origin, const std::size_t* region, std::size_t row,
                        std::size_t slice, std::size_t hostRow) {
    return clEnqueueReadBufferRect(queue, buffer, CL_FALSE, origin, start, region, row, slice,
                                   hostRow, 0, host.data(), 0, nullptr, nullptr);
  };
  const auto copyRect = [&](const std::size_t* to, std::size_t row) {
    return clEnqueueCopyBufferRect(queue, buffer, buffer, start, to, block, 64, 0, row, 0, 0,
                                   nullptr, nullptr);
  };
  const auto copy = [&](cl_mem from, cl_mem to, std::size_t at, std::size_t size) {
    return clEnqueueCopyBuffer(queue, from, to, 0, at, size, 0, nullptr, nullptr);
  };
  const auto write = [&](cl_mem to, const void* from) {
    return clEnqueueWriteBuffer(queue, to, CL_FALSE, 0, 16, from, 0, nullptr, nullptr);
  };
  const auto migrate = [&](cl_uint count, cl_mem object, cl_mem_migration_flags flags) {
    return clEnqueueMigrateMemObjects(queue, count, &object, flags, 0, nullptr, nullptr);
  };
  const struct {
    const char* what;
    std::function<cl_int()> call;
  } commands[] = {
      {"write from nowhere", [&] { return write(buffer, nullptr); }},
      {"rows from nowhere",
       [&] {
         return clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, start, start, block, 0, 0, 0, 0,
                                         nullptr, 0, nullptr, nullptr);
       }},
      {"rows without origin", [&] { return read(nullptr, block, 16, 0, 16); }},
      {"no rows", [&] { return read(start, none, 0, 0, 0); }},
      {"rows closer than long", [&] { return read(start, block, 8, 0, 16); }},
      {"rows closer than long, on the host", [&] { return read(start, block, 16, 0, 8); }},
      {"slices closer than large", [&] { return read(start, block, 16, 100, 16); }},
      {"copy of rows without origin", [&] { return copyRect(nullptr, 64); }},
      {"copy of rows onto themselves", [&] { return copyRect(aside, 64); }},
      {"copy of rows in two ways of one buffer", [&] { return copyRect(aside, 128); }},
      {"copy onto a part of itself", [&] { return copy(buffer, low, 8, 16); }},
      {"copy onto an overlapping part", [&] { return copy(high, low, half / 2 + 4, 64); }},
      {"copy of nothing", [&] { return copy(mapped, buffer, 0, 0); }},
      {"copy from another context", [&] { return copy(strange, buffer, 0, 16); }},
      {"write to another context", [&] { return write(strange, host.data()); }},
      {"migration of nothing", [&] { return migrate(0, buffer, 0); }},
      {"migration in an unknown way", [&] { return migrate(1, buffer, 1 << 7); }},
      {"migration from another context", [&] { return migrate(1, strange, 0); }},
      {"read after an event of another context",
       [&] {
         return clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, 16, host.data(), 1,
                                    strangeEvent.address(), nullptr);
       }},
      {"marker after an event of another context",
       [&] { return clEnqueueMarkerWithWaitList(queue, 1, strangeEvent.address(), nullptr); }},
      {"map after an event of another context",
       [&] {
         clEnqueueMapBuffer(queue, buffer, CL_FALSE, CL_MAP_READ, 0, 16, 1, strangeEvent.address(),
                            nullptr, &code);
         return code;
       }},
      {"read in a queue of another context",
       [&] {
         return clEnqueueReadBuffer(strangeQueue, buffer, CL_TRUE, 0, 16, host.data(), 0, nullptr,
                                    nullptr);
       }},
      {"launch in a queue of another context",
       [&] {
         return clEnqueueNDRangeKernel(strangeQueue, plus, 1, nullptr, &n, &local, 0, nullptr,
                                       nullptr);
       }},
      {"unmap of something else",
       [&] { return clEnqueueUnmapMemObject(queue, mapped, host.data(), 0, nullptr, nullptr); }},
  };
  sample::setArguments(plus, buffer, buffer, cl_int{1});
  bool allRefused = true;
  for (const auto& command : commands) {
    sample::launch(queue, plus, {n}, {local});
    code = command.call();
    show(command.what, code);
    allRefused = allRefused && code != CL_SUCCESS;
    for (cl_int& value : expected)
      ++value;
  }
  show("unmap", clEnqueueUnmapMemObject(queue, mapped, address, 0, nullptr, nullptr));
  sample::read(queue, buffer, host);
  if (!allRefused)
    return; // what a copy onto itself leaves is anybody's guess
  require(host == expected, "refused commands did something");
  s.output(host);
}

void aliasing(sample::Sample& s, cl_program program) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto plus = sample::kernel(program, "plus");
  const auto plusShifted = sample::kernel(program, "plus_shifted");
  std::vector<cl_int> expected = iota(n);
  const auto buffer = s.buffer(CL_MEM_COPY_HOST_PTR, bytesOf(expected), expected.data());

  // The same buffer as input and output.
  sample::setArguments(plus, buffer, buffer, cl_int{4});
  sample::launch(queue, plus, {n}, {32});
  for (cl_int& value : expected)
    value += 4;

  // Sub-buffers that overlap: item i reads and writes the same element through both.
  const std::size_t quarter = n / 4;
  const cl_buffer_region low = {0, 3 * quarter * sizeof(cl_int)};
  const cl_buffer_region high = {quarter * sizeof(cl_int), 3 * quarter * sizeof(cl_int)};
  cl_int error = CL_SUCCESS;
  const sample::Memory lowPart =
      clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &low, &error);
  check(error, "low sub-buffer");
  const sample::Memory highPart =
      clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &high, &error);
  check(error, "high sub-buffer");
  sample::setArguments(plusShifted, lowPart, highPart, static_cast<cl_int>(quarter));
  sample::launch(queue, plusShifted, {2 * quarter}, {32});
  for (std::size_t i = quarter; i < 3 * quarter; ++i)
    expected[i] *= 2;

  // Two halves of one buffer.
  sample::setArguments(plusShifted, buffer, buffer, static_cast<cl_int>(n / 2));
  sample::launch(queue, plusShifted, {n / 2}, {32});
  for (std::size_t i = 0; i < n / 2; ++i)
    expected[i + n / 2] += expected[i];

  std::vector<cl_int> actual(n);
  sample::read(queue, buffer, actual);
  require(actual == expected, "aliasing arguments");
  s.output(actual);
}

void shapes(sample::Sample& s, cl_program program) {
  const auto queue = s.queue();
  const auto ids = sample::kernel(program, "ids");
  const auto groups = sample::kernel(program, "groups");
  const struct {
    sample::Sizes global, local, offset;
  } launches[] = {
      {{1}, {}, {}},
      {{1}, {1}, {}},
      {{1021}, {}, {}}, // prime: a NULL local size has little choice
      {{4096}, {64}, {128}},
      {{64}, {64}, {}},
      {{300, 7}, {}, {}},
      {{128, 64}, {16, 4}, {16, 8}},
      {{1, 512}, {1, 8}, {}},
      {{16, 12, 10}, {4, 4, 2}, {}},
      {{16, 12, 10}, {}, {3, 2, 1}},
      {{8, 1, 64}, {8, 1, 1}, {0, 0, 5}},
  };
  for (const auto& launch : launches) {
    const auto at = [](const sample::Sizes& sizes, std::size_t d, std::size_t missing) {
      return d < sizes.size() ? sizes[d] : missing;
    };
    const std::size_t width = at(launch.global, 0, 1);
    const std::size_t height = at(launch.global, 1, 1);
    const std::size_t depth = at(launch.global, 2, 1);
    std::vector<cl_int> actual(width * height * depth, -1);
    const auto out = s.buffer(CL_MEM_COPY_HOST_PTR, bytesOf(actual), actual.data());
    sample::setArguments(ids, out, static_cast<cl_int>(width), static_cast<cl_int>(height));
    sample::launch(queue, ids, launch.global, launch.local, launch.offset);
    sample::read(queue, out, actual);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const std::size_t id = at(launch.offset, 0, 0) + i % width +
                             100 * (at(launch.offset, 1, 0) + i / width % height) +
                             10000 * (at(launch.offset, 2, 0) + i / width / height) +
                             1000000 * launch.global.size();
      require(actual[i] == static_cast<cl_int>(id),
              "wrong ids in a launch of " + std::to_string(launch.global.size()) + " dimensions");
    }
    s.output(actual);
    if (launch.global.size() != 1 || launch.local.empty())
      continue;
    sample::setArgument(groups, 0, out);
    sample::launch(queue, groups, launch.global, launch.local, launch.offset);
    sample::read(queue, out, actual);
    const std::size_t local = launch.local[0];
    for (std::size_t i = 0; i < width; ++i)
      require(actual[i] == static_cast<cl_int>(i / local + 1000 * (width / local) +
                                               100000 * (i % local) + 10000000 * local),
              "wrong group ids");
    s.output(actual);
  }
}

void missingBuffer(sample::Sample& s, cl_program program) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto kernel = sample::kernel(program, "optional_input");
  std::vector<cl_int> actual(n);
  const auto out = s.buffer(CL_MEM_READ_WRITE, bytesOf(actual));
  const cl_mem none = nullptr;
  for (const cl_mem* missing : {&none, static_cast<const cl_mem*>(nullptr)}) {
    std::fill(actual.begin(), actual.end(), 0);
    sample::setArguments(kernel, none, out);
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), missing), "clSetKernelArg");
    sample::launch(queue, kernel, {n}, {64});
    sample::read(queue, out, actual);
    for (std::size_t i = 0; i < n; ++i)
      require(actual[i] == -static_cast<cl_int>(i), "NULL buffer as argument");
  }
}

/// What a division by zero gives is not specified, but it is no exception.
void dividesByZero(sample::Sample& s, cl_program program) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto kernel = sample::kernel(program, "quotient");
  std::vector<cl_int> dividends = iota(n), divisors(n, 3), actual(n);
  for (std::size_t i = 0; i < n; i += 5)
    divisors[i] = 0;
  const auto a = s.buffer(CL_MEM_COPY_HOST_PTR, bytesOf(dividends), dividends.data());
  const auto b = s.buffer(CL_MEM_COPY_HOST_PTR, bytesOf(divisors), divisors.data());
  const auto out = s.buffer(CL_MEM_READ_WRITE, bytesOf(actual));
  sample::setArguments(kernel, a, b, out);
  sample::launch(queue, kernel, {n}, {64});
  sample::read(queue, out, actual);
  for (std::size_t i = 0; i < n; ++i)
    require(divisors[i] == 0 || actual[i] == dividends[i] / 3, "quotients");
}

void releasedInUse(sample::Sample& s) {
  std::vector<cl_int> values = iota(s.options().size);
  std::vector<cl_int> actual(values.size());
  auto queue = s.queue();
  auto program = s.program(sample::oddLaunchesSource);
  auto kernel = sample::kernel(program, "plus");
  auto in = s.buffer(CL_MEM_COPY_HOST_PTR, bytesOf(values), values.data());
  auto out = s.buffer(CL_MEM_READ_WRITE, bytesOf(values));
  sample::setArguments(kernel, in, out, cl_int{1});
  sample::launch(queue, kernel, {values.size()}, {64});
  kernel.reset();
  program.reset();
  in.reset();
  sample::Event read;
  check(clEnqueueReadBuffer(queue, out, CL_FALSE, 0, bytesOf(actual), actual.data(), 0, nullptr,
                            read.out()),
        "clEnqueueReadBuffer");
  out.reset();
  check(clFlush(queue), "clFlush");
  queue.reset();
  check(clWaitForEvents(1, read.address()), "clWaitForEvents");
  for (std::size_t i = 0; i < values.size(); ++i)
    require(actual[i] == values[i] + 1, "objects released while in use");
}

void argumentsChange(sample::Sample& s, cl_program program) {
  const std::size_t n = s.options().size;
  const auto queue = s.queue();
  const auto plus = sample::kernel(program, "plus");
  std::vector<cl_int> expected = iota(n);
  auto in = s.buffer(CL_MEM_COPY_HOST_PTR, bytesOf(expected), expected.data());
  auto out = s.buffer(CL_MEM_READ_WRITE, bytesOf(expected));
  for (cl_int round = 0; round < 40; ++round) {
    sample::setArguments(plus, in, out, round);
    sample::launch(queue, plus, {n}, {64});
    // What is set now is for the next launch, not for the one under way.
    sample::setArguments(plus, out, in, cl_int{-1000});
    std::swap(in, out);
    for (cl_int& value : expected)
      value += round;
  }
  std::vector<cl_int> actual(n);
  sample::read(queue, in, actual);
  require(actual == expected, "arguments changed between launches");
  s.output(actual);
}

void threads(sample::Sample& s, cl_program program) {
  const std::size_t n = s.options().size;
  std::vector<cl_int> values = iota(n);
  const auto shared =
      s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytesOf(values), values.data());
  constexpr unsigned count = 4;
  std::vector<std::vector<cl_int>> results(count, std::vector<cl_int>(n));
  std::vector<std::string> failures(count);
  const auto work = [&](unsigned id) {
    try {
      const auto queue = s.queue();
      const auto kernel = sample::kernel(program, "plus");
      const auto own = s.buffer(CL_MEM_READ_WRITE, bytesOf(values));
      sample::setArguments(kernel, shared, own, static_cast<cl_int>(id));
      sample::launch(queue, kernel, {n}, {64});
      sample::setArguments(kernel, own, own, cl_int{1});
      for (int round = 0; round < 20; ++round) {
        sample::launch(queue, kernel, {n}, {64});
        if (round % 5 == 0)
          sample::read(queue, own, results[id]);
      }
      sample::read(queue, own, results[id]);
    } catch (const std::exception& error) {
      failures[id] = error.what();
    }
  };
  std::vector<std::thread> running;
  for (unsigned id = 0; id < count; ++id)
    running.emplace_back(work, id);
  for (std::thread& thread : running)
    thread.join();
  for (unsigned id = 0; id < count; ++id) {
    require(failures[id].empty(), failures[id]);
    for (std::size_t i = 0; i < n; ++i)
      require(results[id][i] == static_cast<cl_int>(i + id + 20), "wrong result of a thread");
    s.output(results[id]);
  }
}

void chainOverQueues(sample::Sample& s, cl_program program) {
  const std::size_t n = s.options().size;
  const std::size_t local = 64;
  const sample::Queue queues[] = {s.queue(), s.queue(CL_QUEUE_PROFILING_ENABLE)};
  const auto plus = sample::kernel(program, "plus");
  std::vector<cl_int> values = iota(n);
  const auto buffer = s.buffer(CL_MEM_COPY_HOST_PTR, bytesOf(values), values.data());
  sample::setArguments(plus, buffer, buffer, cl_int{3});
  sample::Event last;
  for (int link = 0; link < 20; ++link) {
    const sample::Queue& queue = queues[link % 2];
    sample::Event done;
    check(clEnqueueNDRangeKernel(queue, plus, 1, nullptr, &n, &local, link ? 1 : 0,
                                 link ? last.address() : nullptr, done.out()),
          "link of a chain");
    check(clFlush(queue), "clFlush");
    last = std::move(done);
  }
  // A program may poll instead of waiting.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (cl_int status = CL_QUEUED; status != CL_COMPLETE;) {
    check(clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
          "CL_EVENT_COMMAND_EXECUTION_STATUS");
    require(status >= CL_COMPLETE, "the chain failed");
    require(std::chrono::steady_clock::now() < deadline, "the chain does not end");
    std::this_thread::yield();
  }
  sample::read(queues[0], buffer, values);
  for (std::size_t i = 0; i < n; ++i)
    require(values[i] == static_cast<cl_int>(i) + 60, "wrong end of the chain");
  s.output(values);
}

/// As who looks for the best size does, by trying: what the device refuses changes nothing.
/// PoCL 3.1 refuses nothing, and aborts.
void tooMuchLocalMemory(sample::Sample& s, cl_program program) {
  cl_ulong most = 0;
  check(clGetDeviceInfo(s.device(), CL_DEVICE_LOCAL_MEM_SIZE, sizeof most, &most, nullptr),
        "CL_DEVICE_LOCAL_MEM_SIZE");
  const auto queue = s.queue();
  const auto through = sample::kernel(program, "through");
  std::vector<cl_int> values = iota(4096);
  const auto numbers = s.copyOf(values);
  const std::size_t n = values.size(), group = 32;
  for (const std::size_t bytes :
       {std::size_t{1024}, std::size_t{2048}, 2 * std::size_t{most}, std::size_t{1024}}) {
    sample::setArguments(through, numbers, sample::Local{bytes});
    show("launch with local memory",
         clEnqueueNDRangeKernel(queue, through, 1, nullptr, &n, &group, 0, nullptr, nullptr));
    show("and its end", clFinish(queue));
  }
  sample::read(queue, numbers, values);
  s.output(values);
}

void unevenGroups(sample::Sample& s) {
  if (!s.hasUnevenGroups())
    return;
  const std::size_t n = s.options().size + 17;
  const auto queue = s.queue();
  const auto program = s.program(sample::oddLaunchesSource, "-cl-std=CL3.0");
  const auto plus = sample::kernel(program, "plus");
  const auto groups = sample::kernel(program, "groups");
  std::vector<cl_int> values = iota(n);
  const auto buffer = s.buffer(CL_MEM_COPY_HOST_PTR, bytesOf(values), values.data());
  sample::setArguments(plus, buffer, buffer, cl_int{2});
  sample::launch(queue, plus, {n}, {64});
  sample::read(queue, buffer, values);
  for (std::size_t i = 0; i < n; ++i)
    require(values[i] == static_cast<cl_int>(i) + 2, "uneven last group");
  sample::setArgument(groups, 0, buffer);
  sample::launch(queue, groups, {n}, {64});
  sample::read(queue, buffer, values);
  s.output(values);
}

void oddLaunches(sample::Sample& s) {
  const auto program = s.program(sample::oddLaunchesSource);
  errors(s, program);
  refusedBehindLaunches(s, program);
  aliasing(s, program);
  shapes(s, program);
  missingBuffer(s, program);
  dividesByZero(s, program);
  releasedInUse(s);
  argumentsChange(s, program);
  threads(s, program);
  chainOverQueues(s, program);
  if (s.options().variant == "local_memory")
    tooMuchLocalMemory(s, program);
  unevenGroups(s);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 14, .iterations = 1, .variant = "all"}, oddLaunches);
}
