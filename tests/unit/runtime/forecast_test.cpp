#include "runtime/plan/forecast.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

const Move halo{2, 1, ByteSet(40, 48)};
const auto late = [](const ByteSet&) { return true; };
const auto inTime = [](const ByteSet&) { return false; };

/// A launch on both nodes writes the buffer, half and half.
void write(Forecast& forecast) {
  forecast.wrote(1, ByteSet(0, 40));
  forecast.wrote(2, ByteSet(40, 80));
}

/// The next one reads it, and lacks the halo unless it was sent.
void read(Forecast& forecast, bool lacks) {
  forecast.wanted(1, ByteSet(0, 48), late);
  if (lacks)
    forecast.moved(halo);
}

/// Until the halo is sent ahead.
void learn(Forecast& forecast) {
  for (int i = 0; i < 2; ++i) {
    read(forecast, true);
    write(forecast);
  }
}

TEST(Forecast, whatWentTwiceIsSentAheadFromThenOn) {
  Forecast forecast;
  read(forecast, true);
  write(forecast);
  EXPECT_TRUE(forecast.due().empty());
  read(forecast, true);
  for (int i = 0; i < 10; ++i) {
    write(forecast);
    EXPECT_EQ(forecast.due(), std::vector<Move>{halo});
    EXPECT_TRUE(forecast.due().empty()) << "it is sent once";
    read(forecast, false);
  }
}

TEST(Forecast, rowsThatWentWithTheGapsBetweenThemAreWrittenAndWantedWithout) {
  // As rows of a grid do, of which the edges are never written, nor all of them read.
  const ByteSet rows = unite(ByteSet(0, 100), ByteSet(104, 204));
  Forecast forecast;
  const auto use = [&](bool lacks) {
    forecast.wanted(1, rows, late);
    if (lacks)
      forecast.moved({2, 1, ByteSet(0, 204)});
    forecast.wrote(2, rows);
  };
  use(true);
  EXPECT_TRUE(forecast.due().empty());
  use(true);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(forecast.due().size(), 1);
    use(false);
  }
  EXPECT_EQ(forecast.due().size(), 1);
  forecast.wanted(1, rows, late);
  forecast.wrote(2, ByteSet(0, 100)); // but a row is no gap
  EXPECT_TRUE(forecast.due().empty());
}

TEST(Forecast, tellsWhatWillDepart) {
  Forecast forecast;
  learn(forecast);
  EXPECT_TRUE(forecast.departing(2).empty()) << "it was written already";
  EXPECT_FALSE(forecast.mayDepart());
  EXPECT_FALSE(forecast.due().empty());
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(forecast.mayDepart()) << "nobody knows that it is late";
    read(forecast, false);
    if (i < 3) {
      write(forecast);
      EXPECT_FALSE(forecast.due().empty());
    }
  }
  EXPECT_EQ(forecast.departing(2), halo.bytes);
  EXPECT_TRUE(forecast.mayDepart());
  EXPECT_TRUE(forecast.departing(1).empty());
}

TEST(Forecast, whatArrivesInTimeNeedNotDepart) {
  Forecast forecast;
  learn(forecast);
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(forecast.due().empty());
    forecast.wanted(1, ByteSet(0, 48), inTime);
    EXPECT_FALSE(forecast.mayDepart());
    write(forecast);
  }
}

TEST(Forecast, whatIsWrittenTwiceBetweenReadsIsSentBehindTheSecond) {
  Forecast forecast;
  for (int i = 0; i < 10; ++i) {
    const bool isKnown = i >= 3; // when the second read said how often, and the third repeated it
    read(forecast, !isKnown);
    write(forecast);
    EXPECT_TRUE(forecast.due().empty());
    write(forecast);
    EXPECT_EQ(forecast.due().size(), i >= 2 ? 1u : 0u);
  }
}

TEST(Forecast, whatTwoNodesWriteByTurnsGoesToAndFro) {
  // In place: node 1 changes the halo beyond its boundary, and node 2 changes it back.
  Forecast forecast;
  const Move back{1, 2, halo.bytes};
  const ByteSet all(40, 80);
  bool goesAhead = false, comesAhead = false;
  for (int i = 0; i < 10; ++i) {
    read(forecast, !goesAhead);
    forecast.wrote(1, halo.bytes);
    comesAhead = forecast.due() == std::vector<Move>{back};
    EXPECT_EQ(comesAhead, i >= 3);
    forecast.wanted(2, all, late);
    if (!comesAhead)
      forecast.moved(back);
    EXPECT_EQ(forecast.departing(2), i >= 6 ? halo.bytes : ByteSet());
    forecast.wrote(2, all);
    goesAhead = forecast.due() == std::vector<Move>{halo};
    EXPECT_EQ(goesAhead, i >= 2);
  }
}

TEST(Forecast, whatAnotherNodeOverwritesIsNotSent) {
  Forecast forecast;
  for (int i = 0; i < 10; ++i) {
    read(forecast, true);
    forecast.wrote(0, ByteSet(40, 48));
    EXPECT_TRUE(forecast.due().empty());
  }
}

TEST(Forecast, whatIsWrittenInPartIsNotSent) {
  Forecast forecast;
  for (int i = 0; i < 10; ++i) {
    read(forecast, true);
    forecast.wrote(2, ByteSet(40, 44));
    EXPECT_TRUE(forecast.due().empty());
  }
}

TEST(Forecast, sendingInVainIsTriedEverMoreRarely) {
  Forecast forecast;
  std::size_t vain = 0;
  for (int round = 0; round < 1000; ++round) {
    // Three times as if it repeated, then two writes.
    for (int i = 0; i < 3; ++i) {
      const bool lacks = forecast.due().empty();
      read(forecast, lacks);
      write(forecast);
    }
    vain += forecast.due().size();
    write(forecast);
    vain += forecast.due().size();
    read(forecast, true);
    write(forecast);
    write(forecast);
  }
  EXPECT_LE(vain, 4u);
}

TEST(Forecast, aRouteThatMovesElsewhereIsAnotherOne) {
  Forecast forecast;
  learn(forecast);
  EXPECT_FALSE(forecast.due().empty());
  // The shares change: another halo.
  const Move other{2, 1, ByteSet(48, 56)};
  forecast.wanted(1, ByteSet(0, 56), late);
  forecast.moved(other);
  forecast.wrote(1, ByteSet(0, 48));
  forecast.wrote(2, ByteSet(48, 80));
  EXPECT_TRUE(forecast.due().empty());
}

} // namespace
} // namespace libsplit::runtime
