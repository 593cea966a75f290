#include "runtime/device/provider.h"

#include "tests/unit/runtime/fake_events.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace libsplit::runtime {
namespace {

TEST(Provider, MakesEachOnceWhoeverAsksAndTellsWhenItIsThere) {
  const Dispatch cl = FakeEvent::dispatch();
  std::atomic<int> made = 0, told = 0;
  Provider provider([&] { ++told; });
  auto there = std::make_shared<Provision>(cl, [&] {
    ++made;
    return CL_SUCCESS;
  });
  auto refused = std::make_shared<Provision>(cl, [&] {
    ++made;
    return CL_OUT_OF_RESOURCES;
  });
  const auto first = provider.provide({there, refused});
  const auto second = provider.provide({there});
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0], first[0]);
  EXPECT_EQ(first[0]->wait(), CL_SUCCESS);
  EXPECT_EQ(first[1]->wait(), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(made, 2);
  while (told == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(told, 1);
  Provisions pending;
  EXPECT_EQ(roomOf(there, pending), Room::There);
  EXPECT_EQ(roomOf(refused, pending), Room::None);
  EXPECT_TRUE(pending.empty());
}

} // namespace
} // namespace libsplit::runtime
