// What is kept on disk of earlier runs, for the questions what to prepare (cost/preparation.h) and
// whether moving data pays (cost/launch_cycle.h): what a program's launches took and how many there
// were, what preparing any program takes on this machine.
#pragma once

#include "runtime/core/disk_cache.h"
#include "runtime/program/origin.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace libsplit::runtime {

/// Of one program, as it was built for one device.
struct EarlierLaunches {
  double seconds = 0;          ///< that launches took at home while none was split
  double compiling = 0;        ///< that compiling its kernels for a device seemed to take
  double building = 0;         ///< that the driver takes for the program (buildingSeconds)
  double life = 0;             ///< from there to the end of the last run, less `compiling`
  double heldUp = 0;           ///< that runs were, or may have been, for it to be prepared
  std::set<std::string> begun; ///< kernels whose preparation was begun, and not over by the end
  struct Kernel {
    std::uint64_t launches = 0;
    /// That these took, as `seconds`; -1: it can't be split.
    double seconds = 0;
    bool operator==(const Kernel&) const = default;
  };
  std::map<std::string, Kernel> kernels; ///< of the last run

  bool operator==(const EarlierLaunches&) const = default;
};

/// Which kernel it is, whichever program object has it; the program itself with an empty name.
std::string identityOf(const Origin& origin, const std::string& kernel);

/// Thread-safe, and never throws for reasons of the environment, as the cache that it lies in:
/// what is gone or damaged was never there.
class EarlierRuns {
public:
  /// Must outlive this.
  explicit EarlierRuns(const DiskCache& cache) : cache_(cache) {}

  EarlierLaunches launchesOf(const Origin& origin) const;
  void keep(const Origin& origin, const EarlierLaunches& launches) const;

  /// Seconds that making a program's first kernel ready took; nothing if none ever was.
  std::optional<double> preparation() const;
  void keepPreparation(double seconds) const;

  /// Seconds that splitting a launch between `devices` costs (cost/split_cost.h), named as the user
  /// does; nothing if none ever was.
  std::optional<double> splitting(const std::string& devices) const;
  void keepSplitting(const std::string& devices, double seconds) const;

private:
  std::optional<double> secondsOf(const std::string& entry) const;

  const DiskCache& cache_;
};

} // namespace libsplit::runtime
