// Pieces that run groups of their neighbours, on random launches of random kernels, against the
// same launches done by one device: whatever a directory says is valid on a node has in that node's
// memory the byte that it should have.
//
// Kernels read cells around a place and write a hash of them there, in two to four buffers that
// change places, two kernels in turn. Some write with gaps, some only where what they read says so,
// some leave out the edges; in some several groups write the same bytes, or bytes of the same cell,
// of which only some may be written. Cuts and depths change now and then, devices are of several
// kinds, the program writes and reads between launches, and some launches fail in part and are put
// right.
#include "runtime/plan/overlap.h"
#include "runtime/program/compiled_graph.h"
#include "tests/property/seeds.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace libsplit::runtime {
namespace {

using Memory = std::vector<std::uint8_t>;
constexpr NodeId home = 1;

/// What was met, over all seeds.
struct Met {
  unsigned launches = 0, overlapped = 0, uncertain = 0, shared = 0, failures = 0, repeatedOnly = 0,
           changedCuts = 0, reused = 0;
};

struct Cell {
  std::int64_t x = 0, y = 0;
};

/// Work-item (x, y) has the cell at stride * x of row y / sharing.
struct Kernel {
  enum class Writes { Always, ByData, ByDataAndItem };
  std::uint64_t number = 0;
  std::int64_t width = 0, height = 0; ///< of the grid, and of the NDRange but for strides
  std::int64_t stride = 1, sharing = 1, margin = 0;
  bool byBytes = false; ///< of a cell, each of those that share it writes one
  Writes writes = Writes::Always;
  std::vector<std::vector<Cell>> reads; ///< by input
  NDRange range;
  KernelSummary summary; ///< parameter 0 is written
  Overlaps overlaps{};
  GraphMemo graphs{};
  std::map<std::vector<std::uint64_t>, std::shared_ptr<const LaunchPlan>> plans{};

  struct Grid {
    std::int64_t width = 0, groups = 0, groupRows = 0;
    explicit Grid(std::mt19937& random)
        : width(pick(random, 3, 9)), groups(pick(random, 6, 24)), groupRows(pick(random, 1, 4)) {}
  };
  Kernel(std::mt19937& random, std::uint64_t id, const Grid& grid, std::size_t inputs)
      : number(id), width(grid.width), height(grid.groups * grid.groupRows) {
    const std::int64_t groupRows = grid.groupRows;
    stride = chance(random, 25) ? 2 : 1;
    margin = chance(random, 40) ? 1 : 0;
    if (chance(random, 35)) {
      const std::int64_t several[] = {2, 4, 2 * groupRows, 3 * groupRows};
      sharing = several[pick(random, 0, 3)];
      byBytes = sharing <= 4 && chance(random, 50);
    }
    const auto drawn = pick(random, 0, 3);
    writes = drawn < 2 ? Writes::Always : drawn == 2 ? Writes::ByData : Writes::ByDataAndItem;
    reads.resize(inputs);
    for (std::vector<Cell>& each : reads)
      for (std::int64_t n = pick(random, 1, 4); n > 0; --n)
        each.push_back({pick(random, -1, 1), pick(random, -2, 2)});
    range.dimensions = 2;
    range.global = {static_cast<std::uint64_t>(width / stride), static_cast<std::uint64_t>(height),
                    1};
    range.local = {range.global[0], static_cast<std::uint64_t>(groupRows), 1};
    if (chance(random, 20) && range.global[1] > 2)
      --range.global[1]; // the last group is smaller
    describe();
  }

  void describe() {
    using Op = Expr::Op;
    const auto number = [](std::int64_t value) { return Expr::constant(value); };
    const Expr gx = Expr::id(Op::GlobalId, 0), gy = Expr::id(Op::GlobalId, 1);
    const Expr place =
        number(width) * Expr::node(Op::DivFloor, {gy, number(sharing)}) + number(stride) * gx;
    summary.name = "k" + std::to_string(this->number);
    for (std::size_t p = 0; p <= reads.size(); ++p)
      summary.parameters.push_back(
          {"b" + std::to_string(p), "uint*", ParameterKind::GlobalBuffer, 0});
    Access access;
    access.length = 4;
    access.certain = true;
    if (margin > 0) {
      access.guards.push_back({number(margin - 1), Guard::Relation::Less, gx});
      access.guards.push_back({number(margin - 1), Guard::Relation::Less, gy});
      access.guards.push_back({gy, Guard::Relation::Less, number(height - margin)});
    }
    for (std::size_t input = 0; input < reads.size(); ++input)
      for (const Cell& cell : reads[input]) {
        access.parameter = static_cast<unsigned>(input + 1);
        access.offset = number(4) * (place + number(width * cell.y + cell.x));
        summary.accesses.push_back(access);
      }
    access.parameter = 0;
    access.effect = Effect::Write;
    access.certain = writes == Writes::Always;
    access.offset = number(4) * place;
    if (byBytes) {
      access.length = 1;
      access.offset = access.offset + Expr::node(Op::RemTrunc, {gy, number(sharing)});
    }
    summary.accesses.push_back(access);
  }

  /// Runs a box of groups on one node's buffers.
  void run(const GroupBox& box, std::span<Memory* const> buffers) const {
    for (std::uint64_t y = box.begin[1] * range.local[1];
         y < std::min(box.end[1] * range.local[1], range.global[1]); ++y)
      for (std::uint64_t x = 0; x < range.global[0]; ++x)
        runItem(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y), buffers);
  }

  void runItem(std::int64_t x, std::int64_t y, std::span<Memory* const> buffers) const {
    if (margin > 0 && (x < margin || y < margin || y >= height - margin))
      return;
    const std::int64_t place = width * (y / sharing) + stride * x;
    std::uint64_t hash = mix(number, static_cast<std::uint64_t>(place));
    for (std::size_t input = 0; input < reads.size(); ++input)
      for (const Cell& cell : reads[input]) {
        const std::int64_t at = 4 * (place + width * cell.y + cell.x);
        const Memory& memory = *buffers[input + 1];
        for (std::int64_t i = at; i < at + 4; ++i)
          if (i >= 0 && i < static_cast<std::int64_t>(memory.size()))
            hash = mix(hash, memory[static_cast<std::size_t>(i)]);
      }
    if (writes == Writes::ByData && mix(hash, 1) % 2 == 0)
      return;
    if (writes == Writes::ByDataAndItem && mix(hash, static_cast<std::uint64_t>(y)) % 2 == 0)
      return;
    for (std::int64_t byte = 0; byte < 4; ++byte)
      if (!byBytes || byte == y % sharing)
        (*buffers[0])[static_cast<std::size_t>(4 * place + byte)] =
            static_cast<std::uint8_t>(hash >> (8 * byte));
  }

  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    a = (a ^ (b + 0x9e3779b97f4a7c15U)) * 0xbf58476d1ce4e5b9U;
    return a ^ (a >> 29);
  }
};

/// Some nodes, what is in their memories, and what should be.
class World {
public:
  World(std::mt19937& chosen, Met& counts) : random_(chosen), met_(counts) {
    const auto rotating = static_cast<std::size_t>(pick(random_, 2, 4));
    isConstantRead_ = chance(random_, 30);
    const std::size_t devices = static_cast<std::size_t>(pick(random_, 2, 4));
    const bool areAlike = chance(random_, 70);
    for (std::size_t i = 0; i < devices; ++i) {
      nodes_.push_back(static_cast<NodeId>(i + 1));
      kinds_.push_back(areAlike ? 1 : static_cast<unsigned>(pick(random_, 0, 2)));
    }
    inputs_ = rotating > 2 && chance(random_, 50) ? 2 : 1;
    const std::size_t arguments = inputs_ + (isConstantRead_ ? 1 : 0);
    const Kernel::Grid grid(random_);
    const std::uint64_t kernels = chance(random_, 50) ? 2 : 1;
    for (std::uint64_t k = 0; k < kernels; ++k)
      kernels_.push_back(std::make_unique<Kernel>(
          random_, k, chance(random_, 80) ? grid : Kernel::Grid(random_), arguments));
    std::int64_t cells = 0;
    for (const auto& kernel : kernels_)
      cells = std::max(cells, kernel->width * kernel->height);
    size_ = static_cast<std::uint64_t>(4 * cells);
    rotating_ = rotating;
    for (std::size_t b = 0; b <= rotating; ++b) {
      directories_.emplace_back(nodes_.size() + 1, home, size_);
      right_.push_back(noise());
      for (std::size_t n = 0; n <= nodes_.size(); ++n)
        memories_[b].push_back(n == home ? right_[b] : noise());
    }
    depth_ = static_cast<std::uint64_t>(pick(random_, 1, 5));
    draw();
  }

  void run() {
    for (int step = 0; step < 30 && !testing::Test::HasFailure() && !hasLost_; ++step) {
      SCOPED_TRACE("launch " + std::to_string(step));
      launch(static_cast<std::size_t>(step));
      if (!hasLost_)
        check(right_);
      if (chance(random_, 8))
        touch();
      if (chance(random_, 8)) {
        draw();
        ++met_.changedCuts;
      }
      if (chance(random_, 4))
        depth_ = static_cast<std::uint64_t>(pick(random_, 0, 5));
    }
  }

private:
  Memory noise() {
    Memory memory(size_);
    for (std::uint8_t& byte : memory)
      byte = static_cast<std::uint8_t>(pick(random_, 0, 255));
    return memory;
  }
  void draw() {
    shares_.clear();
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      shares_.push_back(static_cast<std::uint64_t>(pick(random_, 0, 4)));
    grain_ = pick(random_, 1, 3);
  }

  std::vector<PlanDevice> devicesFor(const Kernel& kernel) const {
    std::vector<PlanDevice> devices;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      devices.push_back({nodes_[i], &kernel.summary, false, kinds_[i]});
    return devices;
  }

  /// Cut as drawn, or by one device where that can't be done without a merge.
  std::shared_ptr<const LaunchPlan> planOf(Kernel& kernel, const LaunchRequest& request) {
    const std::uint64_t all = kernel.range.groups(1);
    std::vector<std::uint64_t> groups;
    std::uint64_t sum = 0, given = 0, soFar = 0;
    for (const std::uint64_t share : shares_)
      sum += share;
    for (const std::uint64_t share : shares_) {
      soFar += share;
      const auto grain = static_cast<std::uint64_t>(grain_);
      const std::uint64_t end = sum == 0 || soFar == sum ? all : all * soFar / sum / grain * grain;
      groups.push_back(std::max(end, given) - given);
      given = std::max(end, given);
    }
    std::shared_ptr<const LaunchPlan>& plan = kernel.plans[groups];
    if (plan)
      return plan;
    PlanResult result = planCut(request, devicesFor(kernel), 1, groups);
    auto* cut = std::get_if<LaunchPlan>(&result);
    if (!cut || !cut->merges.empty()) {
      groups.assign(nodes_.size(), 0);
      groups[static_cast<std::size_t>(pick(random_, 0, std::int64_t(nodes_.size()) - 1))] = all;
      result = planCut(request, devicesFor(kernel), 1, groups);
      cut = std::get_if<LaunchPlan>(&result);
    }
    if (cut)
      plan = std::make_shared<const LaunchPlan>(std::move(*cut));
    return plan;
  }

  void launch(std::size_t step) {
    Kernel& kernel = *kernels_[step % kernels_.size()];
    // What is written, what is read of it next, what was before that, the constant one.
    std::vector<std::size_t> which = {(step + 1) % rotating_, step % rotating_};
    if (inputs_ == 2)
      which.push_back((step + rotating_ - 1) % rotating_);
    if (isConstantRead_)
      which.push_back(rotating_);
    LaunchRequest request;
    request.range = kernel.range;
    request.arguments.resize(which.size());
    for (std::size_t i = 0; i < which.size(); ++i) {
      request.arguments[i].bufferSize = size_;
      request.buffers.push_back({static_cast<unsigned>(i), i, 0});
    }
    request.bufferCount = which.size();
    const auto whole = planOf(kernel, request);
    ASSERT_TRUE(whole);
    std::vector<Directory*> directories;
    for (const std::size_t b : which)
      directories.push_back(&directories_[b]);
    const auto plan =
        kernel.overlaps.extend(request, devicesFor(kernel), whole, depth_, directories);
    auto graph = kernel.graphs.find(*plan, directories);
    met_.reused += graph ? 1 : 0;
    if (!graph) {
      graph = std::make_shared<const InstructionGraph>(lower(plan, nodes_, directories));
      kernel.graphs.keep(graph);
    }
    count(kernel, *plan);
    for (std::size_t i = 0; i < which.size(); ++i)
      directories[i]->follow(graph->states[i].arrived, false);
    for (const InstructionGraph::Copy& copy : graph->copies)
      move(which[copy.buffer], copy.move);
    const std::vector<Memory> before = right_;
    runOn(kernel, wholeBox(kernel.range), which, std::nullopt);
    const bool fails = plan->pieces.size() > 1 && chance(random_, 12);
    if (!fails) {
      for (const Piece& piece : plan->pieces)
        runOn(kernel, piece.box, which, nodes_[piece.device]);
      for (std::size_t i = 0; i < which.size(); ++i)
        directories[i]->follow(graph->states[i].after, graph->changes(i));
      return;
    }
    fail(kernel, *graph, which, before);
  }

  void count(const Kernel& kernel, const LaunchPlan& plan) {
    const bool isExtended =
        std::ranges::any_of(plan.pieces, [](const Piece& piece) { return piece.own != nullptr; });
    ++met_.launches;
    met_.overlapped += isExtended ? 1 : 0;
    met_.uncertain += isExtended && kernel.writes != Kernel::Writes::Always ? 1 : 0;
    met_.shared +=
        isExtended && kernel.sharing > static_cast<std::int64_t>(kernel.range.local[1]) ? 1 : 0;
  }

  /// Without a node, on the memory that is as it should be.
  void runOn(const Kernel& kernel, const GroupBox& box, const std::vector<std::size_t>& which,
             std::optional<NodeId> node) {
    std::vector<Memory*> buffers;
    for (const std::size_t b : which)
      buffers.push_back(node ? &memories_[b][*node] : &right_[b]);
    kernel.run(box, buffers);
  }

  /// All leave before any arrives, but no two take from what the other brings.
  void move(std::size_t buffer, const Move& move) {
    for (const ByteRange& range : move.bytes.ranges())
      std::copy_n(memories_[buffer][move.from].begin() + static_cast<std::ptrdiff_t>(range.begin),
                  range.size(),
                  memories_[buffer][move.to].begin() + static_cast<std::ptrdiff_t>(range.begin));
  }

  /// Some pieces of others than home fail. The directories are put right, and home does what is
  /// missing.
  void fail(Kernel& kernel, const InstructionGraph& graph, const std::vector<std::size_t>& which,
            const std::vector<Memory>& before) {
    ++met_.failures;
    const std::vector<Piece>& pieces = graph.plan->pieces;
    auto ends = std::make_shared<Journal::Ends>();
    std::vector<Memory> expected = before;
    for (const Piece& piece : pieces) {
      const NodeId node = nodes_[piece.device];
      Outcome outcome = Outcome::Succeeded;
      if (node != home && chance(random_, 50))
        outcome = chance(random_, 50) ? Outcome::Failed : Outcome::Refused;
      ends->kernels.push_back(std::make_shared<Completion>(cl_));
      ends->kernels.back()->finish(outcome == Outcome::Succeeded ? CL_SUCCESS : CL_OUT_OF_RESOURCES,
                                   outcome);
      if (outcome == Outcome::Succeeded)
        runOn(kernel, piece.box, which, node);
      for (std::size_t i = 0; i < which.size(); ++i) {
        const PieceUse& use = piece.uses[i];
        if (outcome == Outcome::Failed)
          overwrite(memories_[which[i]][node], noise(), use.stores());
        if (outcome == Outcome::Succeeded)
          overwrite(expected[which[i]], right_[which[i]], unite(use.writes, use.repeats));
        if (outcome == Outcome::Succeeded && !use.repeats.empty())
          ++met_.repeatedOnly;
      }
    }
    for (std::size_t i = 0; i < which.size(); ++i) {
      Directory& directory = directories_[which[i]];
      Journal journal;
      if (auto changes = changesOf(graph, i))
        journal.note(std::move(changes), ends);
      directory.follow(graph.states[i].after, graph.changes(i));
      journal.settle(directory);
    }
    {
      SCOPED_TRACE("put right");
      check(expected);
    }
    for (std::size_t p = 0; p < pieces.size() && !hasLost_; ++p) {
      if (ends->kernels[p]->succeeded())
        continue;
      const Piece& own = pieces[p].own ? *pieces[p].own : pieces[p];
      for (std::size_t i = 0; i < which.size(); ++i) {
        Directory& directory = directories_[which[i]];
        hasLost_ = hasLost_ || !directory.lost(own.uses[i].needs).empty();
        for (const Move& each : directory.bring(home, own.uses[i].needs))
          move(which[i], each);
      }
      if (hasLost_)
        return; // by the device that failed: an error, and nothing else
      runOn(kernel, own.box, which, home);
      for (std::size_t i = 0; i < which.size(); ++i)
        if (!own.uses[i].writes.empty())
          directories_[which[i]].wrote(home, own.uses[i].writes);
    }
  }

  static void overwrite(Memory& to, const Memory& from, const ByteSet& bytes) {
    for (const ByteRange& range : bytes.ranges())
      for (std::uint64_t i = range.begin; i < range.end; ++i)
        to[i] = from[i];
  }

  /// The program writes or reads something.
  void touch() {
    const auto b = static_cast<std::size_t>(pick(random_, 0, std::int64_t(rotating_)));
    const auto begin = static_cast<std::uint64_t>(pick(random_, 0, std::int64_t(size_) - 1));
    const auto end =
        static_cast<std::uint64_t>(pick(random_, std::int64_t(begin) + 1, std::int64_t(size_)));
    const ByteSet bytes(begin, end);
    if (chance(random_, 50)) {
      overwrite(right_[b], noise(), bytes);
      overwrite(memories_[b][home], right_[b], bytes);
      directories_[b].wrote(home, bytes);
    } else {
      for (const Move& each : directories_[b].bring(home, bytes))
        move(b, each);
    }
  }

  void check(const std::vector<Memory>& expected) const {
    for (std::size_t b = 0; b <= rotating_; ++b)
      for (NodeId node = 0; node < memories_.at(b).size(); ++node)
        for (const ByteRange& range : directories_[b].valid(node).ranges())
          for (std::uint64_t i = range.begin; i < range.end; ++i)
            ASSERT_EQ(int{memories_.at(b)[node][i]}, int{expected[b][i]})
                << "byte " << i << " of buffer " << b << " on node " << node;
    for (std::size_t b = 0; b <= rotating_ && &expected == &right_; ++b)
      ASSERT_TRUE(directories_[b].lost(ByteSet(0, size_)).empty());
  }

  std::mt19937& random_;
  Met& met_;
  const Dispatch cl_{};
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<NodeId> nodes_; ///< by device
  std::vector<unsigned> kinds_;
  std::size_t rotating_ = 0; ///< buffers that change places; one more is only read
  std::size_t inputs_ = 1;
  bool isConstantRead_ = false;
  std::uint64_t size_ = 0;
  std::vector<Directory> directories_;                  ///< by buffer
  std::vector<Memory> right_;                           ///< by buffer
  std::map<std::size_t, std::vector<Memory>> memories_; ///< by buffer and node
  std::vector<std::uint64_t> shares_;
  std::int64_t grain_ = 1;
  std::uint64_t depth_ = 0;
  bool hasLost_ = false; ///< bytes that only a device had that failed
};

TEST(OverlapProperty, BytesAreThoseThatOneDeviceWouldLeave) {
  Met met;
  forEachSeed(400, [&](std::mt19937& random) { World(random, met).run(); });
  std::cout << met.launches << " launches, " << met.overlapped << " overlapped, of these "
            << met.uncertain << " with uncertain writes and " << met.shared
            << " with bytes that several groups write; " << met.failures << " failed in part, with "
            << met.repeatedOnly << " buffers repeated; " << met.changedCuts << " other cuts; "
            << met.reused << " graphs used again\n";
  if (std::getenv("LIBSPLIT_TEST_SEEDS") || std::getenv("LIBSPLIT_TEST_FIRST_SEED"))
    return;
  EXPECT_GT(met.overlapped, met.launches / 10);
  for (const unsigned each : {met.uncertain, met.shared, met.failures, met.repeatedOnly})
    EXPECT_GT(each, 20U);
}

} // namespace
} // namespace libsplit::runtime
