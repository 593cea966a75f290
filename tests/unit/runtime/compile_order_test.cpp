#include "runtime/device/compile_order.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

EnqueuedRange range(std::size_t offset, std::size_t global, std::size_t local) {
  return {{offset, 0, 0}, {global, 1, 1}, {local, 1, 1}, true};
}

TEST(CompileOrder, ComesThroughAsItWas) {
  using Kind = CompileOrder::Argument::Kind;
  CompileOrder order;
  order.platform = 1;
  order.device = 2;
  order.text = "kernel void k() { /* \xff\x80 no UTF-8 */ }";
  order.options = " -DX=\"\xe4\"";
  order.kernel = "k";
  order.arguments = {{Kind::Buffer, std::uint64_t{7} << 32, {}},
                     {Kind::Local, 64, {}},
                     {Kind::Value, 4, {1, 0, 255, 3}}};
  order.dimensions = 2;
  order.launches = {range(64, 128, 64), {{}, {3, 1, 1}, {1, 1, 1}, false}};
  const auto orders = parseCompileOrders(serialize({&order, 1}));
  ASSERT_TRUE(orders);
  ASSERT_EQ(orders->size(), 1u);
  const CompileOrder& same = orders->front();
  EXPECT_EQ(same.platform, order.platform);
  EXPECT_EQ(same.device, order.device);
  EXPECT_EQ(same.text, order.text);
  EXPECT_EQ(same.options, order.options);
  EXPECT_EQ(same.kernel, order.kernel);
  EXPECT_EQ(same.dimensions, order.dimensions);
  EXPECT_EQ(same.launches, order.launches);
  ASSERT_EQ(same.arguments.size(), order.arguments.size());
  for (std::size_t i = 0; i < same.arguments.size(); ++i) {
    EXPECT_EQ(same.arguments[i].kind, order.arguments[i].kind);
    EXPECT_EQ(same.arguments[i].size, order.arguments[i].size);
    EXPECT_EQ(same.arguments[i].value, order.arguments[i].value);
  }
}

TEST(CompileOrder, NonsenseIsNone) {
  EXPECT_FALSE(parseCompileOrders(""));
  EXPECT_FALSE(parseCompileOrders("nonsense"));
  const CompileOrder order;
  const std::string text = serialize({&order, 1});
  EXPECT_FALSE(parseCompileOrders(text.substr(0, text.size() / 2)));
}

TEST(CompileOrder, OneWorkGroupStandsForASmallNDRange) {
  EXPECT_EQ(leastLike(range(4096, 4096, 64), 0), (std::vector<EnqueuedRange>{range(4096, 64, 64)}));
}

TEST(CompileOrder, ALargeNDRangeStaysOneAndItsPartsMayBeSmall) {
  const std::vector<EnqueuedRange> both = leastLike(range(0, 1 << 17, 64), 0);
  EXPECT_EQ(both, (std::vector<EnqueuedRange>{range(0, 1 << 16, 64), range(0, 64, 64)}));
  EXPECT_EQ(leastLike(range(0, 1 << 24, 64), 0).size(), 1u) << "an eighth of it is large as well";
}

TEST(CompileOrder, WhereTheDriverChoosesTheLocalSizeTheNDRangeIsTheSame) {
  EnqueuedRange open = range(0, 1003, 1);
  open.localGiven = false;
  EXPECT_EQ(leastLike(open, 0), std::vector<EnqueuedRange>{open});
}

TEST(CompileOrder, TriesOfAllRunsTogetherTakeNoLongerThanOne) {
  EXPECT_EQ(patienceLeft(std::nullopt), patienceWithCompiling);
  EXPECT_DOUBLE_EQ(patienceLeft(brokenOffAfter(2.5)), patienceWithCompiling - 2.5);
  EXPECT_EQ(patienceLeft(brokenOffAfter(patienceWithCompiling + 1)), 0);
  for (const std::string other : {wasCompiled, wasTried, ""})
    EXPECT_EQ(patienceLeft(other), 0) << other;
}

} // namespace
} // namespace libsplit::runtime
