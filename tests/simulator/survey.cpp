// Prints how policies do on the scenarios and on random worlds: `simulator_survey [POLICY] [WORLDS]
// [FIRST]`.
#include "tests/simulator/runtime_policy.h"
#include "tests/simulator/scenarios.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace libsplit::simulator;

namespace {

double quantile(std::vector<double> values, double q) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

void show(const char* name, const World& world, const std::string& policy) {
  const auto made = makeRuntimePolicy(world, policy);
  const Run took = run(world, *made);
  const Oracle oracle = clairvoyant(world);
  std::printf("%-28s whole %.3f of best (%.3f of alone), settled %.3f of best, %.3f of home; last",
              name, took.seconds / oracle.seconds, took.seconds / oracle.alone,
              took.settled() / oracle.settled,
              took.settled() / (oracle.home / static_cast<double>(world.launches)));
  for (const double share : took.shares.back())
    std::printf(" %.3f", share);
  std::printf(" (%s)\n", oracle.name.c_str());
}

void listLaunches(const World& world, const std::string& policy) {
  const auto made = makeRuntimePolicy(world, policy);
  const Run took = run(world, *made);
  double before = 0;
  for (std::size_t i = 0; i < took.ends.size(); ++i) {
    std::printf("  launch %zu: %.3g ms, shares", i, 1e3 * (took.ends[i] - before));
    before = took.ends[i];
    for (const double share : took.shares[i])
      std::printf(" %.3f", share);
    std::printf("\n");
  }
}

void describe(const World& world) {
  std::printf(
      "%llu launches, waits %d, window %zu, noise %.3f, outliers %.3f, compile %.2g s, halo %llu\n",
      static_cast<unsigned long long>(world.launches), world.waits, world.window, world.noise,
      world.outliers, world.compileSeconds, static_cast<unsigned long long>(world.haloBytes));
  for (std::size_t d = 0; d < world.devices.size(); ++d) {
    const WorldDevice& device = world.devices[d];
    std::printf("  device %zu: speed %.3g (guess %.3g%s), fixed %.2g, node %u, fill %llu, ready "
                "%.3g, link %.2g s + "
                "%.2g s/B",
                d, device.speed, device.guess, device.isAlike ? ", alike" : "", device.fixed,
                device.node, static_cast<unsigned long long>(device.fill), device.readyAt,
                world.links[device.node].latency, world.links[device.node].secondsPerByte);
    for (const Pace& pace : device.paces)
      std::printf(", from %.3g x %.2g", pace.from, pace.factor);
    std::printf("\n");
  }
  for (const WorldKernel& kernel : world.kernels)
    std::printf(
        "  kernel %zu: %llu groups, work %.3g, shape %d, drift %.3g, jump %llu, together %.3g\n",
        kernel.history, static_cast<unsigned long long>(kernel.groups), kernel.work,
        static_cast<int>(kernel.shape), kernel.drift,
        static_cast<unsigned long long>(kernel.jumpAt), kernel.mostTogether);
  for (const std::uint64_t size : world.buffers)
    std::printf("  buffer of %llu bytes\n", static_cast<unsigned long long>(size));
}

} // namespace

int main(int count, char** arguments) {
  const std::string policy = count > 1 ? arguments[1] : "auto";
  const std::uint64_t worlds = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 300;
  const std::uint64_t first = count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 1;
  if (count > 4 && arguments[4][0] == 'n') {
    listLaunches(nBody(first), policy);
    show("N-body", nBody(first), policy);
    return 0;
  }
  if (count > 4) { // one world by seed
    describe(randomWorld(first));
    listLaunches(randomWorld(first), policy);
    show("world", randomWorld(first), policy);
    return 0;
  }
  show("SpMV 1.9 ms, 2 GPUs", spmv(), policy);
  show("stencil 235 us, 2 GPUs", shortStencil(), policy);
  show("in-place LBM", latticeBoltzmann(), policy);
  show("2 GPUs, slow CPU, 1 launch", slowHelper(1), policy);
  show("2 GPUs, slow CPU, 20", slowHelper(20), policy);
  show("late device", lateDevice(), policy);
  show("8 groups of 1.5 s", fewGroups(), policy);
  for (const double seconds : {45e-6, 490e-6, 9.6e-3})
    for (const bool waits : {false, true})
      show(("compute " + std::to_string(seconds) + (waits ? " sync" : " async")).c_str(),
           computeBound(seconds, waits), policy);
  std::vector<double> bodies, disturbed;
  int unsplit = 0, late = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const World world = nBody(seed);
    const auto made = makeRuntimePolicy(world, policy);
    const Run took = run(world, *made);
    bodies.push_back(took.seconds / clairvoyant(world).seconds);
    unsplit += took.largestShare() > 0.7;
    late += *std::max_element(took.shares[5].begin(), took.shares[5].end()) > 0.6;
    const World other = disturbedNBody(seed);
    const auto again = makeRuntimePolicy(other, policy);
    disturbed.push_back(run(other, *again).seconds / clairvoyant(other).seconds);
  }
  std::printf(
      "N-body: median %.3f, worst %.3f, %d of 100 not settled after 5, %d end unsplit; disturbed "
      "median %.3f worst %.3f\n",
      quantile(bodies, 0.5), quantile(bodies, 1), late, unsplit, quantile(disturbed, 0.5),
      quantile(disturbed, 1));
  std::vector<double> longer, shorter, alone;
  std::vector<std::pair<double, std::uint64_t>> worst;
  for (std::uint64_t seed = first; seed < first + worlds; ++seed) {
    const World world = randomWorld(seed);
    const auto made = makeRuntimePolicy(world, policy);
    const Run took = run(world, *made);
    const Oracle oracle = clairvoyant(world);
    (world.launches >= 20 ? longer : shorter).push_back(took.seconds / oracle.seconds);
    alone.push_back(took.seconds / oracle.home);
    worst.push_back({took.seconds / oracle.seconds, seed});
  }
  std::sort(worst.rbegin(), worst.rend());
  auto line = [](const char* name, const std::vector<double>& values) {
    double logs = 0;
    for (const double value : values)
      logs += std::log(value);
    std::printf("%-28s median %.3f, 9 in 10 %.3f, worst %.3f, geometric mean %.3f (%zu)\n", name,
                quantile(values, 0.5), quantile(values, 0.9), quantile(values, 1),
                std::exp(logs / static_cast<double>(std::max<std::size_t>(1, values.size()))),
                values.size());
  };
  line("20 launches and more", longer);
  line("shorter", shorter);
  line("over home", alone);
  std::printf("worst seeds:");
  for (std::size_t i = 0; i < std::min<std::size_t>(40, worst.size()); ++i)
    std::printf(" %llu (%.2f)", static_cast<unsigned long long>(worst[i].second), worst[i].first);
  std::printf("\n");
}
