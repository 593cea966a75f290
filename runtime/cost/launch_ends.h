// What launches of one queue take that follow each other without a wait. Pure.
//
// A program that waits for each launch shows what that takes. Where many are under way nobody sees
// one of them end: a thread that looks finds three over at once, and late. But their devices tell,
// each by a clock of its own, when their parts ended. So a launch takes from when the one before it
// ended, or from when the program called if that was later, until it ends itself. What the program
// does in between is none of it, and all launches together take what passed.
//
// A device's clock says nothing to the host by itself. But nobody sees an end before it has
// happened: the least that passed between an end and somebody's seeing it, of the latest ones, is
// how far the two clocks are apart. What is said to have ended before it was called, or after
// somebody saw it over, is taken to have ended just then, so a clock that tells nonsense does not
// get far.
//
// Worked example: three launches are called at 0, 10 and 700 us. They end at 200, 390 and 890 us,
// and are all noticed at 1 ms. They took 200, 190 and 190 us: for 310 us the queue was empty.
#pragma once

#include "runtime/cost/latest.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace libsplit::runtime {

/// Of one queue. Not thread-safe.
class LaunchEnds {
public:
  /// The end of one device's part of a launch, on that device's clock.
  struct End {
    std::size_t device = 0;
    double seconds = 0;
  };
  /// One that is over. Times are the host's, in seconds.
  struct Launch {
    std::uint64_t number = 0; ///< among its queue's launches
    std::uint64_t task = 0;   ///< … and among its tasks
    double called = 0;        ///< when the program enqueued it
    double noticed = 0;       ///< when it was known to be over
    bool isSeen = false;      ///< somebody waited for it until then
    std::span<const End> ends;
  };
  /// Seconds that it took of its queue. Nothing where what came before it is not known, or no end
  /// was seen yet of some device.
  std::optional<double> took(const Launch& launch);

private:
  std::vector<Latest<16>> lags_; ///< by device: from an end on its clock to its being seen
  std::uint64_t lastNumber_ = 0, lastTask_ = 0;
  double lastEnd_ = 0; ///< the host's
};

} // namespace libsplit::runtime
