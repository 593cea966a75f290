#include "tests/simulator/world.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace libsplit::simulator {

namespace {

/// Uniform in [0, 1), from what identifies a draw: plans that do the same meet the same noise.
double draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15 + a * 0xBF58476D1CE4E5B9 + b * 0x94D049BB133111EB + c;
  for (int i = 0; i < 3; ++i) {
    x ^= x >> 31;
    x *= 0xD6E8FEB86659FD93;
    x ^= x >> 29;
  }
  return static_cast<double>(x >> 11) * 0x1p-53;
}

double normal(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const double u = std::max(1e-12, draw(seed, a, b, 2 * c));
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * draw(seed, a, b, 2 * c + 1));
}

double density(Shape shape, double x) {
  switch (shape) {
  case Shape::Uniform:
    return 1;
  case Shape::Rising: // SpMV: seven times the work at the end
    return (1 + 6 * x) / 4;
  case Shape::Triangle:
    return 2 * x;
  case Shape::Bump: // Mandelbrot's rows
    return (0.1 + std::exp(-50 * (x - 0.5) * (x - 0.5))) / 0.3506;
  case Shape::Rough:
    return 0.2 + 1.6 * draw(7, static_cast<std::uint64_t>(x * 64), 0, 0);
  }
  return 1;
}

constexpr int slices = 256;

/// Work in [0, x) of a kernel whose whole is 1, as prefix sums.
std::vector<double> prefix(const WorldKernel& kernel, std::uint64_t launch) {
  double phase = kernel.drift * static_cast<double>(launch);
  if (kernel.jumpAt > 0 && launch >= kernel.jumpAt)
    phase += 0.5;
  phase -= std::floor(phase);
  std::vector<double> sums(slices + 1);
  for (int i = 0; i < slices; ++i)
    sums[static_cast<std::size_t>(i) + 1] =
        sums[static_cast<std::size_t>(i)] +
        density(kernel.shape, std::fmod((i + 0.5) / slices + phase, 1.0));
  for (double& sum : sums)
    sum /= sums.back() > 0 && &sum != &sums.back() ? sums.back() : 1;
  sums.back() = 1;
  return sums;
}

double upTo(const std::vector<double>& sums, double x) {
  const double at = std::clamp(x, 0.0, 1.0) * slices;
  const auto i = std::min(static_cast<std::size_t>(at), static_cast<std::size_t>(slices - 1));
  return sums[i] + (at - static_cast<double>(i)) * (sums[i + 1] - sums[i]);
}

double paceAt(const WorldDevice& device, double now) {
  double factor = 1;
  for (const Pace& pace : device.paces)
    if (pace.from <= now)
      factor = pace.factor;
  return factor;
}

/// When `seconds` of work at full speed, begun at `begin`, are over.
double endOf(const WorldDevice& device, double begin, double seconds) {
  double now = begin, left = seconds;
  for (std::size_t i = 0; i <= device.paces.size(); ++i) {
    const double until =
        i < device.paces.size() ? device.paces[i].from : std::numeric_limits<double>::infinity();
    if (until <= now)
      continue;
    const double factor = std::max(1e-6, paceAt(device, now));
    if (left <= (until - now) * factor)
      return now + left / factor;
    left -= (until - now) * factor;
    now = until;
  }
  return now;
}

/// Seconds of groups [begin, end) of `groups` at full speed.
double seconds(const WorldDevice& device, const WorldKernel& kernel,
               const std::vector<double>& sums, std::uint64_t begin, std::uint64_t end) {
  if (end <= begin)
    return 0;
  const auto groups = static_cast<double>(kernel.groups);
  double work = upTo(sums, static_cast<double>(end) / groups) -
                upTo(sums, static_cast<double>(begin) / groups);
  const std::uint64_t count = end - begin;
  if (count < device.fill) // as long as if it were full
    work *= static_cast<double>(device.fill) / static_cast<double>(count);
  return device.fixed + work * kernel.work / device.speed;
}

/// One program under way.
class Running {
public:
  Running(const World& world, Policy& policy) : world_(world), policy_(policy) {
    NodeId nodes = 1;
    for (const WorldDevice& device : world.devices)
      nodes = std::max(nodes, device.node + 1);
    nodes_ = nodes;
    for (const std::uint64_t size : world.buffers)
      directories_.emplace_back(nodes, world.devices[0].node, size);
    lastWrite_.assign(world.buffers.size(), std::vector<double>(nodes));
    lastRead_ = lastWrite_;
    deviceFree_.assign(world.devices.size(), 0);
    linkFree_.assign(2 * nodes, 0);
    hasRun_.assign(world.kernels.size(), std::vector<bool>(world.devices.size()));
    launchesOf_.assign(world.kernels.size(), 0);
  }

  Run run() {
    for (std::uint64_t i = 0; i < world_.launches; ++i) {
      if (i >= world_.window)
        program_ = std::max(program_, run_.ends[i - world_.window]);
      if (i > 0 && world_.waits)
        program_ = std::max(program_, run_.ends.back());
      // What is not timed the driver has at once.
      now_ = std::max(now_, program_);
      if (isTimed_ && i >= world_.ahead)
        now_ = std::max(now_, run_.ends[i - world_.ahead]);
      if (isAwaited_)
        now_ = std::max(now_, run_.ends.back());
      while (!reports_.empty() && reports_.front().first <= now_) {
        policy_.observe(reports_.front().second);
        reports_.pop_front();
      }
      tellRehearsals();
      launch(i, world_.sequence[i % world_.sequence.size()]);
    }
    for (const double end : run_.ends)
      run_.seconds = std::max(run_.seconds, end);
    return std::move(run_);
  }

private:
  struct PieceUses {
    std::vector<ByteSet> needs, writes; // by use
  };

  ByteSet bytesOf(const KernelUse& use, std::uint64_t begin, std::uint64_t end,
                  std::uint64_t groups) const {
    const std::uint64_t size = world_.buffers[use.buffer];
    if (use.range == KernelUse::Range::Whole)
      return ByteSet(0, size);
    std::uint64_t from = size / groups * begin;
    std::uint64_t to = end == groups ? size : size / groups * end;
    if (use.range == KernelUse::Range::Halo) {
      from -= std::min(from, world_.haloBytes);
      to = std::min(size, to + world_.haloBytes);
    }
    return ByteSet(from, to);
  }

  std::vector<double> lacking(const WorldKernel& kernel, std::span<const double> shares) const {
    const auto counts = solver::roundToGroups(shares, kernel.groups);
    std::vector<double> bytes(counts.size());
    std::uint64_t at = 0;
    for (std::size_t d = 0; d < counts.size(); at += counts[d++])
      for (const KernelUse& use : kernel.uses)
        if (use.reads && counts[d] > 0)
          bytes[d] += static_cast<double>(
              directories_[use.buffer]
                  .missing(world_.devices[d].node, bytesOf(use, at, at + counts[d], kernel.groups))
                  .size());
    return bytes;
  }

  /// Seconds that the device's driver compiles the kernel before what it does now.
  double compiling(const WorldKernel& kernel, std::size_t d) {
    if (hasRun_[kernel.history][d])
      return 0;
    hasRun_[kernel.history][d] = true;
    return world_.compileSeconds;
  }

  void rehearse(const WorldKernel& kernel, std::size_t d, std::uint64_t groups) {
    const WorldDevice& device = world_.devices[d];
    const std::uint64_t begin = (kernel.groups - groups) / 2;
    double full = seconds(device, kernel, prefix(kernel, 0), begin, begin + groups);
    full *= std::exp(world_.noise * normal(world_.seed, rehearsals_.size() + groups, d, 2));
    full += compiling(kernel, d);
    const double start = std::max(now_, deviceFree_[d]);
    deviceFree_[d] = endOf(device, start, full);
    rehearsals_.push_back({kernel.history, d, groups, deviceFree_[d] - start, deviceFree_[d]});
  }

  void tellRehearsals() {
    std::erase_if(rehearsals_, [&](const Rehearsed& each) {
      if (each.end > now_)
        return false;
      policy_.rehearsed(each.history, each.device, each.groups, each.seconds);
      return true;
    });
  }

  void launch(std::uint64_t index, std::size_t kernel) {
    const WorldKernel& what = world_.kernels[kernel];
    LaunchView view;
    view.index = index;
    view.kernel = kernel;
    view.history = what.history;
    view.groups = what.groups;
    view.canChunk = what.groups >= 16 * world_.devices[0].fill;
    for (const WorldDevice& device : world_.devices)
      view.isReady.push_back(device.readyAt <= now_);
    view.lacking = [&](std::span<const double> shares) { return lacking(what, shares); };
    view.rehearse = [&](std::size_t device, std::uint64_t many) { rehearse(what, device, many); };
    view.world = &world_;
    for (const KernelUse& use : what.uses) {
      view.buffers.push_back(use.buffer);
      view.directories.push_back(&directories_[use.buffer]);
    }
    LaunchReport report;
    report.index = index;
    report.kernel = kernel;
    report.history = what.history;
    report.groups = what.groups;
    report.decision = policy_.decide(view);
    isAwaited_ = report.decision.isAwaited;
    isTimed_ = report.decision.kind != WorldDecision::Kind::Native;
    using Kind = WorldDecision::Kind;
    std::vector<double> shares(world_.devices.size());
    if (report.decision.kind == Kind::Split)
      shares = report.decision.shares;
    else
      shares[0] = 1;
    const std::vector<double> sums = prefix(what, launchesOf_[kernel]++);
    if (report.decision.kind == Kind::Chunks)
      chunks(what, sums, report);
    else
      pieces(what, sums, solver::roundToGroups(shares, what.groups), report);
    program_ = isTimed_ ? program_ + world_.submitSeconds : now_;
  }

  /// Brings what the pieces need; when it is there, by piece.
  std::vector<double> bring(const WorldKernel& kernel, std::span<const std::uint64_t> begins,
                            std::span<const std::uint64_t> ends,
                            std::span<const std::size_t> devices, LaunchReport& report) {
    std::vector<double> ready(devices.size(), now_);
    for (const KernelUse& use : kernel.uses) {
      if (!use.reads)
        continue;
      std::deque<ByteSet> wanted;
      std::vector<Directory::Need> needs;
      for (std::size_t i = 0; i < devices.size(); ++i) {
        wanted.push_back(ends[i] > begins[i] ? bytesOf(use, begins[i], ends[i], kernel.groups)
                                             : ByteSet());
        needs.push_back({world_.devices[devices[i]].node, &wanted.back()});
      }
      double arrived = 0; // on the host
      for (const auto& [need, move] : directories_[use.buffer].bringAll(needs)) {
        const NodeId other = move.from == 0 ? move.to : move.from;
        double& free = linkFree_[2 * other + (move.from == 0 ? 1 : 0)];
        const double begin = std::max({now_, free, lastWrite_[use.buffer][move.from], arrived});
        const auto bytes = static_cast<double>(move.bytes.size());
        const double end =
            begin + world_.links[other].latency + bytes * world_.links[other].secondsPerByte;
        free = end;
        if (move.to == 0)
          arrived = std::max(arrived, end);
        ready[need] = std::max(ready[need], end);
        report.bytes += bytes;
        ++report.moves;
        report.movingSeconds += end - begin;
        if (report.samples.size() > devices[need])
          report.samples[devices[need]].transferSeconds += end - begin;
      }
    }
    return ready;
  }

  /// Runs a piece; when it ends.
  double piece(const WorldKernel& kernel, const std::vector<double>& sums, std::size_t d,
               std::uint64_t begin, std::uint64_t end, double from, double company,
               std::uint64_t launch, double& took) {
    const WorldDevice& device = world_.devices[d];
    double start = std::max(from, deviceFree_[d]);
    start = std::max(start, device.readyAt);
    for (const KernelUse& use : kernel.uses) {
      start = std::max(start, use.reads ? lastWrite_[use.buffer][device.node] : 0);
      if (use.writes)
        start = std::max(start, lastRead_[use.buffer][device.node]);
    }
    double full = seconds(device, kernel, sums, begin, end) * company;
    full *= std::exp(world_.noise * normal(world_.seed, launch, d, 1));
    if (draw(world_.seed, launch, d, 77) < world_.outliers)
      full *= 2 + 8 * draw(world_.seed, launch, d, 78);
    full += compiling(kernel, d);
    const double over = endOf(device, start, full);
    took = over - start;
    deviceFree_[d] = over;
    for (const KernelUse& use : kernel.uses) {
      if (use.writes) {
        writes_.push_back({use.buffer, device.node, over});
        directories_[use.buffer].wrote(
            device.node,
            bytesOf({use.buffer, KernelUse::Range::Slab, false, true}, begin, end, kernel.groups));
      } else {
        lastRead_[use.buffer][device.node] = std::max(lastRead_[use.buffer][device.node], over);
      }
    }
    return over;
  }

  double company(const WorldKernel& kernel, std::span<const std::uint64_t> counts) const {
    double speed = 0;
    int working = 0;
    for (std::size_t d = 0; d < counts.size(); ++d)
      if (counts[d] > 0 && world_.devices[d].node == 0) {
        speed += world_.devices[d].speed;
        ++working;
      }
    return kernel.mostTogether > 0 && working > 1 ? std::max(1.0, speed / kernel.mostTogether) : 1;
  }

  void pieces(const WorldKernel& kernel, const std::vector<double>& sums,
              const std::vector<std::uint64_t>& counts, LaunchReport& report) {
    const double planned = now_;
    const double lastRetired = run_.ends.empty() ? 0 : run_.ends.back();
    report.samples.resize(counts.size());
    std::vector<std::uint64_t> begins, ends;
    std::vector<std::size_t> devices;
    std::uint64_t at = 0;
    bool isSplit = counts[0] != kernel.groups;
    for (std::size_t d = 0; d < counts.size(); at += counts[d++]) {
      report.samples[d] = {at, at + counts[d], 0, 0};
      begins.push_back(at);
      ends.push_back(at + counts[d]);
      devices.push_back(d);
    }
    const std::vector<double> ready = bring(kernel, begins, ends, devices, report);
    const double together = company(kernel, counts);
    const bool isAlone = planned >= lastRetired && report.moves == 0;
    report.starts.resize(isAlone ? counts.size() : 0);
    double over = 0, given = 0;
    for (std::size_t d = 0; d < counts.size(); ++d)
      if (counts[d] > 0) {
        now_ += world_.submitSeconds;
        if (isAlone)
          report.starts[d] = given;
        given += world_.submitSeconds;
        double took = 0;
        over = std::max(over, piece(kernel, sums, d, begins[d], ends[d], std::max(now_, ready[d]),
                                    together, report.index, took));
        report.samples[d].seconds = took + report.samples[d].transferSeconds;
      }
    for (const auto& [buffer, node, end] : writes_)
      lastWrite_[buffer][node] = std::max(lastWrite_[buffer][node], end);
    writes_.clear();
    const bool isNative = report.decision.kind == WorldDecision::Kind::Native;
    over += isNative ? world_.nativeSeconds : world_.splitSeconds;
    report.wasSplit = isSplit;
    retire(over, planned, lastRetired, counts, kernel.groups, report);
  }

  void retire(double over, double planned, double lastRetired,
              const std::vector<std::uint64_t>& counts, std::uint64_t groups,
              LaunchReport& report) {
    over = std::max(over, lastRetired);
    report.wall = over - std::max(planned, lastRetired);
    for (const auto& sample : report.samples)
      report.wall = std::max(report.wall, sample.seconds);
    run_.ends.push_back(over);
    run_.bytes += report.bytes;
    std::vector<double>& given = run_.shares.emplace_back();
    for (const std::uint64_t count : counts)
      given.push_back(static_cast<double>(count) / static_cast<double>(groups));
    if (report.decision.kind != WorldDecision::Kind::Native)
      reports_.emplace_back(over, std::move(report));
  }

  /// As the runtime does: home begins, and the others join once the rest seems long.
  void chunks(const WorldKernel& kernel, const std::vector<double>& sums, LaunchReport& report) {
    constexpr double handout = 100e-6, longEnough = 8e-3;
    const std::size_t n = world_.devices.size();
    const double planned = now_, lastRetired = run_.ends.empty() ? 0 : run_.ends.back();
    if (!run_.ends.empty())
      now_ = std::max(now_, run_.ends.back()); // nobody else plans meanwhile
    solver::ChunkPlan plan(static_cast<unsigned>(n));
    std::vector<std::uint64_t> fills;
    for (const WorldDevice& device : world_.devices)
      fills.push_back(device.fill);
    plan.begin(kernel.groups, 1, report.decision.shares, {20 * handout, fills});
    report.samples.resize(n);
    struct Busy {
      double until = 0, took = 0;
      solver::GroupRange range;
      bool done = false;
    };
    std::vector<Busy> busy(n);
    for (Busy& each : busy)
      each.until = now_;
    for (std::size_t d = 1; d < n; ++d)
      busy[d].done = true; // until the rest seems long
    bool probing = true;
    std::uint64_t homeTakes = 0;
    std::vector<std::uint64_t> counts(n);
    double over = now_;
    const double began = now_;
    while (true) {
      std::size_t next = n;
      for (std::size_t d = 0; d < n; ++d)
        if (!busy[d].done && (next == n || busy[d].until < busy[next].until))
          next = d;
      if (next == n)
        break;
      Busy& b = busy[next];
      now_ = std::max(now_, b.until);
      const auto member = static_cast<unsigned>(next);
      if (!b.range.empty()) {
        plan.finish(member, b.range, b.took + handout);
        if (probing) {
          const double rest =
              b.took / static_cast<double>(b.range.size()) * static_cast<double>(plan.remaining());
          if (rest < longEnough) {
            const bool sure = rest < 20 * handout && homeTakes > 0;
            homeTakes = sure ? plan.remaining() : (plan.remaining() + 3) / 4;
          } else {
            probing = false;
            const std::vector<bool>& joins = report.decision.joins;
            for (std::size_t d = 1; d < n; ++d)
              if (world_.devices[d].readyAt <= now_ && (joins.empty() || joins[d]))
                busy[d] = {now_, 0, {}, false};
          }
        }
      }
      b.range = probing && homeTakes > 0 ? plan.take(member, homeTakes) : plan.next(member);
      if (b.range.empty()) {
        b.done = true;
        continue;
      }
      const std::vector<std::uint64_t> begins{b.range.begin}, ends{b.range.end};
      const std::vector<std::size_t> devices{next};
      const std::vector<double> ready = bring(kernel, begins, ends, devices, report);
      const double end =
          piece(kernel, sums, next, b.range.begin, b.range.end, std::max(now_ + handout, ready[0]),
                1, report.index * 1009 + b.range.begin, b.took);
      report.chunks.push_back({member, b.range.begin, b.range.end, b.took});
      counts[next] += b.range.size();
      b.until = end;
      over = std::max(over, end);
      report.wasSplit = report.wasSplit || next != 0;
    }
    for (const auto& [buffer, node, end] : writes_)
      lastWrite_[buffer][node] = std::max(lastWrite_[buffer][node], end);
    writes_.clear();
    now_ = began; // the program's own thread went on
    isAwaited_ = true;
    retire(over + world_.splitSeconds, planned, lastRetired, counts, kernel.groups, report);
  }

  struct Write {
    std::size_t buffer;
    NodeId node;
    double end;
  };

  const World& world_;
  Policy& policy_;
  NodeId nodes_ = 1;
  std::deque<Directory> directories_;
  std::vector<std::vector<double>> lastWrite_, lastRead_; ///< by buffer and node
  std::vector<Write> writes_;                             ///< of the launch under way
  std::vector<double> deviceFree_, linkFree_;             ///< links: out and in, by node
  std::vector<std::vector<bool>> hasRun_;
  std::vector<std::uint64_t> launchesOf_;
  std::deque<std::pair<double, LaunchReport>> reports_;
  struct Rehearsed {
    std::size_t history = 0, device = 0;
    std::uint64_t groups = 0;
    double seconds = 0, end = 0;
  };
  std::vector<Rehearsed> rehearsals_; ///< under way
  double program_ = 0;                ///< the program's clock …
  double now_ = 0;                    ///< … and that of who plans its launches
  bool isAwaited_ = false;
  bool isTimed_ = false;
  Run run_;
};

/// A plan of who knows everything.
class Plan final : public Policy {
public:
  /// `isStaggered`: who is handed its part later gets less.
  Plan(const World& world, std::vector<bool> allowed, bool isJoint, bool isStaggered)
      : world_(world), allowed_(std::move(allowed)), isJoint_(isJoint), isStaggered_(isStaggered) {}

  WorldDecision decide(const LaunchView& view) override {
    std::vector<bool> ready = allowed_;
    std::size_t working = 0;
    for (std::size_t d = 0; d < ready.size(); ++d) {
      ready[d] = ready[d] && view.isReady[d];
      working += ready[d];
    }
    if (working == 0)
      ready[0] = true;
    if (working <= 1 && ready[0])
      return {};
    WorldDecision decision;
    decision.kind = WorldDecision::Kind::Split;
    const std::size_t kernel = isJoint_ ? world_.sequence[0] : view.kernel;
    decision.shares = balanced(world_, kernel, view.index / world_.sequence.size(), now_, ready,
                               isStaggered_ ? world_.submitSeconds : 0);
    return decision;
  }
  void observe(const LaunchReport& report) override { now_ += report.wall; }

private:
  const World& world_;
  std::vector<bool> allowed_;
  bool isJoint_, isStaggered_;
  double now_ = 0; ///< about
};

} // namespace

bool isLatecomer(const World& world, std::size_t device) {
  const WorldDevice& each = world.devices[device];
  return device > 0 && each.guess < world.devices[0].guess &&
         std::ranges::none_of(
             world.devices,
             [&](const WorldDevice& other) { return &other != &each && other.node == each.node; });
}

double Run::settled(double part) const {
  const auto count =
      std::max<std::size_t>(1, static_cast<std::size_t>(part * static_cast<double>(ends.size())));
  const double before = ends.size() > count ? ends[ends.size() - count - 1] : 0;
  return (ends.back() - before) / static_cast<double>(count);
}

double Run::largestShare() const {
  return *std::max_element(shares.back().begin(), shares.back().end());
}

Run run(const World& world, Policy& policy) {
  return Running(world, policy).run();
}

std::vector<double> balanced(const World& world, std::size_t kernel, std::uint64_t launch,
                             double now, const std::vector<bool>& allowed, double stagger) {
  const WorldKernel& what = world.kernels[kernel];
  const std::vector<double> sums = prefix(what, launch);
  const std::size_t n = world.devices.size();
  auto cut = [&](double limit, std::vector<double>& shares) {
    std::uint64_t at = 0;
    double start = 0;
    for (std::size_t d = 0; d < n; ++d) {
      shares[d] = 0;
      if (!allowed[d] || at == what.groups)
        continue;
      const double pace = std::max(1e-6, paceAt(world.devices[d], now));
      std::uint64_t low = at, high = what.groups;
      while (low < high) {
        const std::uint64_t middle = (low + high + 1) / 2;
        if (start + seconds(world.devices[d], what, sums, at, middle) / pace <= limit)
          low = middle;
        else
          high = middle - 1;
      }
      shares[d] = static_cast<double>(low - at) / static_cast<double>(what.groups);
      start += low > at ? stagger : 0;
      at = low;
    }
    return at == what.groups;
  };
  std::vector<double> shares(n);
  double low = 0, high = 0;
  for (std::size_t d = 0; d < n; ++d)
    if (allowed[d]) {
      const double alone = seconds(world.devices[d], what, sums, 0, what.groups) /
                           std::max(1e-6, paceAt(world.devices[d], now));
      high = high > 0 ? std::min(high, alone) : alone;
    }
  high *= 1 + 1e-9;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (cut(middle, shares) ? high : low) = middle;
  }
  cut(high, shares);
  return shares;
}

Oracle clairvoyant(const World& world) {
  const std::size_t n = world.devices.size();
  Oracle best;
  double leastSettled = 0;
  auto considerSo = [&](const std::vector<bool>& allowed, bool isJoint, bool isStaggered,
                        const std::string& name) {
    Plan plan(world, allowed, isJoint, isStaggered);
    const Run took = run(world, plan);
    if (best.seconds == 0 || took.seconds < best.seconds) {
      best.seconds = took.seconds;
      best.name = name;
    }
    const double settled = took.settled();
    leastSettled = leastSettled > 0 ? std::min(leastSettled, settled) : settled;
    return took.seconds;
  };
  auto consider = [&](const std::vector<bool>& allowed, bool isJoint, const std::string& name) {
    if (world.waits && std::ranges::count(allowed, true) > 1)
      considerSo(allowed, isJoint, true, name + ", the later ones less");
    return considerSo(allowed, isJoint, false, name);
  };
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return world.devices[a].speed > world.devices[b].speed;
  });
  for (std::size_t d = 0; d < n; ++d) {
    std::vector<bool> allowed(n);
    allowed[d] = true;
    const double took = consider(allowed, false, "device " + std::to_string(d));
    best.alone = best.alone > 0 ? std::min(best.alone, took) : took;
    if (d == 0)
      best.home = took;
  }
  std::vector<bool> allowed(n);
  for (std::size_t i = 0; i < n; ++i) {
    allowed[order[i]] = true;
    if (i == 0)
      continue;
    consider(allowed, false, std::to_string(i + 1) + " devices");
    if (world.sequence.size() > 1)
      consider(allowed, true, std::to_string(i + 1) + " devices, common cuts");
  }
  best.settled = leastSettled;
  return best;
}

World randomWorld(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  auto chance = [&](double part) { return uniform(0, 1) < part; };
  auto whole = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  };
  World world;
  world.seed = seed;
  const std::size_t n = chance(0.5) ? 2 : chance(0.7) ? whole(2, 4) : whole(5, 16);
  const bool areGpus = chance(0.4);
  const double decades = chance(0.4) ? 0 : chance(0.8) ? uniform(0, 1.3) : uniform(1.3, 4);
  const double launchSeconds = std::pow(10, uniform(-4, -1)); // of home alone
  const double readyAt = chance(0.4) ? uniform(0, 50) * launchSeconds : 0;
  world.links.resize(n + 1);
  for (std::size_t d = 0; d < n; ++d) {
    WorldDevice device;
    device.isAlike = d == 0 || decades == 0;
    device.speed = d == 0 ? 1 : std::pow(10, uniform(-decades, decades / 3));
    device.guess = device.isAlike ? 1 : device.speed * std::pow(10, uniform(-0.7, 0.7));
    device.isGpu = areGpus && (d == 0 || chance(0.7));
    device.node = device.isGpu ? static_cast<NodeId>(d + 1) : 0;
    device.fixed = device.isGpu ? 5e-6 : uniform(5e-6, 40e-6);
    device.fill = chance(0.3) ? whole(2, 8) : 1;
    device.readyAt = d > 0 ? readyAt : 0;
    if (chance(0.15)) { // slows down, and perhaps recovers
      const double from = uniform(0, 60) * launchSeconds;
      device.paces.push_back({from, std::pow(10, uniform(-1, 0))});
      if (chance(0.7))
        device.paces.push_back({from + uniform(1, 60) * launchSeconds, 1});
    }
    world.devices.push_back(device);
    world.links[d + 1] = {uniform(10e-6, 50e-6), std::pow(10, uniform(-10.7, -9.3))};
  }
  for (std::size_t d = 1; d < n; ++d)
    if (isLatecomer(world, d) && chance(0.3))
      world.devices[d].readyAt += uniform(0, 50) * launchSeconds;
  world.noise = chance(0.3) ? 0.002 : uniform(0, 0.1);
  world.outliers = chance(0.3) ? uniform(0, 0.02) : 0;
  world.window = chance(0.5) ? 3 : whole(1, 1000);
  world.waits = chance(0.4);
  world.launches = static_cast<std::uint64_t>(5 * std::pow(10, uniform(0, 2.4)));
  if (areGpus && chance(0.3))
    world.compileSeconds = uniform(0, 3) * launchSeconds;

  const bool isExchange = chance(0.3);
  const std::uint64_t groups = whole(8, 64) * whole(1, 32);
  const auto bytes = static_cast<std::uint64_t>(std::pow(10, uniform(5, 8.5)));
  world.buffers = {bytes, bytes, static_cast<std::uint64_t>(std::pow(10, uniform(3, 7)))};
  world.haloBytes = isExchange ? std::min<std::uint64_t>(65536, bytes / groups) : 0;
  auto kernel = [&](std::size_t from, std::size_t to) {
    WorldKernel made;
    made.groups = groups;
    made.work = launchSeconds * uniform(0.5, 1.5);
    made.shape = static_cast<Shape>(whole(0, 4));
    if (chance(0.15))
      made.drift = uniform(-0.01, 0.01);
    if (chance(0.1))
      made.jumpAt = whole(1, world.launches);
    using Range = KernelUse::Range;
    made.uses = {{from, isExchange ? Range::Halo : Range::Slab, true, false},
                 {to, Range::Slab, false, true},
                 {2, Range::Whole, true, false}};
    if (!areGpus && chance(0.15)) {
      double fastest = 0;
      for (const WorldDevice& device : world.devices)
        fastest = std::max(fastest, device.speed);
      made.mostTogether = uniform(0.8, 1.4) * fastest;
    }
    return made;
  };
  world.kernels.push_back(kernel(0, 1));
  world.sequence = {0};
  if (isExchange || chance(0.2)) {
    WorldKernel second = chance(0.5) ? world.kernels[0] : kernel(1, 0);
    second.history = chance(0.5) ? 1 : 0;
    if (second.work != world.kernels[0].work)
      second.history = 1;
    second.uses[0].buffer = 1;
    second.uses[1].buffer = 0;
    world.kernels.push_back(second);
    world.sequence = {0, 1};
  }
  return world;
}

} // namespace libsplit::simulator
