// Devices and loads that exist as formulas, so that solvers can be held against the true optimum.
#pragma once

#include "solver/chunk_plan.h"
#include "solver/share_solver.h"

#include <random>
#include <vector>

namespace libsplit::simulator {

struct Device {
  double speed = 1;    ///< average groups per second
  double latency = 0;  ///< seconds per launch or chunk
  double transfer = 0; ///< seconds per group and launch
  double wave = 0;     ///< groups that run at once: time goes in whole waves, as EP's; 0: smooth
};

/// How the work lies over the groups, mean 1.
enum class Load { Uniform, Rising, Triangle, Bump, Rough };

class Machine {
public:
  Machine(std::vector<Device> devices, std::uint64_t groups, Load load, double noise,
          std::uint32_t seed);

  std::uint64_t groups() const { return groups_; }
  std::size_t size() const { return devices_.size(); }
  Device& device(std::size_t i) { return devices_[i]; }

  /// Makes the work lie differently: `phase` moves the load's shape along the groups.
  void setLoad(Load load, double phase = 0);

  /// Lets all devices together do no more than `groupsPerSecond` while two or more of them work, as
  /// those do that share a memory; 0, as at first: they don't hinder each other.
  void setShared(double groupsPerSecond) { shared_ = groupsPerSecond; }

  /// True seconds of `device` for groups [begin, end) if no other works; 0 for none.
  double seconds(std::size_t device, std::uint64_t begin, std::uint64_t end) const;

  /// True seconds of a launch with `shares`, rounded to groups.
  double makespan(std::span<const double> shares) const;

  /// Runs a launch: what a solver gets to see, with noise.
  std::vector<solver::DeviceSample> launch(std::span<const double> shares);

  /// Runs a launch in chunks; the true seconds from its start to the end of the last chunk.
  double launchInChunks(solver::ChunkPlan& plan);

  /// The least seconds of any way to cut the groups into one range per device, in device order,
  /// for devices that don't hinder each other.
  double optimum() const;
  /// Shares that reach it.
  std::vector<double> optimalShares() const;
  double bestSingle() const;

private:
  double noisy(double seconds);
  std::vector<double> secondsTogether(std::span<const std::uint64_t> counts) const;
  double hindrance(const std::vector<double>& left) const;
  std::uint64_t reach(std::size_t device, std::uint64_t begin, double limit) const;

  std::vector<Device> devices_;
  std::uint64_t groups_;
  double noise_;
  double shared_ = 0;
  std::mt19937 random_;
  std::vector<double> work_; // prefix sums over groups
};

/// A machine of 2 to 16 devices, with everything that can differ drawn from `seed`.
Machine randomMachine(std::uint32_t seed);

} // namespace libsplit::simulator
