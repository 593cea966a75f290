// Whether it is likely to pay to prepare a program for being split: to have it analysed, and built
// for other devices. That takes as much time as the program's own build, and more; most programs
// that run for a second or two would never gain it back.
//
// So what is not known from an earlier run is prepared once the launches so far took so long at
// home that preparing is a part of it that the program can bear: who ran for so long is expected to
// go on. Where the program itself keeps all processors busy, or others do, that is a small part,
// since it takes longer by what is taken from it. Where it leaves one idle, as most do whose work a
// GPU does, it loses nothing, and preparing may take as long as the launches did: so at most as
// much is wasted as was of use. What preparing takes was seen in earlier runs of any program.
// The first few launches of a size are timed, and then ever fewer; what one takes is their mean,
// without the longest, which something else may have held up: so a kernel counts whose launches
// take now 20 µs and now 5 ms. The first of its size is not one of them, since drivers compile
// then, and how much longer it took tells what compiling the kernel for another device may take.
// Those of GPUs do that when a program is built, and bring its buffers over when they are first
// used, which takes them long and says nothing of compiling. Where each launch has a size of its
// own, as the steps of an elimination do, the least that a work-item took tells of all. Launches
// too short to be split count for nothing.
//
// Of preparing, analysis is the part that can be broken off: a child process does it. Where a
// processor has nothing to do it is begun earlier, so that there is less left to do when the rest
// pays.
//
// What a kernel's launches took in the last run is kept, so that one which is launched once in a
// run is prepared as well, from the next run's start on.
//
// All that is meant for a machine whose second device is like the program's own, where a launch may
// come to take half as long. Where the others promise less by what their drivers tell of them, that
// much more has to have been launched: a processor beside a GPU fifty times as wide can't pay for
// being compiled for in seconds, and to compile for the GPU once more would hold up the program,
// since drivers do one thing at a time. Where launches leave the local size open and the
// driver has to make tiny groups, others promise as much on any machine (shape_search.h).
//
// Once a program is prepared for one kernel, all others that it launches follow, also those whose
// launches are short, as long as compiling them is such a part of what all launches took: what one
// kernel leaves on several devices another would have to bring home.
//
// What a driver compiles can't be broken off: a process that ends meanwhile waits for it. So
// nothing is begun that may be under way when the program ends, by when it ended in its last run,
// unless it is a small part of what launches took in all runs by which the program is held up then;
// the next run begins it, at its start, if it lasts for long enough. On a busy machine it takes
// longer below the program's own priority, by the inverse of the part that may be spent.
//
// Worked example. Launches of a kernel take 60 ms the first time, and 10 ms from then on; its
// program took 200 ms to build. With busyPart = 0.3 and nothing better known than
// guessedPreparation = 0.5 s, 167 launches go by, or the fewer the more the program's other kernels
// take; and of this kernel at least 17, for the 50 ms of compiling it. If a processor is idle, 50
// and 5 do; and in a later run, which knows that preparing took 0.25 s, 25.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace libsplit::runtime {

/// Of what launches took so far, that preparing others may take: where the program needs all
/// processors, and where it leaves one idle.
inline constexpr double busyPart = 0.3;
inline constexpr double idlePart = 1;
inline double preparationPart(double idleProcessors) {
  return busyPart + (idlePart - busyPart) * std::clamp(idleProcessors, 0.0, 1.0);
}
/// What sharing the work promises, beside what it does with a second device like the program's own.
/// `partOfOthers`: of the work, that the other devices would do.
inline double promiseOf(double partOfOthers) {
  return std::clamp(2 * partOfOthers, 0.0, 1.0);
}
/// Seconds that preparing a program takes, until it was seen.
inline constexpr double guessedPreparation = 0.5;

/// What a kernel's launches took at home while none was split. Not thread-safe.
class LaunchTimes {
public:
  static constexpr unsigned samplesNeeded = 4; ///< of each size, with the first; then it is known
  static constexpr std::size_t mostSizes = 64; ///< others are not timed

  /// A launch of so many work-items comes. Whether it should be timed.
  bool launched(std::uint64_t items) {
    if (sizes_.size() >= mostSizes && !sizes_.contains(items)) {
      seconds_ += guess(items);
      return false;
    }
    Size& size = sizes_[items];
    ++size.launches;
    seconds_ += size.each;
    return size.begun < samplesNeeded || std::has_single_bit(size.launches);
  }
  /// All had as many work-items.
  bool isOfOneSize() const { return sizes_.size() < 2; }
  /// It is being timed.
  void timing(std::uint64_t items) { ++sizes_[items].begun; }
  /// It never came: the driver refused it.
  void refused(std::uint64_t items) {
    Size& size = sizes_[items];
    --size.begun;
    --size.launches;
    seconds_ -= size.each;
    if (size.launches == 0)
      sizes_.erase(items);
  }
  /// One that was timed is over. `shortest`: what takes less is never split. `mayCompile`: the
  /// driver compiles for launches.
  void took(std::uint64_t items, double seconds, double shortest, bool mayCompile = true) {
    shortest_ = shortest;
    if (readings_++ > 0 && items > 0) {
      perItem_ = std::min(perItem_, seconds / static_cast<double>(items));
      longest_ = std::max(longest_, seconds);
    }
    Size& size = sizes_[items];
    seconds_ -= size.total();
    if (size.timed++ == 0) {
      size.first = seconds;
      size.each = guess(items);
      // All that is known yet: so much of it was no compiling.
      if (!guesses())
        size.once = std::max(0.0, seconds - guessedPreparation);
    } else {
      size.least = size.timed == 2 ? seconds : std::min(size.least, seconds);
      size.most = std::max(size.most, seconds);
      size.sum += seconds;
      size.each = size.mean() < shortest ? 0 : size.mean();
      size.once = 0;
      knowsCompiling_ = true;
      if (mayCompile)
        compiling_ = std::max(compiling_, size.first - seconds);
    }
    seconds_ += size.total();
  }
  /// Of all launches so far, as far as they may be split.
  double seconds() const { return seconds_; }
  /// What one of so many work-items takes; 0: that is not known.
  double secondsOf(std::uint64_t items) const {
    const auto size = sizes_.find(items);
    return size != sizes_.end() && size->second.timed > 1 ? size->second.least : 0;
  }
  /// What compiling the kernel for one device seems to take.
  double compiling() const { return compiling_; }
  /// Launches have been timed that tell, if there was any to tell.
  bool knowsCompiling() const { return knowsCompiling_ || guesses(); }
  /// Launches were timed that tell, and those of no size are long enough to be split.
  bool areTooShort() const { return knowsCompiling() && seconds_ == 0; }

private:
  struct Size {
    std::uint64_t launches = 0;
    unsigned begun = 0; ///< to be timed
    unsigned timed = 0;
    double first = 0;
    // Of those after the first:
    double least = 0, most = 0, sum = 0;
    double each = 0; ///< what one takes, or 0 if that is too short
    double once = 0;
    double mean() const { return timed < 3 ? sum : (sum - most) / (timed - 2); }
    double total() const { return once + each * static_cast<double>(launches); }
  };
  /// Enough were timed for sizes to be compared.
  bool guesses() const { return readings_ > 2; }
  /// What a launch takes of a size of which no other tells.
  double guess(std::uint64_t items) const {
    const double seconds = std::min(perItem_ * static_cast<double>(items), longest_);
    return !guesses() || seconds < shortest_ ? 0 : seconds;
  }

  std::map<std::uint64_t, Size> sizes_; ///< by work-items
  double seconds_ = 0;
  double compiling_ = 0;
  bool knowsCompiling_ = false;
  unsigned readings_ = 0;
  // But for the first of all:
  double perItem_ = std::numeric_limits<double>::infinity(); ///< seconds, at least
  double longest_ = 0;
  double shortest_ = 0;
};

/// Whether to prepare a kernel whose launches took `seconds`, with those of the last run, and which
/// takes `compiling` for itself, in a program whose launches all took `programSeconds`, those of
/// earlier runs included, and to prepare which takes `cost` seconds. `part`: of it that may be
/// spent (preparationPart).
inline bool isWorthPreparing(double seconds, double compiling, double programSeconds, double cost,
                             double part) {
  return seconds > 0 && cost <= part * programSeconds && compiling <= part * seconds;
}

/// Whether to analyse a program, and no more, on a processor that nobody needs: its launches, those
/// of earlier runs included, took `programSeconds`, and to prepare it takes `cost`.
inline bool isWorthAnalysing(double programSeconds, double cost) {
  constexpr double part = 0.1;
  return programSeconds > 0 && part * cost <= programSeconds;
}

/// Whether to prepare another kernel in a program that is prepared already, `compiled` seconds of
/// its kernels included.
inline bool isWorthPreparingToo(const LaunchTimes& kernel, double programSeconds, double compiled,
                                double part) {
  return kernel.knowsCompiling() && compiled + kernel.compiling() <= part * programSeconds;
}

/// Seconds by which a program that has run for `elapsed` may be held up at its end by something
/// that is begun now and takes `cost`: its last run took `last`, or nobody knows (0), and this one
/// may take a little longer. Who runs for much longer than that goes on, for all that is known.
inline double holdUp(double elapsed, double last, double cost) {
  const bool mayEndFirst = last > 0 && std::abs(last - elapsed) < cost;
  return mayEndFirst ? std::min(cost, elapsed + cost - last) : 0;
}
/// Of what launches took in all runs, that programs may be held up.
inline constexpr double heldUpPart = 0.01;

/// What a launch of `seconds` gains, by a careful guess, where nothing is known but what the other
/// devices seem to promise (promiseOf).
inline double guessedGain(double seconds, double promise) {
  return seconds * promise / 4; // half of the half that two alike would save
}

/// What building a program takes, of a run that took `seconds` for it, which may have been its
/// driver's cache, and earlier ones `earlier`. A machine that was busy once is forgotten.
inline double buildingSeconds(double seconds, double earlier) {
  constexpr double kept = 0.8;
  return std::max(seconds, kept * earlier);
}

} // namespace libsplit::runtime
