// Jacobi iterations on devices that exist as formulas, with memories of their own: the decisions of
// the runtime's controllers and of its cycle, launch by launch, on data that a Directory keeps.
#include "runtime/cost/launch_cycle.h"
#include "runtime/cost/share_controller.h"
#include "runtime/plan/directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <random>
#include <vector>

namespace libsplit::runtime {
namespace {

struct Device {
  double whole = 1; ///< seconds of a launch on it alone
  NodeId node = hostNode;
};

/// A stencil from one buffer to the other and back by a copy (`swaps`: by another stencil), each a
/// kernel of its own to the runtime. Device 0 is home.
class Jacobi {
public:
  struct Setup {
    std::vector<Device> devices;
    double secondsPerBuffer = 0; ///< to move all of one between two nodes that are neighbours
    bool swaps = false;
    double noise = 0;
    std::uint32_t seed = 1;
  };

  explicit Jacobi(Setup setup) : setup_(std::move(setup)), random_(setup_.seed) {
    NodeId nodes = 1;
    for (const Device& device : setup_.devices)
      nodes = std::max(nodes, device.node + 1);
    for (Directory*& directory : directories_)
      directory = &kept_.emplace_back(nodes, setup_.devices[0].node, rows * rowBytes);
    ShareController::Setup made;
    made.policy = *parsePolicy("auto");
    for (const Device& device : setup_.devices) {
      made.speeds.push_back(1 / device.whole);
      made.likeHome.push_back(device.whole == setup_.devices[0].whole);
    }
    made.minLaunchSeconds = 300e-6;
    made.movingSeconds = setup_.secondsPerBuffer;
    for (std::size_t k = 0; k < 2; ++k)
      controllers_.emplace_back(made);
  }

  /// Seconds of one step: both launches.
  double step() { return launch(0) + launch(1); }

  /// One step's seconds on home alone, and with shares by speed and data in place.
  double homeSeconds() const { return 2 * setup_.devices[0].whole; }
  double bestSeconds() const {
    double speed = 0;
    for (const Device& device : setup_.devices)
      speed += 1 / device.whole;
    return 2 / speed;
  }

  static constexpr std::uint64_t rows = 5888, rowBytes = 4096;

private:
  double noisy(double seconds) {
    return seconds * std::max(0.5, std::normal_distribution<>(1, setup_.noise)(random_));
  }
  double secondsPerByte() const {
    return setup_.secondsPerBuffer / static_cast<double>(rows * rowBytes);
  }

  std::vector<SectionUse> section(std::size_t k) const {
    const ByteSet middle(rows * rowBytes * 7 / 16, rows * rowBytes * 9 / 16);
    return {{directories_[k], middle, {}}, {directories_[1 - k], {}, middle}};
  }

  double launch(std::size_t k) {
    ShareController& controller = controllers_[k];
    LaunchCycle::Passing passing;
    passing.id = k + 1;
    passing.isKnown = splits_[k] >= 3;
    passing.secondsPerByte = knownSecondsPerByte_;
    passing.own = [&] { return controller.split().shares; };
    passing.profile = [&](solver::LoadProfile& profile) {
      return controller.describe(profile, rows);
    };
    passing.section = [&, k] { return section(k); };
    const LaunchCycle::Ruling ruling = cycle_.next(passing);
    std::vector<double> home(setup_.devices.size());
    home[0] = 1;
    switch (ruling.mode) {
    case LaunchCycle::Mode::Free: {
      const ShareController::Decision decision = controller.next();
      const bool splits = decision.action == ShareController::Action::Split;
      return run(k, splits ? copy(decision.shares) : home,
                 decision.action != ShareController::Action::Native, ruling.ticket);
    }
    case LaunchCycle::Mode::Split:
      return run(k, copy(ruling.shares), true, ruling.ticket);
    case LaunchCycle::Mode::AtHome:
    case LaunchCycle::Mode::Native:
    case LaunchCycle::Mode::Waiting:
      break;
    }
    return run(k, home, ruling.mode == LaunchCycle::Mode::AtHome, ruling.ticket);
  }

  static std::vector<double> copy(std::span<const double> shares) {
    return {shares.begin(), shares.end()};
  }

  double run(std::size_t k, const std::vector<double>& shares, bool isReported,
             const LaunchCycle::Ticket& ticket) {
    const std::vector<std::uint64_t> groups = solver::roundToGroups(shares, rows);
    std::vector<solver::DeviceSample> samples(groups.size());
    std::vector<ByteSet> needed(groups.size()), written(groups.size());
    std::vector<Directory::Need> needs;
    const std::uint64_t halo = setup_.swaps || k == 0 ? 1 : 0;
    std::uint64_t begin = 0;
    for (std::size_t d = 0; d < groups.size(); begin += groups[d++]) {
      const std::uint64_t end = begin + groups[d];
      samples[d] = {begin, end};
      if (groups[d] > 0) {
        needed[d] = ByteSet((begin - std::min(begin, halo)) * rowBytes,
                            std::min(rows, end + halo) * rowBytes);
        written[d] = ByteSet(begin * rowBytes, end * rowBytes);
        samples[d].seconds = noisy(setup_.devices[d].whole * static_cast<double>(groups[d]) / rows);
      }
      needs.push_back({setup_.devices[d].node, &needed[d]});
    }
    double moving = 0;
    std::uint64_t bytes = 0;
    for (const auto& [need, move] : directories_[k]->bringAll(needs)) {
      const double seconds = static_cast<double>(move.bytes.size()) * secondsPerByte();
      samples[need].transferSeconds += seconds;
      samples[need].seconds += seconds;
      moving += seconds;
      bytes += move.bytes.size();
    }
    for (std::size_t d = 0; d < groups.size(); ++d)
      if (groups[d] > 0)
        directories_[1 - k]->wrote(setup_.devices[d].node, written[d]);
    double wall = 0;
    for (const solver::DeviceSample& sample : samples)
      wall = std::max(wall, sample.seconds);
    if (ticket.phase != 0)
      cycle_.took(ticket, wall);
    if (!isReported)
      return wall;
    if (groups[0] == rows) {
      controllers_[k].observeHome(samples[0].seconds - samples[0].transferSeconds, rows);
    } else {
      ++splits_[k];
      controllers_[k].observeSplit(samples, rows, wall);
      if (bytes > 4096) {
        const double each = moving / static_cast<double>(bytes);
        knownSecondsPerByte_ =
            knownSecondsPerByte_ > 0 ? 0.9 * knownSecondsPerByte_ + 0.1 * each : each;
      }
    }
    return wall;
  }

  Setup setup_;
  std::mt19937 random_;
  std::deque<Directory> kept_;
  std::array<Directory*, 2> directories_{};
  std::vector<ShareController> controllers_;
  std::array<std::uint64_t, 2> splits_{};
  LaunchCycle cycle_;
  double knownSecondsPerByte_ = 0;
};

/// By the time that home alone would take.
struct Outcome {
  double worst = 0; ///< of the mean over the steps so far, after any step
  double mean = 0;
  double settledByBest = 0; ///< the last steps, by those with all data in place
};

Outcome outcome(const Jacobi::Setup& setup) {
  constexpr int steps = 400, last = 4;
  Jacobi jacobi(setup);
  Outcome seen;
  double sum = 0;
  for (int step = 1; step <= steps; ++step) {
    const double took = jacobi.step();
    sum += took;
    seen.mean = sum / (step * jacobi.homeSeconds());
    seen.worst = std::max(seen.worst, seen.mean);
    if (step > steps - last)
      seen.settledByBest += took / last / jacobi.bestSeconds();
  }
  return seen;
}

/// Over the costs of moving one of the two buffers, from a fraction of a launch to a hundred.
template <class Check> void forAll(const std::vector<Device>& devices, Check check) {
  for (const double secondsPerBuffer : {1e-3, 10e-3, 60e-3, 200e-3})
    for (const bool swaps : {false, true})
      for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(testing::Message() << secondsPerBuffer << " s for a buffer, "
                                        << (swaps ? "swaps" : "copies") << ", seed " << seed);
        check(outcome({devices, secondsPerBuffer, swaps, 0.01, seed}));
      }
}

TEST(Cycle, movingIsPaidForByWhatItGains) {
  forAll({{2.6e-3, 1}, {2.6e-3, 2}, {48e-3, 0}}, [](const Outcome& seen) {
    EXPECT_LT(seen.worst, 2.5); // as much again as has passed is put into moving, at the worst time
    EXPECT_LT(seen.mean, 0.8);
    EXPECT_LT(seen.settledByBest, 1.2);
  });
}

TEST(Cycle, aDeviceThatGainsLittleCostsLittle) {
  forAll({{2.6e-3, 1}, {40e-3, 0}}, [](const Outcome& seen) {
    EXPECT_LT(seen.worst, 1.6);
    EXPECT_LT(seen.mean, 1.05);
  });
}

} // namespace
} // namespace libsplit::runtime
