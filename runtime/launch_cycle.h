// The launches of one queue as a cycle that repeats, with shares that suit all of it. Pure.
//
// Launches pass by one after another. Once they are seen to repeat (solver/sequence.h), each place
// of the cycle gets a profile of its kernel's load and, from the planner's regions, what the middle
// section of its work-groups needs and writes of each buffer. Where one launch needs in a section
// what another wrote in the same section, a cut that differs between the two moves bytes: that is a
// link. Joint shares follow, are tried for a few cycles if they promise a gain, and stay only if
// the cycle really got shorter; else they are tried again ever more rarely.
//
// Worked example: a Jacobi program launches stencil(a -> b), copy(b -> a) for ever, over 4096 rows
// of 16 KiB. Rows 1792 .. 2304 of the copy need exactly the rows of b that the stencil wrote there:
// 1/8 of the positions, 8 MiB, so a cut that is off by 1/8 moves 8 MiB in either direction.
#pragma once

#include "analysis-pass/summary/byte_set.h"
#include "solver/sequence.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace libsplit::runtime {

/// What the middle section of a launch does to one buffer.
struct SectionUse {
  const void* buffer = nullptr; ///< only compared
  ByteSet needs;
  ByteSet writes;
};

class LaunchCycle {
public:
  /// Part of a launch's groups that the section is, around the middle.
  static constexpr double sectionPart = 1.0 / 8;

  struct Passing {
    std::uint64_t id = 0;        ///< equal for launches of one kernel, key and set of buffers
    std::span<const double> own; ///< shares that suit it by itself, by device
    double secondsPerByte = 0;   ///< what moving costs; 0: not known
    /// Fills in what is known of the load, by device; false if nothing is. Called now and then.
    std::function<bool(solver::LoadProfile&)> profile;
    std::function<std::vector<SectionUse>()> section;
  };
  /// The shares by which the launch that passes should be split. Valid until the next call.
  std::span<const double> next(const Passing& launch);
  /// A launch that passed took so long, on the wall.
  void took(double seconds);

  /// Joint shares are in use.
  bool isJoint() const { return phase_ == Phase::Trying || phase_ == Phase::Joint; }
  std::size_t length() const { return places_.size(); }

private:
  enum class Phase {
    Watching, ///< the cycle with its own shares, timed
    Trying,   ///< joint shares, timed
    Joint,    ///< joint shares, for good
    Resting   ///< joint shares were no better
  };
  struct Place {
    std::vector<double> own;
    std::vector<double> joint;
    std::vector<SectionUse> section;
    solver::LoadProfile profile;
    bool isKnown = false;
  };
  void begin(std::size_t length);
  void enter(Phase phase);
  void cycleEnded(double secondsPerByte);
  std::vector<solver::CycleLink> links(double secondsPerByte) const;
  bool balance(double secondsPerByte);

  solver::CycleDetector detector_;
  std::vector<Place> places_;
  std::size_t at_ = 0; ///< the place that passes next
  Phase phase_ = Phase::Watching;
  std::size_t cycles_ = 0;      ///< that passed in this phase
  std::size_t timed_ = 0;       ///< launches that were timed in this phase
  double seconds_ = 0;          ///< … and what they took
  double ownSeconds_ = 0;       ///< of a cycle with its own shares
  std::size_t restCycles_ = 32; ///< how long the next rest is
};

} // namespace libsplit::runtime
