#include "runtime/trace/trace.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace libsplit::runtime {
namespace {

using Json = nlohmann::json;

TEST(DeviceClock, KnowsAnOffsetFromOneCommand) {
  DeviceClock clock;
  EXPECT_FALSE(clock.known());
  clock.observe(7'000, 100'000, 104'000);
  EXPECT_EQ(clock.toHost(7'000), 102'000);
  EXPECT_EQ(clock.toHost(57'000), 152'000);
  EXPECT_EQ(clock.uncertainty(), 2'000);
}

TEST(DeviceClock, GetsBetterWithEachTighterBound) {
  DeviceClock clock;
  clock.observe(0, 1'000, 2'000);
  clock.observe(100, 1'700, 9'000); // the offset is 1'600 or more
  EXPECT_EQ(clock.toHost(0), 1'800);
  clock.observe(200, 0, 1'850); // and 1'650 or less
  EXPECT_EQ(clock.toHost(0), 1'625);
  EXPECT_EQ(clock.uncertainty(), 25);
}

TEST(DeviceClock, FollowsAClockThatDrifts) {
  DeviceClock clock;
  clock.observe(0, 1'000, 1'010);
  clock.observe(1'000, 3'000, 3'010); // contradicts the first
  EXPECT_EQ(clock.toHost(1'000), 3'005);
}

/// A trace that writes into a pipe, which holds little: as long as nobody reads, the writer is
/// stuck.
class PipedTrace {
public:
  PipedTrace() {
    if (::pipe(ends_.data()) != 0)
      throw std::runtime_error("no pipe");
    trace = std::make_unique<Trace>(ends_[1]);
  }
  ~PipedTrace() { ::close(ends_[0]); }

  /// Ends the trace; what it wrote, from `begin` to end.
  std::string finish() {
    std::string text;
    std::thread reader([&] {
      std::array<char, 65536> part;
      for (ssize_t got; (got = ::read(ends_[0], part.data(), part.size())) > 0;)
        text.append(part.data(), static_cast<std::size_t>(got));
    });
    trace.reset();
    reader.join();
    return text;
  }

  std::unique_ptr<Trace> trace;

private:
  std::array<int, 2> ends_{};
};

TEST(Trace, IsAnArrayOfEvents) {
  PipedTrace piped;
  const HostTime now = hostNow();
  piped.trace->nameProcess(2, "a \"device\"\n");
  piped.trace->slice(2, 1, "kernel", now, now + 1'234'567,
                     {{"bytes", std::uint64_t{12}}, {"why", std::string("\\")}});
  piped.trace->counter(1, "shares", now, {{"0.0", 0.25}});
  piped.trace->arrow(1, 10, now, 2, 1, now + 5);
  const Json events = Json::parse(piped.finish());
  ASSERT_EQ(events.size(), 7U);
  EXPECT_EQ(events[0]["args"]["version"], TraceLayout::version);
  EXPECT_EQ(events[1]["args"]["name"], "a \"device\"\n");
  EXPECT_EQ(events[3]["ph"], "X");
  EXPECT_EQ(events[3]["dur"], 1234.567);
  EXPECT_EQ(events[3]["args"]["bytes"], 12);
  EXPECT_EQ(events[3]["args"]["why"], "\\");
  EXPECT_EQ(events[4]["args"]["0.0"], 0.25);
  EXPECT_EQ(events[5]["ph"], "s");
  EXPECT_EQ(events[6]["ph"], "f");
  EXPECT_EQ(events[5]["id"], events[6]["id"]);
}

TEST(Trace, IsAnArrayWithoutEventsToo) {
  const Json events = Json::parse(PipedTrace().finish());
  ASSERT_EQ(events.size(), 1U); // its version
  EXPECT_EQ(events[0]["name"], "libsplit_trace");
}

TEST(Trace, DropsAndCountsWhatTheFileCannotTake) {
  PipedTrace piped;
  constexpr std::size_t slices =
      Trace::maxPending * 5 / 2; // the writer may hold one load, the list another
  for (std::size_t i = 0; i < slices; ++i)
    piped.trace->slice(1, 1, "slice", 0, 1);
  const Json events = Json::parse(piped.finish());
  const Json& last = events.back();
  ASSERT_TRUE(last["args"].contains("dropped"));
  EXPECT_EQ(last["args"]["dropped"].get<std::size_t>() + events.size() - 2, slices);
}

TEST(Trace, SaysOnceThatTheDiskIsFull) {
  testing::internal::CaptureStderr();
  {
    Trace trace(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    for (int i = 0; i < 1000; ++i)
      trace.slice(1, 1, "slice", i, i + 1);
  }
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
  EXPECT_NE(told.find("can't write the trace any further: No space left"), std::string::npos);
}

TEST(Trace, PutsOverlappingWorkOnTracksBesideEachOther) {
  PipedTrace piped;
  const auto kernels = TracedWork::Track::Kernels;
  HostTime first = 100, second = 150, third = 205, fourth = 199;
  EXPECT_EQ(piped.trace->freeThread(2, kernels, first, 200, 10), 1);
  EXPECT_NE(piped.trace->freeThread(2, kernels, second, 250, 10), 1);
  EXPECT_EQ(piped.trace->freeThread(2, kernels, third, 300, 10), 1);
  EXPECT_EQ(piped.trace->freeThread(3, kernels, fourth, 300, 10), 1);
  piped.finish();
}

TEST(Trace, MovesABeginningWithinTheClocksError) {
  PipedTrace piped;
  HostTime first = 100, second = 195;
  piped.trace->freeThread(2, TracedWork::Track::Kernels, first, 200, 10);
  EXPECT_EQ(piped.trace->freeThread(2, TracedWork::Track::Kernels, second, 300, 10), 1);
  EXPECT_EQ(second, 200);
  piped.finish();
}

TEST(Trace, IgnoresWhatComesAfterItsEnd) {
  PipedTrace piped;
  piped.trace->slice(1, 1, "slice", 0, 1);
  std::string text;
  piped.trace->close();
  piped.trace->slice(1, 1, "late", 0, 1);
  EXPECT_EQ(Json::parse(piped.finish()).size(), 2U);
}

} // namespace
} // namespace libsplit::runtime
