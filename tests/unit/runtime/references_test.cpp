#include "runtime/core/opencl.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace libsplit::runtime {
namespace {

/// A buffer that counts what the driver is told.
struct CountingDriver {
  std::atomic<int> references = 1; // its maker's
  std::atomic<int> retains = 0;
  cl_mem handle() { return reinterpret_cast<cl_mem>(this); }
  static CountingDriver& of(cl_mem memory) { return *reinterpret_cast<CountingDriver*>(memory); }
};

Dispatch countingDriver() {
  Dispatch cl;
  cl.clRetainMemObject = [](cl_mem memory) -> cl_int {
    ++CountingDriver::of(memory).references;
    ++CountingDriver::of(memory).retains;
    return CL_SUCCESS;
  };
  cl.clReleaseMemObject = [](cl_mem memory) -> cl_int {
    --CountingDriver::of(memory).references;
    return CL_SUCCESS;
  };
  return cl;
}

const Dispatch counting = countingDriver();

/// References of the driver's that are not libsplit's; nothing if that could not be told exactly,
/// since a thread was stopped in the midst of giving one back.
std::optional<long> without(CountingDriver& driver) {
  long left = 0;
  const bool isExact = counting.references.whileNothingChanges([&](const References::View& view) {
    left = driver.references - view.driversOf(driver.handle());
  });
  return isExact ? std::optional(left) : std::nullopt;
}

long childrenOf(CountingDriver& driver) {
  long children = 0;
  counting.references.whileNothingChanges(
      [&](const References::View& view) { children = view.childrenOf(driver.handle()); });
  return children;
}

TEST(References, ShareOneOfTheDrivers) {
  CountingDriver driver;
  {
    const auto first = Ref<cl_mem>::retain(counting, driver.handle());
    const auto second = Ref<cl_mem>::retain(counting, driver.handle());
    const Ref<cl_mem> third = first;
    EXPECT_EQ(driver.references, 2);
    EXPECT_EQ(driver.retains, 1);
    EXPECT_EQ(without(driver), 1);
  }
  EXPECT_EQ(driver.references, 1);
  EXPECT_EQ(without(driver), 1);
}

TEST(References, GoWithTheLast) {
  CountingDriver driver;
  auto made = Ref<cl_mem>::adopt(counting, driver.handle());
  EXPECT_EQ(without(driver), 0);
  auto copy = made;
  made = {};
  EXPECT_EQ(driver.references, 1);
  copy = {};
  EXPECT_EQ(driver.references, 0);
  EXPECT_EQ(driver.retains, 0);
}

TEST(References, AdoptedTwiceAreGivenBackTwice) {
  CountingDriver driver;
  driver.references = 2;
  {
    const auto first = Ref<cl_mem>::adopt(counting, driver.handle());
    const auto second = Ref<cl_mem>::adopt(counting, driver.handle());
    EXPECT_EQ(without(driver), 0);
  }
  EXPECT_EQ(driver.references, 0);
}

TEST(References, TellWhatLibsplitMade) {
  CountingDriver theirs, ours;
  const auto held = Ref<cl_mem>::retain(counting, theirs.handle());
  const auto made = Ref<cl_mem>::adopt(counting, ours.handle());
  int seen = 0;
  counting.references.whileNothingChanges([&](const References::View& view) {
    view.each([&](const References::Object& object) {
      EXPECT_EQ(object.kind, References::Kind::Memory);
      EXPECT_EQ(object.isOwn, object.handle == static_cast<void*>(ours.handle()));
      EXPECT_EQ(object.drivers, 1U);
      ++seen;
    });
  });
  EXPECT_EQ(seen, 2);
}

TEST(References, TellHowManyWereMadeOfAnObject) {
  CountingDriver whole, first, second;
  EXPECT_EQ(childrenOf(whole), 0);
  auto one = Ref<cl_mem>::adopt(counting, first.handle(), whole.handle());
  {
    const auto other = Ref<cl_mem>::adopt(counting, second.handle(), whole.handle());
    const auto same = other;
    EXPECT_EQ(childrenOf(whole), 2);
  }
  EXPECT_EQ(childrenOf(whole), 1);
  one = {};
  EXPECT_EQ(childrenOf(whole), 0);
}

TEST(References, AreExactHoweverManyThreadsComeAndGo) {
  CountingDriver driver;
  std::atomic<bool> isOver = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!isOver) {
        const auto one = Ref<cl_mem>::retain(counting, driver.handle());
        const Ref<cl_mem> another = one;
        EXPECT_GE(driver.references, 2);
      }
    });
  int exact = 0;
  for (int i = 0; i < 20000; ++i)
    if (const std::optional<long> left = without(driver)) {
      EXPECT_EQ(*left, 1);
      ++exact;
    }
  EXPECT_GT(exact, 0);
  isOver = true;
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(driver.references, 1);
}

TEST(References, AreLookedAtAtOneMoment) {
  constexpr int count = 64; // in many shards
  std::vector<CountingDriver> drivers(count);
  std::atomic<bool> isOver = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      for (std::size_t at = i; !isOver; at += 3)
        Ref<cl_mem>::retain(counting, drivers[at % count].handle());
    });
  int exact = 0;
  for (int i = 0; i < 5000; ++i) {
    long others = 0;
    const bool isExact = counting.references.whileNothingChanges([&](const References::View& view) {
      for (CountingDriver& driver : drivers)
        others += driver.references;
      view.each([&](const References::Object& object) { others -= object.drivers; });
    });
    if (isExact) { // else a thread was stopped in the midst of it
      EXPECT_EQ(others, count);
      ++exact;
    }
  }
  EXPECT_GT(exact, 0);
  isOver = true;
  for (std::thread& thread : threads)
    thread.join();
}

} // namespace
} // namespace libsplit::runtime
