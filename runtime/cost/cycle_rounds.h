// What the launches of a cycle take as the program sees it: by its own waits. Pure.
//
// What each launch takes is not all that a program waits for. Where it enqueues many and waits for
// the last, the first few after a wait, or after a change of shares, take longer than all others,
// and what one takes by itself at home says little of twenty in a row. So where the program itself
// waits after a few cycles, those are its rounds: from the first call of a round to the end of the
// wait passes what the user sees, at home as well as split. The first round of a way is not
// counted: it moves data, and only there launches are timed, which makes it longer. Of the others
// what is usual counts, and is given for a cycle.
//
// Worked example: a program launches two kernels in turn, and waits after twenty. Rounds of 1.04 ms
// at home, where each launch was said to take 69 us by itself, and 1.9, 0.9, 0.8, 0.7, 0.8 ms
// split: 104 us a cycle there, and 80 split.
#pragma once

#include "runtime/cost/latest.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace libsplit::runtime {

/// Of one queue. Not thread-safe.
class CycleRounds {
public:
  /// How a launch was done.
  struct Done {
    bool isAtHome = true;
    std::uint64_t phase = 0; ///< of splitting, if it was split
    bool operator==(const Done&) const = default;
  };

  /// The launches make another cycle, of so many.
  void begin(std::size_t length);
  /// What is known of split rounds is of the phase before.
  void beginPhase(std::uint64_t phase);
  /// A launch passes. Nothing: it is of no cycle, or decides by itself.
  void pass(const std::optional<Done>& done);
  /// Those so far, so many by the queue's account, made a round of so many seconds; 0: not known.
  void end(double seconds, std::uint64_t launches);
  /// They can't be told from each other: they are of several kinds, say.
  void giveUp() { isGivenUp_ = true; }

  /// Whether enough is known of home, and the program goes on waiting after so few cycles.
  bool tellHome() const;
  /// … of this phase.
  bool tellSplit() const { return split_.known().size() >= timed; }
  /// No round of this phase is over.
  bool isFirst() const { return isFirst_; }
  /// Seconds of a cycle, of what is known.
  double home() const { return home_.quantile(usual); }
  double split() const { return split_.quantile(usual); }
  /// … of the shortest, if there are several of this phase.
  std::optional<double> leastSplit() const;
  /// Most of many split rounds were longer than they usually are at home.
  bool areSlowerOfLate() const;
  /// Cycles after which a phase is given up that its rounds do not tell of.
  std::uint64_t longestTrial() const;
  /// Whether finding out what they take at home is a small part of so many cycles.
  bool mayLearnHome(double cycles) const;
  /// … that finding out may take.
  static constexpr double learningPart = 0.01;

private:
  static constexpr std::size_t timed = 4;
  static constexpr std::uint64_t mostCycles = 32; ///< of a round
  static constexpr double usual = 0.45;           ///< the lower one of two in the middle
  struct Round {
    std::uint64_t launches = 0;
    bool isMixed = false;
    std::optional<Done> done;
  };

  std::size_t length_ = 0; ///< of the cycle; 0: there is none
  std::uint64_t phase_ = 0;
  Round round_;                     ///< under way
  std::optional<Done> last_;        ///< how the round before it was done; nothing: in several ways
  std::uint64_t launches_ = 0;      ///< of rounds that make no whole cycles yet
  double seconds_ = 0;              ///< … that they took
  std::uint64_t roundLaunches_ = 0; ///< of the last round
  std::uint64_t cycles_ = 0;        ///< of the last reading
  Latest<32> home_;
  Latest<16> split_;
  bool isFirst_ = true;
  bool isGivenUp_ = false;
};

} // namespace libsplit::runtime
