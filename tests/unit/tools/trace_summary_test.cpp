#include "tools/trace_summary.h"

#include "tools/trace_costs.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace libsplit::tools {
namespace {

/// Writes lines as the runtime does: a call, the work that it caused, arrows between them.
class TraceText {
public:
  TraceText() {
    line(R"({"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"app 7"}})");
    line(R"({"ph":"M","pid":2,"tid":0,"name":"process_name","args":{"name":"0.0 first, home"}})");
    line(R"({"ph":"M","pid":3,"tid":0,"name":"process_name","args":{"name":"0.1 second"}})");
  }

  TraceText& call(double at, const std::string& kernel = {}) {
    callAt_ = at;
    line(R"({"ph":"X","pid":1,"tid":70,"ts":)" + std::to_string(at) +
         R"(,"dur":1,"name":"clEnqueueNDRangeKernel")" +
         (kernel.empty() ? "" : R"(,"args":{"kernel":")" + kernel + R"("})") + "}");
    return *this;
  }

  /// `device` counts from 0; `track`: 1 kernels, 2 transfers to the device, 3 from it.
  TraceText& work(int device, int track, double at, double duration, const std::string& arguments,
                  const std::string& name = "k") {
    const std::string place = R"("pid":)" + std::to_string(device + 2) + R"(,"tid":)" +
                              std::to_string(track) + R"(,"ts":)" + std::to_string(at);
    line(R"({"ph":"X",)" + place + R"(,"dur":)" + std::to_string(duration) + R"(,"name":")" + name +
         R"(","args":{)" + arguments + "}}");
    const std::string id = std::to_string(++arrows_);
    line(R"({"ph":"s","pid":1,"tid":70,"ts":)" + std::to_string(callAt_) +
         R"(,"cat":"call","id":)" + id + R"(,"name":"caused"})");
    line(R"({"ph":"f",)" + place + R"(,"cat":"call","id":)" + id + R"(,"bp":"e","name":"caused"})");
    return *this;
  }

  TraceText& idle(double part) {
    line(R"({"ph":"C","pid":1,"tid":0,"ts":1,"name":"imbalance of k","args":{"idle":)" +
         std::to_string(part) + "}}");
    return *this;
  }

  TraceText& line(const std::string& event) {
    text_ += (text_.empty() ? "[\n" : ",\n") + event;
    return *this;
  }

  TraceSummary summary(const std::string& end = "\n]\n", std::size_t transfers = 5) const {
    std::istringstream stream(text_ + end);
    return summarize(readTrace(stream), transfers);
  }

  const std::string& text() const { return text_; }

private:
  std::string text_;
  double callAt_ = 0;
  int arrows_ = 0;
};

/// Two launches of k, split 1 to 3 and then evenly.
TraceText twoLaunches() {
  TraceText trace;
  trace.call(10, "k")
      .work(1, 2, 20, 5, R"("bytes":1000)", "from host")
      .work(0, 1, 30, 400, R"("groups":25,"first_group":0,"all_groups":100,"dimension":0)")
      .work(1, 1, 30, 800, R"("groups":75,"first_group":25,"all_groups":100,"dimension":0)")
      .idle(0.25);
  trace.call(1000, "k")
      .work(0, 3, 1010, 2, R"("bytes":300,"stopover":1)", "to host")
      .work(0, 1, 1020, 600, R"("groups":50,"first_group":0,"all_groups":100,"dimension":0)")
      .work(1, 1, 1020, 600, R"("groups":50,"first_group":50,"all_groups":100,"dimension":0)")
      .idle(0);
  return trace;
}

TEST(TraceSummary, AddsUpSharesSecondsAndBytes) {
  const TraceSummary summary = twoLaunches().summary();
  EXPECT_EQ(summary.program, "app 7");
  ASSERT_EQ(summary.kernels.size(), 1U);
  const KernelSummary& kernel = summary.kernels[0];
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.split, 2U);
  EXPECT_EQ(kernel.launches(), 2U);
  ASSERT_EQ(kernel.parts.size(), 2U);
  EXPECT_EQ(kernel.parts[0].device, "0.0");
  EXPECT_DOUBLE_EQ(kernel.parts[0].share, 0.375);
  EXPECT_DOUBLE_EQ(kernel.parts[0].lastShare, 0.5);
  EXPECT_NEAR(kernel.parts[0].seconds, 1000e-6, 1e-12);
  EXPECT_NEAR(kernel.parts[1].seconds, 1400e-6, 1e-12);
  EXPECT_EQ(kernel.parts[1].bytesIn, 1000U);
  EXPECT_EQ(kernel.parts[0].bytesOut, 300U);
  EXPECT_EQ(summary.bytesBetweenNodes, 1000U) << "a stopover is no arrival";
  EXPECT_NEAR(kernel.medianSeconds, 810e-6, 1e-12);
  EXPECT_DOUBLE_EQ(kernel.idle, 0) << "of the last quarter of the launches";
}

TEST(TraceSummary, CountsPartsThatOverlapNoLongerThanFromTheFirstStartToTheLastEnd) {
  TraceText trace;
  const auto part = [](int first, int groups) {
    return R"("dimension":0,"all_groups":100,"first_group":)" + std::to_string(first) +
           R"(,"groups":)" + std::to_string(groups);
  };
  // A boundary beside the rest; on the other device one after the other, with a gap.
  trace.call(10, "k")
      .work(0, 1, 20, 300, part(0, 5))
      .work(0, 1, 30, 400, part(5, 45))
      .work(1, 1, 20, 100, part(95, 5))
      .work(1, 1, 150, 200, part(50, 45));
  const KernelSummary kernel = trace.summary().kernels.at(0);
  EXPECT_NEAR(kernel.parts[0].seconds, 410e-6, 1e-12);
  EXPECT_NEAR(kernel.parts[1].seconds, 300e-6, 1e-12);
  std::istringstream stream(trace.text() + "\n]\n");
  const TraceContents contents = readTrace(stream);
  const RecordedLaunch launch = recordedLaunches(contents).at(0);
  EXPECT_NEAR(launch.seconds, 410e-6, 1e-12);
  double first = 0;
  for (const Part& each : launch.parts)
    first += each.device == 0 ? each.seconds : 0;
  EXPECT_NEAR(first, 410e-6, 1e-12);
}

TEST(TraceSummary, KnowsHowLongDevicesWereIdle) {
  const TraceSummary summary = twoLaunches().summary();
  EXPECT_NEAR(summary.seconds, 1600e-6, 1e-12); // 20 to 1620
  EXPECT_NEAR(summary.devices[0].idle, 1 - (400 + 2 + 600) / 1600.0, 1e-9);
  EXPECT_NEAR(summary.devices[1].idle, 1 - (5 + 800 + 600) / 1600.0, 1e-9);
}

TEST(TraceSummary, ShowsTheSlowestTransfersFirst) {
  const TraceSummary summary = twoLaunches().summary("\n]\n", 1);
  ASSERT_EQ(summary.slowest.size(), 1U);
  EXPECT_EQ(summary.slowest[0].bytes, 1000U);
  EXPECT_TRUE(summary.slowest[0].toDevice);
  EXPECT_EQ(summary.slowest[0].cause, "k");
}

TEST(TraceSummary, ReadsATraceThatWasCutShort) {
  EXPECT_EQ(twoLaunches().summary("").kernels[0].split, 2U);
  EXPECT_EQ(twoLaunches().summary(",\n{\"ph\":\"X\",\"pi").kernels[0].split, 2U);
}

TEST(TraceSummary, RejectsWhatIsNoTrace) {
  for (const char* text : {"", "hello\nworld\n", "[\n{\"ph\":\"X\"}\n]\n", "[\n17\n]\n"}) {
    std::istringstream stream(text);
    EXPECT_THROW(summarize(readTrace(stream), 5), TraceError) << text;
  }
  EXPECT_THROW(twoLaunches().line("not json").line("{}").summary(), TraceError);
  for (const char* event :
       {R"({"ph":"X","pid":2,"tid":1,"ts":1,"dur":1,"name":"k","args":5})",
        R"({"ph":"f","pid":2,"tid":1,"ts":1,"cat":"call","id":99,"bp":"e","name":"caused"})",
        R"({"ph":"X","pid":2,"tid":0,"ts":1,"dur":1,"name":"on no track"})",
        R"({"ph":"X","pid":4,"tid":1,"ts":1,"dur":1,"name":"on a device without a name"})"})
    EXPECT_THROW(twoLaunches().line(event).summary(), TraceError) << event;
  EXPECT_THROW(
      TraceText().call(10, "k").work(0, 1, 30, 400, R"("groups":25,"first_group":0)").summary(),
      TraceError)
      << "a piece lacks all_groups";
}

TEST(TraceReader, NamesTheByteThatIsWrong) {
  auto complaint = [](const std::string& text) {
    std::istringstream stream(text);
    try {
      readTrace(stream);
    } catch (const TraceError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string name =
      R"({"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"app"}})";
  // "[\n" are 2 bytes, the damage is 7 behind.
  EXPECT_EQ(complaint("[\n" + name + ",\n{\"ph\":#,\n" + name + "\n]\n"),
            "byte " + std::to_string(2 + name.size() + 2 + 6) +
                " (line 3): this is no event of a trace");
  EXPECT_EQ(complaint("\x7f"
                      "ELF\n\n"),
            "byte 0 (line 1): this is no trace");
  EXPECT_TRUE(complaint("[\n" + name + ",\n{\"ph\":\"X\"}\n]\n")
                  .starts_with("byte " + std::to_string(2 + name.size() + 2) + " (line 3): "));
  EXPECT_TRUE(complaint("").starts_with("this is no trace"));
}

TEST(TraceReader, SaysWhereATraceWasCut) {
  const std::string name =
      R"({"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"app"}})";
  std::istringstream stream("[\n" + name + ",\n{\"ph\":\"X\",\"pi");
  const TraceContents contents = readTrace(stream);
  EXPECT_EQ(contents.program, "app");
  EXPECT_EQ(contents.cutAt, 2 + name.size() + 2 + 13);
}

TEST(TraceReader, FindsTheCallAlsoWhereItStandsBehindItsWork) {
  TraceText trace;
  trace.call(10, "k").work(1, 1, 30, 400,
                           R"("groups":5,"first_group":0,"all_groups":5,"dimension":0)");
  std::istringstream stream([&] {
    std::string text = trace.text();
    const std::size_t begin = text.find(R"({"ph":"X","pid":1)"), end = text.find(",\n", begin) + 2;
    const std::string call = text.substr(begin, end - begin - 2);
    return text.erase(begin, end - begin) + ",\n" + call + "\n]\n";
  }());
  const TraceContents contents = readTrace(stream);
  ASSERT_EQ(contents.calls.size(), 1U);
  EXPECT_EQ(contents.calls[0].works.size(), 1U);
}

TEST(TraceReader, RefusesVersionsThatAreNewer) {
  auto of = [](const std::string& version) {
    std::istringstream stream(
        R"({"ph":"M","pid":1,"tid":0,"name":"libsplit_trace","args":{"version":)" + version +
        "}}\n");
    return readTrace(stream);
  };
  EXPECT_NO_THROW(of("1"));
  EXPECT_THROW(of("99"), TraceError);
}

TEST(TraceSummary, SaysWhyAKernelWasNeverSplit) {
  TraceText trace;
  trace.line(R"({"ph":"i","pid":1,"tid":70,"ts":5,"s":"t","name":"p","args":{"native":"printf"}})");
  const TraceSummary summary = trace.summary();
  ASSERT_EQ(summary.kernels.size(), 1U);
  EXPECT_EQ(summary.kernels[0].native, 1U);
  ASSERT_EQ(summary.advice.size(), 1U);
  EXPECT_NE(summary.advice[0].find("p was never split: printf"), std::string::npos);
  EXPECT_NE(summary.advice[0].find("splitc"), std::string::npos);
}

TEST(TraceSummary, AdvisesAnotherRunWhereTheAnalysisCameLate) {
  TraceText trace;
  trace.line(R"({"ph":"i","pid":1,"tid":70,"ts":5,"s":"t","name":"p",)"
             R"("args":{"native":"its analysis is not ready yet"}})");
  const TraceSummary summary = trace.summary();
  ASSERT_EQ(summary.advice.size(), 1U);
  EXPECT_NE(summary.advice[0].find("LIBSPLIT_WAIT_ANALYSIS=1"), std::string::npos);
  EXPECT_EQ(summary.advice[0].find("splitc"), std::string::npos);
}

TEST(TraceSummary, AdvisesWhereDevicesWaitAndWhereBytesCostMoreThanTheyGive) {
  TraceText trace;
  trace.call(10, "k")
      .work(1, 2, 20, 5000, R"("bytes":1000)", "from host")
      .work(0, 1, 30, 1000, R"("groups":5,"first_group":0,"all_groups":10,"dimension":0)")
      .work(1, 1, 5030, 1000, R"("groups":5,"first_group":5,"all_groups":10,"dimension":0)")
      .idle(0.4);
  const TraceSummary summary = trace.summary();
  auto advised = [&](const std::string& part) {
    return std::any_of(summary.advice.begin(), summary.advice.end(), [&](const std::string& each) {
      return each.find(part) != std::string::npos;
    });
  };
  EXPECT_TRUE(advised("wait for the slowest during 40 %"));
  EXPECT_TRUE(advised("k moves bytes on 0.1"));
  EXPECT_FALSE(advised("k moves bytes on 0.0"));
}

TEST(TraceSummary, NamesADeviceThatStartsItsPiecesLate) {
  TraceText trace;
  trace.call(10, "k")
      .work(0, 1, 30, 1000,
            R"("groups":5,"first_group":0,"all_groups":10,"dimension":0,)"
            R"("enqueued_us_before":10)")
      .work(1, 1, 50030, 1000,
            R"("groups":5,"first_group":5,"all_groups":10,"dimension":0,)"
            R"("enqueued_us_before":50000)");
  const TraceSummary summary = trace.summary();
  EXPECT_NEAR(summary.kernels[0].parts[1].startSeconds, 50e-3, 1e-9);
  ASSERT_FALSE(summary.advice.empty());
  EXPECT_NE(summary.advice[0].find("0.1 did nothing for 50.00 ms"), std::string::npos);
}

TEST(TraceSummary, CountsALaunchOnTheProgramsOwnDeviceAsUnsplit) {
  TraceText trace;
  trace.call(10, "k").work(0, 1, 30, 1000,
                           R"("groups":10,"first_group":0,"all_groups":10,"dimension":0)");
  const TraceSummary summary = trace.summary();
  EXPECT_EQ(summary.kernels[0].split, 0U);
  EXPECT_EQ(summary.kernels[0].unsplit, 1U);
}

TEST(TraceSummary, HasNothingToAdviseWhereAllIsWell) {
  EXPECT_TRUE(twoLaunches().summary().advice.empty());
}

TEST(TraceSummary, TellsWhatTheTraceLacks) {
  const TraceSummary summary =
      twoLaunches()
          .line(R"({"ph":"i","pid":1,"tid":0,"ts":9,"s":"t","name":"d","args":{"dropped":12}})")
          .summary();
  EXPECT_EQ(summary.dropped, 12U);
  ASSERT_FALSE(summary.advice.empty());
  EXPECT_NE(summary.advice[0].find("12"), std::string::npos);
}

TEST(TraceSummary, SaysTheSameInJson) {
  const auto json = toJson(twoLaunches().summary());
  EXPECT_EQ(json["bytes_between_nodes"], 1000);
  EXPECT_EQ(json["kernels"][0]["name"], "k");
  EXPECT_EQ(json["kernels"][0]["devices"][1]["bytes_in"], 1000);
  EXPECT_NE(toText(twoLaunches().summary()).find("k on 0.1"), std::string::npos);
}

} // namespace
} // namespace libsplit::tools
