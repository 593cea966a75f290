#include "runtime/trace/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace libsplit::runtime {
namespace {

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

  bool addWrite(std::int64_t at) {
    bytes_.begin(record::NativeWrite{{}, at, 1, {}});
    return trace->add(bytes_.finish());
  }

  /// Ends the trace; what it wrote, from `begin` to end.
  std::vector<std::byte> finish() {
    std::vector<std::byte> all;
    std::thread reader([&] {
      std::array<std::byte, 65536> part;
      for (ssize_t got; (got = ::read(ends_[0], part.data(), part.size())) > 0;)
        all.insert(all.end(), part.begin(), part.begin() + got);
    });
    trace.reset();
    reader.join();
    return all;
  }

  std::unique_ptr<Trace> trace;

private:
  RecordBytes bytes_;
  std::array<int, 2> ends_{};
};

template <typename Part> Part at(const std::vector<std::byte>& bytes, std::size_t offset) {
  Part part;
  if (bytes.size() - offset < sizeof part)
    throw std::runtime_error("the trace is too short");
  std::memcpy(&part, bytes.data() + offset, sizeof part);
  return part;
}

/// The heads of all records.
std::vector<record::Head> headsOf(const std::vector<std::byte>& bytes) {
  std::vector<record::Head> heads;
  for (std::size_t i = sizeof(record::FileHead); i < bytes.size(); i += heads.back().size) {
    heads.push_back(at<record::Head>(bytes, i));
    if (heads.back().size < sizeof(record::Head) || heads.back().size > bytes.size() - i)
      throw std::runtime_error("a record is cut");
  }
  return heads;
}

TEST(Trace, BeginsWithWhatItIs) {
  const auto bytes = PipedTrace().finish();
  ASSERT_EQ(bytes.size(), sizeof(record::FileHead));
  const auto head = at<record::FileHead>(bytes, 0);
  EXPECT_EQ(head.magic, record::magic);
  EXPECT_EQ(head.version, record::version);
}

TEST(Trace, HoldsRecordsAsTheyWereAdded) {
  PipedTrace piped;
  RecordBytes bytes;
  bytes.begin(record::Kernel{{}, 7, 1, 3, 2});
  bytes.putText("abc");
  bytes.putAll<std::uint64_t>(std::array<std::uint64_t, 2>{0, 5});
  EXPECT_TRUE(piped.trace->add(bytes.finish()));
  EXPECT_TRUE(piped.addWrite(99));
  const auto written = piped.finish();
  const std::size_t kernel = sizeof(record::FileHead), size = sizeof(record::Kernel) + 8 + 2 * 8;
  EXPECT_EQ(at<record::Kernel>(written, kernel).head.size, size);
  EXPECT_EQ(at<record::Kernel>(written, kernel).head.kind, record::Kind::Kernel);
  EXPECT_EQ(std::memcmp(written.data() + kernel + sizeof(record::Kernel), "abc\0\0\0\0\0", 8), 0);
  EXPECT_EQ(at<std::uint64_t>(written, kernel + size - 8), 5U);
  EXPECT_EQ(at<record::NativeWrite>(written, kernel + size).at, 99);
}

TEST(Trace, SaysATextOnce) {
  PipedTrace piped;
  EXPECT_EQ(piped.trace->text("kernel"), 1U);
  EXPECT_EQ(piped.trace->text("other"), 2U);
  EXPECT_EQ(piped.trace->text("kernel"), 1U);
  EXPECT_EQ(headsOf(piped.finish()).size(), 2U);
}

TEST(Trace, DropsAndCountsWhatTheFileCannotTake) {
  PipedTrace piped;
  constexpr std::size_t records =
      Trace::maxPending / sizeof(record::NativeWrite) * 5 / 2; // the writer may hold one load
  std::size_t taken = 0;
  for (std::size_t i = 0; i < records; ++i)
    taken += piped.addWrite(1);
  EXPECT_LT(taken, records);
  EXPECT_EQ(piped.trace->text("there is no room for it"), 0U);
  const auto written = piped.finish();
  EXPECT_EQ(headsOf(written).size(), taken + 1);
  const auto last = at<record::Dropped>(written, written.size() - sizeof(record::Dropped));
  EXPECT_EQ(last.head.kind, record::Kind::Dropped);
  EXPECT_EQ(last.count, records - taken + 1);
}

TEST(Trace, SaysOnceThatTheDiskIsFull) {
  testing::internal::CaptureStderr();
  {
    Trace trace(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    for (int i = 0; i < 1000; ++i)
      trace.text(std::to_string(i));
  }
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
  EXPECT_NE(told.find("can't write the trace any further: No space left"), std::string::npos);
}

TEST(Trace, IgnoresWhatComesAfterItsEnd) {
  PipedTrace piped;
  EXPECT_TRUE(piped.addWrite(1));
  piped.trace->close();
  EXPECT_FALSE(piped.addWrite(2));
  EXPECT_EQ(headsOf(piped.finish()).size(), 1U);
}

} // namespace
} // namespace libsplit::runtime
