// Decides, launch by launch of one kernel over one NDRange, whether to split and with which shares.
// Pure.
//
// Under `auto` the first launch runs on the program's own device and is timed. If it is too short
// to split, or if splitting turns out slower than that, the kernel stays there; both are looked at
// again now and then, ever more rarely. Otherwise the second launch gives the other devices a
// cautious share, and from then on the solver refines what was measured.
#pragma once

#include "runtime/options.h"
#include "solver/share_solver.h"

#include <memory>
#include <span>
#include <vector>

namespace libsplit::runtime {

class ShareController {
public:
  struct Setup {
    Policy policy;
    std::vector<double>
        speeds; ///< guessed relative speeds of the devices, > 0; 0: can't run the kernel
    /// Devices of the home device's own make, whose guessed speed can be relied on.
    std::vector<bool> likeHome;
    std::size_t home = 0;        ///< the program's own device; speeds.size() if it takes no part
    double minLaunchSeconds = 0; ///< `auto`: launches shorter than this stay at home
  };
  explicit ShareController(Setup setup);

  enum class Action {
    Native,  ///< as without libsplit
    Measure, ///< unsplit at home, timed: report by observeHome
    Split,   ///< by `shares`: report by observeSplit
  };
  struct Decision {
    Action action = Action::Native;
    std::span<const double> shares; ///< one per device; valid until the next call
  };
  Decision next();

  void observeHome(double seconds);
  /// `wallSeconds`: from the first transfer or kernel to the end of the last, all devices.
  void observeSplit(std::span<const solver::DeviceSample> samples, std::uint64_t totalGroups,
                    double wallSeconds);

private:
  Decision nextAuto();
  Decision split();
  std::unique_ptr<solver::ShareSolver> makeSolver() const;

  Setup setup_;
  std::vector<std::size_t> usable_; ///< devices that can run the kernel: the solver's devices
  std::unique_ptr<solver::ShareSolver> solver_;
  std::vector<double> shares_; ///< by device
  std::vector<solver::DeviceSample> usableSamples_;
  double homeSeconds_ = -1;
  double judgedSeconds_ = 0;     ///< wall time of the launches that the next verdict is about
  unsigned splits_ = 0;          ///< since the last verdict
  unsigned restingLaunches_ = 0; ///< native launches left before the next look
  unsigned shortRest_ = 64;      ///< how long the next rest of a short launch is
  unsigned rest_ = 16;           ///< … and of one that was slower split
};

/// A first guess at a device's speed, from what drivers tell; only ratios mean anything.
double guessedSpeed(bool isGpu, unsigned computeUnits, unsigned megahertz);

} // namespace libsplit::runtime
