// What is known of a kernel's cost: how fast each device is, what a launch costs it at least, and
// where in the NDRange the work lies.
//
//     seconds(d, [b, e)) = start_d + latency_d + cost_d * groups * ∫_[b,e) density
//                          + moving_d * groups * (e - b)
//
// over positions 0..1 of the split dimension. The density is piecewise constant over 32 bins with
// mean 1; cost_d is seconds per average group. What moving costs, and when a device gets its part,
// is measured apart and only added; the rest is learnt.
//
// Learnt by Gauss-Newton on log(seconds) over the last samples, older ones counting less. Each fit
// penalises moving the density away from what it was, bin to bin, so that a few totals bend it
// gently and the chunks of a first launch shape it fully. That is what separates "this device is
// slow" from "this device has the heavy rows": once a cut moves, the totals disagree on one of
// them. Normal equations of 2n + 32 unknowns, Cholesky; nothing is allocated after construction.
// Once launches come as predicted, several are fitted together: a fit costs as much as some
// hundred kilobytes moved.
#pragma once

#include "solver/simplex.h"

#include <Eigen/Cholesky>

#include <array>

namespace libsplit::solver {

struct LoadSample {
  Eigen::Index device = 0;
  double begin = 0; ///< position, 0..1
  double end = 0;
  double groups = 0;  ///< of the whole launch
  double seconds = 0; ///< at work: without moving and the start, where these are known
  double weight = 1;
};

class LoadModel {
public:
  static constexpr int bins = 32;

  explicit LoadModel(Eigen::Index devices);

  /// Takes one launch's samples: ages what was there, forgets a device's past where it contradicts,
  /// and fits. Seconds must be positive and finite.
  void learn(std::span<const LoadSample> samples);

  bool knows(Eigen::Index device) const { return timings_[device] > 0; }
  /// Whether it is known by one timing alone, which may hold what its driver compiled.
  bool isDoubtful(Eigen::Index device) const { return timings_[device] == 1; }
  double speed(Eigen::Index device) const; ///< average groups per second; 0 if not known
  double seconds(Eigen::Index device, double begin, double end, double groups) const;
  /// The furthest end for which seconds(device, begin, end) <= limit; `begin` if none is.
  double reach(Eigen::Index device, double begin, double limit, double groups) const;

  /// Steady seconds per group that moving data costs `device`.
  void setMoving(Eigen::Index device, double secondsPerGroup) { moving_[device] = secondsPerGroup; }
  /// Seconds after which `device` begins with its part of a launch.
  void setStart(Eigen::Index device, double seconds) { start_[device] = seconds; }

  /// Cuts that let all devices end together as early as possible, in device order and whole groups;
  /// a device that would not help gets nothing. Returns the predicted seconds. Devices that are not
  /// known get nothing, the others at most their share in `limits` (where these suffice).
  double balance(Vector& shares, double groups, const Vector& limits) const;
  void describe(LoadProfile& profile, double groups) const;
  double noise() const { return noise_; }
  double makespan(const Vector& shares, double groups) const;

private:
  static constexpr std::size_t capacity = 192;
  static constexpr int earlyLaunches = 8; ///< each of these is fitted at once …
  static constexpr int calmLaunches = 8;  ///< … and later, while calm, so many together

  double work(double begin, double end) const; ///< ∫ density
  double atWork(Eigen::Index device, double begin, double end, double groups) const;
  double expected(const LoadSample& sample) const;
  bool surprised(std::span<const LoadSample> samples);
  void fit();
  void addPrior();
  void keep(const LoadSample& sample);
  void forgetFaint();

  Eigen::Index devices_;
  Vector timings_;      // of each device; two stand for more
  Vector firstLogCost_; // what the first said
  Vector logCost_;      // of seconds per average group
  Vector latency_;
  Vector moving_;
  Vector start_;
  std::array<double, bins> logDensity_{};
  std::array<double, bins> density_;
  std::vector<LoadSample> samples_;
  double noise_ = 0.03; ///< of log seconds, launch to launch
  int early_ = earlyLaunches;
  int waiting_ = 0;  ///< launches since the last fit
  double drift_ = 0; ///< correlation of what launches are off, smoothed
  Vector lastOff_;   ///< log seconds that each device was off last
  Vector reference_; // seconds: scale of each device's latency unknown
  Matrix normal_;
  Vector gradient_, jacobian_, anchor_;
  Eigen::LLT<Matrix> cholesky_;
};

} // namespace libsplit::solver
