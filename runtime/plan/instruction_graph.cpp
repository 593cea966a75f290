#include "runtime/plan/instruction_graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace libsplit::runtime {

bool InstructionGraph::Kernel::waitsFor(std::size_t copy) const {
  return std::ranges::count(arrivals, copy) + std::ranges::count(departures, copy) > 0;
}

bool InstructionGraph::changes(std::size_t buffer) const {
  return std::ranges::any_of(plan->pieces,
                             [&](const Piece& piece) { return piece.uses[buffer].changes(); });
}

namespace {

/// `state` with those of `before` where it is equal: to tell that later takes no time then.
Directory::State sharing(const Directory::State& state, const Directory::State& before) {
  Directory::State shared = state;
  for (std::size_t node = 0; node < state.size(); ++node)
    if (SetMemo::areSame(before[node], state[node]))
      shared[node] = before[node];
  return shared;
}

std::vector<std::size_t> inTurns(const std::vector<Piece>& pieces) {
  std::vector<std::size_t> order(pieces.size()), turns(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t p = 0; p < pieces.size(); ++p)
    turns[p] = static_cast<std::size_t>(
        std::ranges::count(std::span(pieces).first(p), pieces[p].device, &Piece::device));
  std::ranges::stable_sort(order, {}, [&](std::size_t p) { return turns[p]; });
  return order;
}

} // namespace

InstructionGraph lower(std::shared_ptr<const LaunchPlan> plan, std::span<const NodeId> nodes,
                       std::span<Directory* const> directories) {
  InstructionGraph graph;
  const std::vector<Piece>& pieces = plan->pieces;
  // Filling gaps must neither overwrite bytes that a merge put together nor carry them on.
  const auto gaps = plan->merges.empty() ? Directory::Gaps::Small : Directory::Gaps::None;
  for (const Piece& piece : pieces)
    graph.kernels.push_back({nodes[piece.device], {}, {}, {}});
  std::vector<Directory::Need> needs(pieces.size());
  for (std::size_t b = 0; b < directories.size(); ++b) {
    Directory& directory = *directories[b];
    InstructionGraph::States& states = graph.states.emplace_back();
    states.before = directory.state();
    for (std::size_t p = 0; p < pieces.size(); ++p)
      needs[p] = {graph.kernels[p].node, &pieces[p].uses[b].needs};
    for (Directory::NeededMove& each : directory.bringAll(needs, gaps))
      graph.copies.push_back({b, each.need, std::move(each.move)});
    states.arrived = sharing(directory.state(), states.before);
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const PieceUse& use = pieces[p].uses[b];
      InstructionGraph::Kernel& kernel = graph.kernels[p];
      kernel.stores.push_back(use.stores());
      if (!use.merged.empty())
        directory.spoiled(kernel.node, use.merged);
      if (!use.writes.empty())
        directory.wrote(kernel.node, use.writes);
    }
    for (std::size_t p = 0; p < pieces.size(); ++p) // once all is the newest where it is its own
      if (const ByteSet& repeats = pieces[p].uses[b].repeats; !repeats.empty())
        directory.confirm(graph.kernels[p].node, repeats);
    states.after = sharing(directory.state(), states.before);
  }
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    InstructionGraph::Kernel& kernel = graph.kernels[p];
    for (std::size_t c = 0; c < graph.copies.size(); ++c) {
      const auto& [buffer, piece, move] = graph.copies[c];
      const bool overwrites = kernel.stores[buffer].intersects(move.bytes);
      if (move.to == kernel.node &&
          (overwrites || pieces[p].uses[buffer].needs.intersects(move.bytes)))
        kernel.arrivals.push_back(c);
      else if (move.from == kernel.node && overwrites)
        kernel.departures.push_back(c);
    }
  }
  graph.order = inTurns(pieces);
  graph.plan = std::move(plan);
  return graph;
}

std::string toString(const InstructionGraph& graph) {
  std::string text;
  for (std::size_t c = 0; c < graph.copies.size(); ++c) {
    const auto& [buffer, piece, move] = graph.copies[c];
    text += "copy " + std::to_string(c) + ": buffer " + std::to_string(buffer) + " from node " +
            std::to_string(move.from) + " to " + std::to_string(move.to) + ", " +
            toString(move.bytes) + "\n";
  }
  for (std::size_t p = 0; p < graph.kernels.size(); ++p) {
    const InstructionGraph::Kernel& kernel = graph.kernels[p];
    text += "kernel " + std::to_string(p) + ": piece " + std::to_string(p) + " on node " +
            std::to_string(kernel.node);
    for (const std::size_t copy : kernel.arrivals)
      text += ", after copy " + std::to_string(copy);
    for (const std::size_t copy : kernel.departures)
      text += ", once copy " + std::to_string(copy) + " has left";
    text += "\n";
  }
  return text;
}

std::shared_ptr<const InstructionGraph>
GraphMemo::find(const LaunchPlan& plan, std::span<Directory* const> directories) const {
  // What is known to be the same first; what only looks the same is from then on.
  for (const auto same : {&Directory::isKnownToBe, &Directory::is})
    for (const auto& graph : graphs_)
      if (graph && graph->plan.get() == &plan &&
          std::ranges::equal(
              directories, graph->states,
              [&](const Directory* directory, const InstructionGraph::States& states) {
                return (directory->*same)(states.before);
              }))
        return graph;
  return nullptr;
}

void GraphMemo::keep(std::shared_ptr<const InstructionGraph> graph) {
  graphs_[oldest_] = std::move(graph);
  oldest_ = (oldest_ + 1) % capacity;
}

} // namespace libsplit::runtime
