// Whether one device alone is faster than several together. A load model can't tell: devices that
// share a memory, a bus or a power budget hinder each other, so that what a device did in company
// says little of what it does alone. Both ways are run and their seconds compared; one goes
// on alone unless all together are clearly faster, and the other way is tried again ever more
// rarely. A trial that finds the other way to be faster contradicts all that held before it. The
// devices may have changed for good, or somebody else have used them for a moment; so from then on
// trials come as if the first launch had been then.
//
// Worked example: 2, 6 and 24 cores of one machine work on a kernel that its memory limits.
// Together they take 8.0 ms, of which the 24 cores do three quarters, so that 10.7 ms are expected
// of these alone. After five launches the third more is less than a tenth of the time so far, and a
// trial begins: 7.8 ms, and as the two ways are nearly the same, seven launches more. Their mean is
// 7.8 ms too; the 24 cores go on alone. The three together are tried next after twenty launches.
#pragma once

#include <algorithm>

namespace libsplit::solver {

class AloneTrial {
public:
  enum class Way { Together, Alone };

  /// How the next launch should run.
  Way way() const { return isTrying_ && underWay_ < wanted() ? other() : settled_; }

  /// A launch begins so: no more of the other way are asked for before its end is heard of than
  /// the trial needs.
  void begins() { underWay_ += way() != settled_ ? 1 : 0; }

  /// A launch that ran that way took so many seconds. True if one device alone, having been the
  /// faster way, has become slower than it was: all work together again.
  bool took(Way ran, double seconds);

  /// The shares of those that work together have changed: what launches took so far is history.
  void sharesChanged() { together_ = {}; }

  /// Tries the other way, which is expected to take so long, if that costs no more than `part` of
  /// the time of the launches since the last change, of `age` so far.
  void consider(double expectedSeconds, double age, double part);

  bool isTrying() const { return isTrying_; }

  /// Launches since one way took over from the other, of `age` so far.
  double since(double age) const { return hasChanged_ ? 0 : age - changedAt_; }

  /// What launches took that way; 0: not known.
  double seconds(Way way) const { return (way == Way::Alone ? alone_ : together_).seconds; }

private:
  struct Mean {
    double seconds = 0;
    double last = 0;
    int launches = 0;
    void add(double more, int window) {
      last = more;
      launches = std::min(launches + 1, window);
      seconds += (more - seconds) / launches;
    }
  };
  int wanted() const;
  bool isClose() const;
  void settle(Way way);
  Way other() const { return settled_ == Way::Alone ? Way::Together : Way::Alone; }
  Mean& of(Way way) { return way == Way::Alone ? alone_ : together_; }

  Way settled_ = Way::Together;
  bool isTrying_ = false;
  bool doubted_ = false; ///< the last launch of one device alone was slower than it was
  int underWay_ = 0;     ///< launches of the trial
  int unheard_ = 0;      ///< others that ended since the last of it did
  Mean together_, alone_, trial_;
  bool hasChanged_ = false; ///< `settled_`, since somebody told of the age
  double changedAt_ = 0;    ///< age when it did
  double nextAge_ = 0;      ///< launches since then from which on a trial may begin
};

} // namespace libsplit::solver
