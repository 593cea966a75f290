// A whole program on a machine that exists as formulas: launches that are decided while others are
// under way, memories of their own behind links, devices that join late, slow down or are taken
// away for a while, loads that differ by position, drift and jump, noise and outliers. What a
// policy does to the whole program's time is held against clairvoyants that know all of this.
//
// Time is kept per resource (the host, each device, each direction of each link), and each launch
// is placed on all of them in program order: resources are first-in-first-out, so nothing later can
// change when something earlier runs, and no event queue is needed. A policy hears of a launch only
// when the host's clock has passed its end, as in a program that does not wait.
#pragma once

#include "runtime/plan/directory.h"

#include "solver/chunk_plan.h"
#include "solver/share_solver.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace libsplit::simulator {

using runtime::Directory;
using runtime::NodeId;

/// From `from` on a device works at `factor` times its speed.
struct Pace {
  double from = 0;
  double factor = 1;
};

struct WorldDevice {
  double speed = 1;        ///< work per second; a kernel's whole launch is its `work`
  double fixed = 5e-6;     ///< seconds that each piece takes beside its work
  NodeId node = 0;         ///< memory node; 0 is the host's
  std::uint64_t fill = 1;  ///< groups that it runs at once: fewer take as long as these
  std::vector<Pace> paces; ///< ascending
  double readyAt = 0;      ///< until then it can't be used
  bool isAlike = false;    ///< its driver describes it just as home
  bool isGpu = false;
  double guess = 1; ///< speed relative to home, as its driver's description suggests
};

struct WorldLink {
  double latency = 20e-6; ///< seconds per transfer
  double secondsPerByte = 1e-10;
};

enum class Shape { Uniform, Rising, Triangle, Bump, Rough };

struct KernelUse {
  std::size_t buffer = 0;
  enum class Range { Slab, Halo, Whole } range = Range::Slab;
  bool reads = false;
  bool writes = false; ///< of the slab
};

struct WorldKernel {
  std::size_t history = 0; ///< launches of one history share what is learnt
  std::uint64_t groups = 256;
  double work = 1; ///< of a launch
  Shape shape = Shape::Uniform;
  double drift = 0;         ///< of the shape's phase, per launch
  std::uint64_t jumpAt = 0; ///< launch at which the phase jumps by a half; 0: never
  std::vector<KernelUse> uses;
  double mostTogether = 0; ///< work per second of devices on one node together; 0: no limit
};

struct World {
  std::vector<WorldDevice> devices;
  std::vector<WorldLink> links;       ///< by node; the host's is not used
  std::vector<std::uint64_t> buffers; ///< bytes
  std::uint64_t haloBytes = 0;        ///< on each side of a slab
  double noise = 0.01;                ///< of each piece's seconds
  double outliers = 0;                ///< part of pieces that take 2 to 10 times as long
  std::uint64_t seed = 1;

  std::vector<WorldKernel> kernels;
  std::vector<std::size_t> sequence; ///< kernels, repeated
  std::uint64_t launches = 100;
  bool waits = false;          ///< the program waits for each launch
  std::size_t window = 3;      ///< launches under way at most
  std::size_t ahead = 8;       ///< … that are decided before the one that runs is over
  double submitSeconds = 7e-6; ///< of the host, per piece
  double splitSeconds =
      25e-6; ///< until a split launch is known to be over, and back to the program
  double nativeSeconds = 12e-6; ///< the same of one at home
  double compileSeconds = 0;    ///< that a device's first piece of a kernel takes more
};

/// Whether the device takes part only once it has shown what it is worth: it has a memory of its
/// own and its driver describes it as slower than home.
bool isLatecomer(const World& world, std::size_t device);

/// What a policy may know when it decides.
struct LaunchView {
  std::uint64_t index = 0; ///< of all launches
  std::size_t kernel = 0;
  std::size_t history = 0;
  std::uint64_t groups = 0;
  bool canChunk = false;
  std::vector<bool> isReady; ///< by device
  std::vector<std::size_t> buffers;
  /// Bytes that each device would lack, if the launch were cut so.
  std::function<std::vector<double>(std::span<const double>)> lacking;
  /// Runs so many groups on a device beside the launch, for nobody: `rehearsed` tells what they
  /// took.
  std::function<void(std::size_t device, std::uint64_t groups)> rehearse;
  const World* world = nullptr;
  std::vector<const Directory*> directories;
};

struct WorldDecision {
  enum class Kind { Native, Measure, Split, Chunks } kind = Kind::Native;
  std::vector<double> shares;
  std::vector<bool> joins; ///< of Chunks: by device, whether it may; empty: all
  bool isAwaited = false;  ///< the next launch is decided when this one is over
  std::uint64_t ticket = 0;
};

/// What is told of a launch when it is over.
struct LaunchReport {
  std::uint64_t index = 0;
  std::size_t kernel = 0;
  std::size_t history = 0;
  std::uint64_t groups = 0;
  WorldDecision decision;
  std::vector<solver::DeviceSample> samples;
  std::vector<solver::ChunkSample> chunks;
  /// By device, seconds until it was given its part, after the first; none: they had others before.
  std::vector<double> starts;
  double wall = 0;
  double bytes = 0;         ///< that moved
  std::uint64_t moves = 0;  ///< transfers
  double movingSeconds = 0; ///< the sum over devices
  bool wasSplit = false;
};

class Policy {
public:
  virtual ~Policy() = default;
  virtual WorldDecision decide(const LaunchView& view) = 0;
  virtual void observe(const LaunchReport& report) = 0;
  /// What `LaunchView::rehearse` asked for is done.
  virtual void rehearsed(std::size_t /*history*/, std::size_t /*device*/, std::uint64_t /*groups*/,
                         double /*seconds*/) {}
};

/// How one program ran.
struct Run {
  double seconds = 0;
  std::vector<double> ends; ///< of each launch
  std::vector<std::vector<double>> shares;
  double bytes = 0;

  /// Mean seconds of a launch over the last `part` of the program.
  double settled(double part = 0.25) const;
  /// Largest share of one device in the last launch.
  double largestShare() const;
};

Run run(const World& world, Policy& policy);

/// The whole program by who knows everything: the least of a few plans (each device alone, balanced
/// over the fastest, second fastest …, by each kernel's own cuts or by common ones), each run
/// in the same world under the same noise.
struct Oracle {
  double seconds = 0; ///< of the best plan
  double alone = 0;   ///< of the best device alone
  double home = 0;    ///< of the program's own device, natively
  double settled = 0; ///< mean seconds of a launch of the plan that is best when settled
  std::string name;   ///< of the best plan
};
Oracle clairvoyant(const World& world);

/// Groups by device whose parts end together, as the true speeds of `launch` are at `now`, over
/// those of `allowed`. Each begins `stagger` seconds after the one before it.
std::vector<double> balanced(const World& world, std::size_t kernel, std::uint64_t launch,
                             double now, const std::vector<bool>& allowed, double stagger);

/// A machine, a program and everything that happens to them, drawn from `seed`.
World randomWorld(std::uint64_t seed);

} // namespace libsplit::simulator
