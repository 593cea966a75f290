#include "runtime/device/pump.h"

#include "tests/unit/runtime/fake_events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <span>
#include <thread>
#include <vector>

namespace libsplit::runtime {
namespace {

/// A device's memory, and how many copies it still does until one is refused.
std::vector<std::byte> deviceMemory;
std::atomic<int> copiesLeft;

bool isRefused() {
  return copiesLeft-- == 0;
}

cl_event overEvent() {
  const cl_event event = FakeEvent::make();
  FakeEvent::end(event);
  return event;
}

Dispatch copying() {
  Dispatch cl = FakeEvent::dispatch();
  cl.clEnqueueReadBuffer = [](cl_command_queue, cl_mem, cl_bool, std::size_t offset,
                              std::size_t size, void* host, cl_uint, const cl_event*,
                              cl_event* event) -> cl_int {
    if (isRefused())
      return CL_OUT_OF_RESOURCES;
    std::memcpy(host, deviceMemory.data() + offset, size);
    *event = overEvent();
    return CL_SUCCESS;
  };
  cl.clEnqueueWriteBuffer = [](cl_command_queue, cl_mem, cl_bool, std::size_t offset,
                               std::size_t size, const void* host, cl_uint, const cl_event*,
                               cl_event* event) -> cl_int {
    if (isRefused())
      return CL_OUT_OF_RESOURCES;
    std::memcpy(deviceMemory.data() + offset, host, size);
    *event = overEvent();
    return CL_SUCCESS;
  };
  return cl;
}

const Dispatch cl = copying();

std::vector<std::byte> bytesOf(unsigned seed, std::size_t size) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& each : bytes)
    each = static_cast<std::byte>(random());
  return bytes;
}

BulkCopy copyOf(bool toHost, std::size_t offset, std::span<std::byte> host) {
  BulkCopy copy;
  copy.toHost = toHost;
  copy.offset = offset;
  copy.size = host.size();
  copy.host = host.data();
  return copy;
}

cl_int copyAll(const Pump& pump, const BulkCopy& copy, ThreadTeam& team) {
  CopyUnderWay underWay(cl, copy);
  return pump.copy(underWay, copy.size, team);
}

TEST(ThreadTeam, DoesAllWorkAlsoForSeveralCallersAtOnce) {
  ThreadTeam team(4);
  auto sum = [&] {
    std::atomic<int> next = 0, total = 0;
    team.run(9, [&](unsigned) {
      for (int i = next++; i < 1000; i = next++)
        total += i;
    });
    return total.load();
  };
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        right += sum() == 499500;
    });
  for (std::thread& each : callers)
    each.join();
  EXPECT_EQ(right, 600);
}

TEST(ThreadTeam, GivesEachThreadANumberOfItsOwn) {
  ThreadTeam team(4);
  for (int round = 0; round < 200; ++round) {
    std::array<std::atomic<int>, 3> calls{};
    team.run(3, [&](unsigned index) { ++calls.at(index); });
    EXPECT_EQ(calls[0], 1);
    EXPECT_LE(calls[1], 1);
    EXPECT_LE(calls[2], 1);
  }
}

TEST(Pump, CopiesEveryByteBothWays) {
  ThreadTeam team(3);
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const unsigned threads = 1 + random() % 3;
    const Pump pump(cl, HostBlock::reserve(2 * threads * 64 * (1 + random() % 4)), threads);
    const std::size_t size = 1 + random() % 5000, offset = random() % 300;
    const std::vector<std::byte> before = bytesOf(1, size + 400);
    std::vector<std::byte> sent = bytesOf(2, size), received(size);
    deviceMemory = before;
    copiesLeft = -1;
    ASSERT_EQ(copyAll(pump, copyOf(false, offset, sent), team), CL_SUCCESS);
    std::vector<std::byte> expected = before;
    std::ranges::copy(sent, expected.begin() + static_cast<std::ptrdiff_t>(offset));
    ASSERT_EQ(deviceMemory, expected);
    ASSERT_EQ(copyAll(pump, copyOf(true, offset, received), team), CL_SUCCESS);
    ASSERT_EQ(received, sent);
  }
}

TEST(Pump, TellsWhatTheDriverRefuses) {
  ThreadTeam team(3);
  const Pump pump(cl, HostBlock::reserve(2 * 3 * 64), 3);
  std::vector<std::byte> host(2000);
  deviceMemory = host;
  for (int number = 0; number < 8; ++number)
    for (const bool toHost : {false, true}) {
      copiesLeft = number;
      EXPECT_EQ(copyAll(pump, copyOf(toHost, 0, host), team), CL_OUT_OF_RESOURCES);
    }
}

TEST(CopyUnderWay, IsWholeWhoeverHurriesIt) {
  ThreadTeam team(2);
  const Pump pump(cl, HostBlock::reserve(2 * 2 * 64), 2);
  copiesLeft = -1;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> sent = bytesOf(2, 5000);
    deviceMemory = bytesOf(1, sent.size());
    const BulkCopy copy = copyOf(false, 0, sent);
    CopyUnderWay underWay(cl, copy);
    std::atomic<bool> isThere = false;
    std::vector<std::byte> seen;
    std::thread other([&] {
      isThere = true;
      for (int i = 0; i < round / 10; ++i)
        std::this_thread::yield();
      underWay.hurry();
      seen = deviceMemory; // all of it is in the queue, and this one's copies are over at once
    });
    while (!isThere)
      std::this_thread::yield();
    EXPECT_EQ(pump.copy(underWay, copy.size, team), CL_SUCCESS);
    EXPECT_EQ(underWay.finishRest().value_or(CL_SUCCESS), CL_SUCCESS);
    EXPECT_EQ(deviceMemory, sent);
    other.join();
    EXPECT_EQ(seen, sent);
  }
}

TEST(CopyUnderWay, GoesAsAWholeBeforeAnythingWasEnqueued) {
  std::vector<std::byte> sent = bytesOf(2, 5000);
  deviceMemory = bytesOf(1, sent.size());
  CopyUnderWay underWay(cl, copyOf(false, 0, sent));
  copiesLeft = 1; // a second one would be refused
  underWay.hurry();
  underWay.hurry();
  EXPECT_EQ(deviceMemory, sent);
  EXPECT_EQ(underWay.take(1, sent.size()).size, 0U);
  EXPECT_EQ(underWay.finishRest(), CL_SUCCESS);
}

TEST(CopyUnderWay, IsLeftAloneOnceItIsGivenUp) {
  std::vector<std::byte> sent = bytesOf(2, 5000);
  const std::vector<std::byte> before = bytesOf(1, sent.size());
  deviceMemory = before;
  copiesLeft = -1;
  CopyUnderWay underWay(cl, copyOf(false, 0, sent));
  underWay.giveUp();
  underWay.hurry();
  EXPECT_EQ(deviceMemory, before);
}

TEST(CopyUnderWay, TellsWhatIsRefusedOfTheRest) {
  std::vector<std::byte> sent(5000);
  deviceMemory = sent;
  CopyUnderWay underWay(cl, copyOf(false, 0, sent));
  copiesLeft = 0;
  underWay.hurry();
  EXPECT_EQ(underWay.finishRest(), CL_OUT_OF_RESOURCES);
}

} // namespace
} // namespace libsplit::runtime
