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
// Launches are timed until the least of a few tells what one takes; the first of its size is not
// one of them, since drivers compile then, and how much longer it took tells what compiling the
// kernel for another device may take. Those of GPUs do that when a program is built, and bring its
// buffers over when they are first used, which takes them long and says nothing of compiling.
// Launches too short to be split count for nothing.
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
// nothing is begun that may be under way when the program ends, by when it ended in its last run;
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
#include <cmath>
#include <cstdint>
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
  static constexpr unsigned samplesNeeded = 4; ///< of each size, with the first
  static constexpr std::size_t mostSizes = 64; ///< others are not told apart, and count for nothing

  /// A launch of so many work-items comes. Whether it should be timed.
  bool launched(std::uint64_t items) {
    if (sizes_.size() >= mostSizes && !sizes_.contains(items))
      return false;
    Size& size = sizes_[items];
    ++size.launches;
    seconds_ += size.each;
    return size.begun < samplesNeeded;
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
    Size& size = sizes_[items];
    seconds_ -= size.total();
    if (size.timed++ == 0) {
      size.first = seconds;
      // All that is known yet: so much of it was no compiling.
      size.once = std::max(0.0, seconds - guessedPreparation);
    } else {
      size.least = size.timed == 2 ? seconds : std::min(size.least, seconds);
      size.each = size.least < shortest ? 0 : size.least;
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
  /// Two launches of a size, at least, have been timed, so that this is known.
  bool knowsCompiling() const { return knowsCompiling_; }
  /// Launches of some size were timed twice or more, and those of none are long enough to be split.
  bool areTooShort() const { return knowsCompiling_ && seconds_ == 0; }

private:
  struct Size {
    std::uint64_t launches = 0;
    unsigned begun = 0; ///< to be timed
    unsigned timed = 0;
    double first = 0;
    double least = 0; ///< of those after the first
    double each = 0;  ///< the same, or 0 if that is too short
    double once = 0;
    double total() const { return once + each * static_cast<double>(launches); }
  };
  std::map<std::uint64_t, Size> sizes_; ///< by work-items
  double seconds_ = 0;
  double compiling_ = 0;
  bool knowsCompiling_ = false;
};

/// Whether to prepare a kernel whose launches took `kernel`, in a program whose launches all took
/// `programSeconds`, those of earlier runs included, and to prepare which takes `cost` seconds.
/// `part`: of it that may be spent (preparationPart).
inline bool isWorthPreparing(const LaunchTimes& kernel, double programSeconds, double cost,
                             double part) {
  return kernel.seconds() > 0 && cost <= part * programSeconds &&
         kernel.compiling() <= part * kernel.seconds();
}

/// The same in a program that is prepared already, `compiled` seconds of its kernels included.
inline bool isWorthPreparingToo(const LaunchTimes& kernel, double programSeconds, double compiled,
                                double part) {
  return kernel.knowsCompiling() && compiled + kernel.compiling() <= part * programSeconds;
}

/// Whether a program that has run for `elapsed` seconds may well end before something is over that
/// takes `cost`: its last run took `last`, or nobody knows (0), and this one may take a little
/// longer. Who runs for much longer than that goes on, for all that is known.
inline bool mayEndFirst(double elapsed, double last, double cost) {
  return last > 0 && std::abs(last - elapsed) < cost;
}

/// What building a program takes, of a run that took `seconds` for it, which may have been its
/// driver's cache, and earlier ones `earlier`. A machine that was busy once is forgotten.
inline double buildingSeconds(double seconds, double earlier) {
  constexpr double kept = 0.8;
  return std::max(seconds, kept * earlier);
}

} // namespace libsplit::runtime
