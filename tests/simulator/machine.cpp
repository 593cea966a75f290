#include "tests/simulator/machine.h"

#include <algorithm>
#include <cmath>

namespace libsplit::simulator {

Machine::Machine(std::vector<Device> devices, std::uint64_t groups, Load load, double noise,
                 std::uint32_t seed)
    : devices_(std::move(devices)), groups_(groups), noise_(noise), random_(seed) {
  setLoad(load);
}

void Machine::setLoad(Load load, double phase) {
  work_.assign(groups_ + 1, 0);
  std::vector<double> cost(groups_);
  std::mt19937 rough(7);
  for (std::uint64_t g = 0; g < groups_; ++g) {
    const double x =
        std::fmod((static_cast<double>(g) + 0.5) / static_cast<double>(groups_) + phase, 1.0);
    switch (load) {
    case Load::Uniform:
      cost[g] = 1;
      break;
    case Load::Rising: // SpMV of the paper: seven times the work at the end
      cost[g] = 1 + 6 * x;
      break;
    case Load::Triangle:
      cost[g] = x;
      break;
    case Load::Bump: // Mandelbrot's rows
      cost[g] = 0.1 + std::exp(-50 * (x - 0.5) * (x - 0.5));
      break;
    case Load::Rough: // each group its own
      cost[g] = std::uniform_real_distribution<double>(0.2, 1.8)(rough);
      break;
    }
  }
  double sum = 0;
  for (const double c : cost)
    sum += c;
  for (std::uint64_t g = 0; g < groups_; ++g)
    work_[g + 1] = work_[g] + cost[g] * static_cast<double>(groups_) / sum;
}

double Machine::seconds(std::size_t i, std::uint64_t begin, std::uint64_t end) const {
  if (end <= begin)
    return 0;
  const Device& d = devices_[i];
  double work = work_[end] - work_[begin];
  if (d.wave > 0)
    work = std::ceil(work / d.wave - 1e-9) * d.wave;
  return d.latency + work / d.speed + d.transfer * static_cast<double>(end - begin);
}

double Machine::noisy(double seconds) {
  return seconds * std::max(0.5, std::normal_distribution<double>(1, noise_)(random_));
}

/// How many times as long everything takes while the devices with something left work.
double Machine::hindrance(const std::vector<double>& left) const {
  double speed = 0;
  int working = 0;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i] > 0) {
      speed += devices_[i].speed;
      ++working;
    }
  return shared_ > 0 && working > 1 ? std::max(1.0, speed / shared_) : 1;
}

/// True seconds of each device in a launch: what it takes alone, and what the others cost it until
/// they have ended.
std::vector<double> Machine::secondsTogether(std::span<const std::uint64_t> counts) const {
  std::vector<double> left;
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    left.push_back(seconds(i, at, at + counts[i]));
    at += counts[i];
  }
  std::vector<double> took(left.size());
  double now = 0;
  while (true) {
    double next = 0; // what the first to end has left
    for (const double each : left)
      if (each > 0 && (next == 0 || each < next))
        next = each;
    if (next == 0)
      return took;
    now += next * hindrance(left);
    for (std::size_t i = 0; i < left.size(); ++i)
      if (left[i] > 0 && (left[i] -= next) <= 1e-12) {
        left[i] = 0;
        took[i] = now;
      }
  }
}

double Machine::makespan(std::span<const double> shares) const {
  const std::vector<double> took = secondsTogether(solver::roundToGroups(shares, groups_));
  return *std::max_element(took.begin(), took.end());
}

std::vector<solver::DeviceSample> Machine::launch(std::span<const double> shares) {
  const std::vector<std::uint64_t> counts = solver::roundToGroups(shares, groups_);
  const std::vector<double> took = secondsTogether(counts);
  std::vector<solver::DeviceSample> samples;
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    samples.push_back({at, at + counts[i], counts[i] ? noisy(took[i]) : 0});
    at += counts[i];
  }
  return samples;
}

double Machine::launchInChunks(solver::ChunkPlan& plan) {
  struct Busy {
    double until = 0;
    double took = 0;
    solver::GroupRange range;
    bool done = false;
  };
  std::vector<Busy> devices(devices_.size());
  double end = 0;
  const std::vector<double> allWork(devices_.size(), 1.0);
  while (true) {
    std::size_t next = devices.size();
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (!devices[i].done && (next == devices.size() || devices[i].until < devices[next].until))
        next = i;
    if (next == devices.size())
      return end;
    Busy& d = devices[next];
    if (!d.range.empty())
      plan.finish(static_cast<unsigned>(next), d.range, d.took);
    d.range = plan.next(static_cast<unsigned>(next));
    if (d.range.empty()) {
      d.done = true;
      continue;
    }
    d.took = noisy(seconds(next, d.range.begin, d.range.end)) * hindrance(allWork);
    d.until += d.took;
    end = std::max(end, d.until);
  }
}

std::uint64_t Machine::reach(std::size_t i, std::uint64_t begin, double limit) const {
  std::uint64_t low = begin;
  std::uint64_t high = groups_;
  while (low < high) {
    const std::uint64_t middle = (low + high + 1) / 2;
    if (seconds(i, begin, middle) <= limit)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

double Machine::optimum() const {
  // Time grows with the range, so within a limit each device may as well take all that it can.
  double low = 0;
  double high = bestSingle();
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    std::uint64_t at = 0;
    for (std::size_t d = 0; d < devices_.size(); ++d)
      at = reach(d, at, middle);
    (at == groups_ ? high : low) = middle;
  }
  return high;
}

std::vector<double> Machine::optimalShares() const {
  const double limit = optimum();
  std::vector<double> shares;
  std::uint64_t at = 0;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const std::uint64_t end = reach(d, at, limit);
    shares.push_back(static_cast<double>(end - at) / static_cast<double>(groups_));
    at = end;
  }
  return shares;
}

double Machine::bestSingle() const {
  double best = seconds(0, 0, groups_);
  for (std::size_t i = 1; i < devices_.size(); ++i)
    best = std::min(best, seconds(i, 0, groups_));
  return best;
}

Machine randomMachine(std::uint32_t seed) {
  std::mt19937 random(seed);
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto count =
      std::uniform_int_distribution<std::size_t>(2, uniform(0, 1) < 0.6 ? 4 : 16)(random);
  const std::uint64_t groups =
      count * std::uniform_int_distribution<std::uint64_t>(100, 400)(random);
  // Ratios up to 10:1 mostly, sometimes up to 1000:1.
  const double decades = uniform(0, 1) < 0.75 ? uniform(0, 1) : uniform(1, 3);
  std::vector<Device> devices(count);
  for (Device& d : devices) {
    d.speed = static_cast<double>(groups) * std::pow(10, uniform(-decades, 0)) / 0.05;
    if (uniform(0, 1) < 0.5)
      d.latency = uniform(0, 0.0005);
    if (uniform(0, 1) < 0.3)
      d.transfer = uniform(0, 1) / d.speed;
    if (uniform(0, 1) < 0.2)
      d.wave = std::floor(uniform(2, 12));
  }
  const auto load = static_cast<Load>(std::uniform_int_distribution<int>(0, 4)(random));
  return Machine(std::move(devices), groups, load, uniform(0, 1) < 0.3 ? 0 : uniform(0, 0.1), seed);
}

} // namespace libsplit::simulator
