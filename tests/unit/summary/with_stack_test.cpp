#include "analysis-pass/summary/with_stack.h"

#include "analysis-pass/summary/evaluate.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <stdexcept>

#include <pthread.h>

namespace libsplit {
namespace {

constexpr std::size_t little = std::size_t{64} << 10;

/// Does `work` on a thread with so much stack.
template <class Work> void onThread(std::size_t stack, Work work) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, stack), 0);
  pthread_t thread;
  const auto run = [](void* of) -> void* {
    (*static_cast<Work*>(of))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

/// The thread on which work is done that needs so much, and does something with most of it.
pthread_t threadFor(std::size_t needed) {
  pthread_t at{};
  withStack(needed, [&] {
    at = pthread_self();
    std::array<char, little> used{};
    std::memset(used.data(), static_cast<int>(needed), used.size());
    EXPECT_EQ(used.front(), used.back());
  });
  return at;
}

TEST(WithStack, WorkStaysOnAThreadThatHasEnough) {
  EXPECT_TRUE(pthread_equal(threadFor(2 * little), pthread_self()));
  onThread(16 * little, [] { EXPECT_TRUE(pthread_equal(threadFor(2 * little), pthread_self())); });
}

TEST(WithStack, WorkLeavesAThreadThatHasNot) {
  onThread(little, [] { EXPECT_FALSE(pthread_equal(threadFor(2 * little), pthread_self())); });
}

TEST(WithStack, WhatWorkThrowsIsThrown) {
  onThread(little, [] {
    EXPECT_THROW(withStack(2 * little, [] { throw std::runtime_error("so"); }), std::runtime_error);
  });
}

TEST(WithStack, DeepExpressionsAreEvaluatedOnAnyThread) {
  Expr deep = Expr::id(Expr::Op::GlobalId, 0);
  for (int level = 0; level < 30; ++level)
    deep = Expr::node(Expr::Op::RemTrunc,
                      {deep * Expr::constant(5) + Expr::constant(3), Expr::constant(1021)});
  KernelSummary kernel;
  kernel.parameters = {{"a", "int*", ParameterKind::GlobalBuffer, 0}};
  Access& access = kernel.accesses.emplace_back();
  access.offset = Expr::constant(4) * deep;
  access.length = 4;
  const NDRange range{1, {}, {16, 1, 1}, {4, 1, 1}};
  onThread(little, [&] {
    const std::vector<ArgumentValue> arguments = {{{}, 1 << 20}};
    EXPECT_FALSE(evaluate(kernel, range, arguments, wholeBox(range))[0].reads.empty());
  });
}

} // namespace
} // namespace libsplit
