// What `auto` costs at a launch once its shares have settled: it runs in the program's way.
#include "solver/share_solver.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

namespace libsplit::solver {
namespace {

/// Launches of `devices` devices whose timings are `noise` off, on average.
void settledLaunch(benchmark::State& state) {
  const auto devices = static_cast<unsigned>(state.range(0));
  const double noise = static_cast<double>(state.range(1)) / 100;
  constexpr std::uint64_t groups = 100'000;
  std::mt19937 generator(1);
  std::normal_distribution<double> error(0, noise);
  AutoOptions options;
  options.devices = devices;
  const auto solver = makeAuto(options);
  std::vector<DeviceSample> samples(devices);
  auto launch = [&] {
    const auto shares = solver->propose();
    double sum = 0;
    std::uint64_t begin = 0;
    for (unsigned d = 0; d < devices; ++d) {
      sum += shares[d];
      const auto end = d + 1 == devices ? groups : static_cast<std::uint64_t>(sum * groups);
      const double seconds = 1e-4 + 1e-8 * (d + 1) * static_cast<double>(end - begin);
      samples[d] = {begin, end, seconds * std::exp(error(generator))};
      begin = end;
    }
  };
  for (int i = 0; i < 50; ++i) {
    launch();
    solver->observe(samples, groups);
  }
  for (auto _ : state) {
    launch();
    solver->observe(samples, groups);
  }
}
BENCHMARK(settledLaunch)->ArgNames({"devices", "percent_noise"})->ArgsProduct({{2, 4, 16}, {1, 5}});

} // namespace
} // namespace libsplit::solver
