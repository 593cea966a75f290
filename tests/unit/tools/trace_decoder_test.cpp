#include "tools/trace_decoder.h"

#include "runtime/trace/trace_format.h"
#include "tools/device_tracks.h"
#include "tools/trace_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace libsplit::tools {
namespace {

namespace record = runtime::record;
using Json = nlohmann::ordered_json;
using Track = runtime::TraceLayout::Track;

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

TEST(DeviceTracks, PutOverlappingWorkBesideEachOther) {
  DeviceTracks tracks;
  HostTime first = 100, second = 150, third = 205, fourth = 199;
  EXPECT_EQ(tracks.place(0, Track::Kernels, first, 200, 10).thread, 1);
  EXPECT_NE(tracks.place(0, Track::Kernels, second, 250, 10).thread, 1);
  EXPECT_EQ(tracks.place(0, Track::Kernels, third, 300, 10).thread, 1);
  EXPECT_EQ(tracks.place(1, Track::Kernels, fourth, 300, 10).thread, 1);
}

TEST(DeviceTracks, MoveABeginningWithinTheClocksError) {
  DeviceTracks tracks;
  HostTime first = 100, second = 195;
  tracks.place(0, Track::Kernels, first, 200, 10);
  EXPECT_EQ(tracks.place(0, Track::Kernels, second, 300, 10).thread, 1);
  EXPECT_EQ(second, 200);
}

TEST(DeviceTracks, KeepTheTimesOfWorkForWhichThereIsNoPlace) {
  DeviceTracks tracks;
  for (HostTime i = 0; i < 3 * DeviceTracks::most; ++i) {
    HostTime begin = 100 + i;
    EXPECT_LT(tracks.place(0, Track::Kernels, begin, 1000 + i, 10).beside, DeviceTracks::most);
    EXPECT_EQ(begin, 100 + i);
  }
}

/// A file, record by record.
class TraceBytes {
public:
  explicit TraceBytes(std::uint32_t version = record::version) {
    put(record::FileHead{record::magic, version, record::ownByteOrder, 1'000'000});
  }
  template <typename Record> TraceBytes& begin(Record fixed) {
    end();
    begin_ = bytes.size();
    fixed.head.kind = Record::kind;
    return put(fixed);
  }
  template <typename Part> TraceBytes& put(const Part& part) {
    bytes.append(reinterpret_cast<const char*>(&part), sizeof part);
    return *this;
  }
  TraceBytes& text(std::uint32_t number, const std::string& text) {
    begin(record::Text{{}, number, static_cast<std::uint32_t>(text.size())});
    bytes += text + std::string(record::padded(text.size()) - text.size(), '\0');
    return *this;
  }
  const std::string& end() {
    if (begin_ != 0) {
      const auto size = static_cast<std::uint32_t>(bytes.size() - begin_);
      std::memcpy(bytes.data() + begin_, &size, sizeof size);
    }
    begin_ = 0;
    return bytes;
  }

  std::string bytes;

private:
  std::size_t begin_ = 0;
};

/// Kernel "k" by halves on two devices, the second piece after a copy, for a call at 100 us; then
/// the next launch's copy, which was sent ahead; then a native launch.
TraceBytes example() {
  TraceBytes file;
  file.text(1, "k").text(2, "0.0").text(3, "cpu").text(4, "0.1").text(5, "clEnqueueNDRangeKernel");
  file.text(6, "from host").text(7, "too \"odd\"");
  file.begin(record::Options{{}, 0.0003}).begin(record::Buffer{{}, 1, 4096});
  file.begin(record::Device{{}, 0, 2, 3, 0, 4, 2000, 0, 1, 1, {}});
  file.begin(record::Device{{}, 1, 4, 3, 1, 4, 2000, 0, 0, 1, {}});
  file.begin(record::Launch{{}, 1, 1, 1, 0, 1, 2, 4, 1});
  for (const std::uint64_t each : {0, 64, 16, 0, 4}) // offset, global, local; two lengths
    file.put(each);
  file.put(std::array<unsigned char, 8>{1, 0xab, 0, 0}).put(record::LaunchBuffer{0, 1, 0, 4096});
  // 100 us after the origin.
  file.begin(record::Task{{}, 1, 1'100'000, 1'104'000, 1'190'000, 1, 5, 1, 0, 70, 0, 3, 1, 0, {}});
  const auto in = static_cast<std::uint8_t>(Track::TransfersIn);
  file.put(record::Work{11, 1'101'000, 1'102'000, 500, 600, 10'600, 1, 2048, 0, 6, 1, 0, in, 0, 0,
                        static_cast<std::uint8_t>(record::Uncounted::Stopover)});
  file.put(
      record::Work{12, 1'101'000, 1'102'000, 7'000, 9'000, 80'000, 0, 2, 4, 1, 0, 1, 0, 0, 0, 0});
  file.put(std::uint64_t{3}); // of an earlier call
  file.put(
      record::Work{13, 1'102'000, 1'103'000, 1'500, 11'000, 90'000, 2, 4, 4, 1, 1, 1, 0, 0, 0, 0});
  file.put(std::uint64_t{11});
  file.put(record::Holding{1, 2}).put(std::uint64_t{4096}).put(std::uint64_t{2048});
  file.begin(record::Task{{}, 1, 1'100'000, 1'104'000, 1'250'000, 1, 5, 1, 0, 70, 0, 1, 0, 1, {}});
  file.put(record::Work{14, 1'200'000, 1'201'000, 0, 0, 0, 1, 512, 0, 6, 1, 1, in, 0, 0, 0});
  file.put(std::uint64_t{13});
  file.begin(record::Native{{}, 1'300'000, 70, 1, 7, 0});
  file.end();
  return file;
}

std::vector<Json> eventsOf(const std::string& bytes) {
  std::istringstream stream(bytes);
  std::vector<Json> events;
  EXPECT_FALSE(decodeTrace(stream, [&](const Json& event) { events.push_back(event); }));
  return events;
}

std::string errorOf(const std::string& bytes) {
  std::istringstream stream(bytes);
  try {
    decodeTrace(stream, [](const Json&) {});
  } catch (const TraceError& error) {
    return error.what();
  }
  return "";
}

TEST(TraceDecoder, GivesTheEventsOfVersionTwo) {
  std::vector<Json> events = eventsOf(example().bytes);
  EXPECT_EQ(events[0]["args"]["version"], 2);
  auto find = [&](const char* phase, const std::string& name) {
    std::vector<Json> found;
    for (const Json& event : events)
      if (event["ph"] == phase && event["name"] == name)
        found.push_back(event);
    return found;
  };
  const Json launch = find("M", "libsplit_launch").at(0)["args"];
  EXPECT_EQ(launch["values"], Json::array({"", "01ab0000"}));
  EXPECT_EQ(launch["buffers"], Json::array({Json::array({0, 1, 0, 4096})}));
  EXPECT_EQ(launch["local"], Json::array({16}));
  const Json call = find("X", "clEnqueueNDRangeKernel").at(0);
  EXPECT_EQ(call["ts"], 100.0);
  EXPECT_EQ(call["dur"], 4.0);
  EXPECT_EQ(call["args"], (Json{{"kernel", "k"}, {"launch", 1}}));
  const auto pieces = find("X", "k");
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0]["ts"], 103.5); // behind by 94 to 95 us
  EXPECT_EQ(pieces[0]["dur"], 71.0);
  EXPECT_FALSE(pieces[0]["args"].contains("after")); // whose call that was is another's matter
  EXPECT_EQ(pieces[1]["args"]["after"], Json::array({11}));
  EXPECT_EQ(pieces[1]["args"]["first_group"], 2);
  const auto copies = find("X", "from host");
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0]["args"]["stopover"], 1);
  EXPECT_EQ(copies[1]["args"]["after"], Json::array({13}));
  EXPECT_EQ(copies[1]["ts"], 200.0); // the device told no times
  EXPECT_EQ(copies[1]["dur"], 50.0);
  EXPECT_EQ(find("C", "shares of k").at(0)["args"], (Json{{"0.0", 0.5}, {"0.1", 0.5}}));
  // 71 us on the one; on the other 10 for the copy, and 79.
  EXPECT_DOUBLE_EQ(find("C", "imbalance of k").at(0)["args"]["idle"], 1 - (71 + 89) / (2 * 89.0));
  EXPECT_EQ(find("C", "bytes of buffer 1").at(0)["args"], (Json{{"host", 4096}, {"0.1", 2048}}));
  EXPECT_EQ(find("i", "k").at(0)["args"]["native"], "too \"odd\"");
  const auto begins = find("s", "caused"), ends = find("f", "caused");
  ASSERT_EQ(begins.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(begins[i]["ts"], 100.0);
    EXPECT_EQ(begins[i]["id"], ends[i]["id"]);
  }
}

TEST(TraceDecoder, SaysWhereTheFileIsCut) {
  const std::string whole = example().bytes;
  for (std::size_t size = sizeof(record::FileHead) + 1; size < whole.size(); ++size) {
    std::istringstream stream(whole.substr(0, size));
    std::size_t events = 0;
    const auto cutAt = decodeTrace(stream, [&](const Json&) { ++events; });
    ASSERT_GE(events, 1U);
    if (cutAt) {
      ASSERT_LE(*cutAt, size);
      // Up to there it is whole.
      ASSERT_EQ(eventsOf(whole.substr(0, *cutAt)).size(), events);
    }
  }
}

TEST(TraceDecoder, NamesTheByteOfWhatIsWrong) {
  const std::string good = example().bytes;
  auto spoilt = [&](std::size_t byte, char value) {
    std::string bytes = good;
    bytes.at(byte) = value;
    return errorOf(bytes);
  };
  const std::string first = "byte " + std::to_string(sizeof(record::FileHead)) + " (record 1): ";
  EXPECT_EQ(errorOf(""), "byte 0: this is no trace");
  EXPECT_EQ(spoilt(3, 'x'), "byte 0: this is no trace");
  EXPECT_EQ(errorOf(TraceBytes(4).bytes),
            "byte 8: version 4 of the format is newer than this splittrace");
  EXPECT_EQ(spoilt(12, 1), "byte 12: this trace was written on a machine with another byte order");
  EXPECT_EQ(spoilt(24, 25), first + "no such record can have 25 bytes");
  EXPECT_EQ(spoilt(24, 0), first + "no such record can have 0 bytes");
  EXPECT_EQ(spoilt(24, 32), first + "the record is longer than what it holds");
  EXPECT_EQ(spoilt(28, 77), first + "there is no record of kind 77");
  EXPECT_EQ(spoilt(32, 9), first + "text 9 is not the next one");
  EXPECT_EQ(spoilt(36, 100), first + "the record is shorter than what it holds");
}

TEST(TraceDecoder, SurvivesWhateverAFileHolds) {
  std::mt19937 random(7);
  const std::string good = example().bytes;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 3; ++i)
      bytes[sizeof(record::FileHead) + random() % (bytes.size() - sizeof(record::FileHead))] =
          static_cast<char>(random());
    std::istringstream stream(bytes);
    try {
      readTrace(stream);
    } catch (const TraceError& error) {
      ASSERT_TRUE(std::string(error.what()).starts_with("byte ")) << error.what();
    }
  }
}

TEST(TraceDecoder, IsWhatReadersRead) {
  std::istringstream stream(example().bytes);
  const TraceContents contents = readTrace(stream);
  EXPECT_EQ(contents.calls.size(), 1U);
  EXPECT_EQ(contents.calls[0].works.size(), 4U);
  EXPECT_EQ(contents.natives.size(), 1U);
  EXPECT_EQ(contents.known.at(1).node, 1U);
  EXPECT_EQ(contents.launches.at(1).values.at(1).size(), 4U);
}

} // namespace
} // namespace libsplit::tools
