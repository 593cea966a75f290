#include "analysis-pass/pass/access_collector.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace libsplit {
namespace {

Access accessOf(unsigned parameter, Effect effect, const Expr& offset, std::uint64_t length) {
  Access access;
  access.parameter = parameter;
  access.effect = effect;
  access.offset = offset;
  access.length = length;
  access.certain = effect == Effect::Write;
  return access;
}

PathOfBlock always() {
  return {Condition::always(), {}};
}

/// One of no length would stand for no bytes at all.
void expectSomeBytes(const std::vector<Access>& accesses) {
  for (const Access& access : accesses)
    EXPECT_GT(access.length, 0u);
}

TEST(AccessCollector, OfTooManyItSaysThatTheirBuffersAreTouchedAnywhere) {
  AccessCollector collector;
  for (int i = 0; i < 5000; ++i) {
    collector.add(accessOf(0, Effect::Read, Expr::constant(8 * i), 4), always());
    collector.add(accessOf(1, Effect::Write, Expr::constant(8 * i), 4), always());
  }
  const std::vector<Access> accesses = collector.take();
  ASSERT_EQ(accesses.size(), 2u);
  expectSomeBytes(accesses);
  for (const Access& access : accesses) {
    EXPECT_TRUE(findUnknown(access.offset));
    EXPECT_FALSE(access.certain);
  }
}

TEST(AccessCollector, WhatHasAnUnknownSizeTouchesSomething) {
  AccessCollector collector;
  collector.add(accessOf(0, Effect::Write, Expr::unknown("copy of a computed size", 1), 0),
                always());
  const std::vector<Access> accesses = collector.take();
  ASSERT_EQ(accesses.size(), 1u);
  expectSomeBytes(accesses);
  EXPECT_FALSE(accesses[0].certain);
}

} // namespace
} // namespace libsplit
