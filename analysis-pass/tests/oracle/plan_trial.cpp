#include "analysis-pass/tests/oracle/plan_trial.h"

#include "runtime/plan/planner.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace libsplit::oracle {
namespace {

using namespace runtime;
using Image = std::vector<std::vector<std::byte>>; ///< by memory object

Image imageOf(const Memories& memories) {
  Image image;
  for (unsigned m = 0; m < memories.count(); ++m)
    image.emplace_back(memories.at(m).begin(), memories.at(m).end());
  return image;
}

void lay(const Image& image, const Memories& memories) {
  for (unsigned m = 0; m < memories.count(); ++m)
    std::ranges::copy(image[m], memories.at(m).begin());
}

void copy(const std::vector<std::byte>& from, const ByteSet& bytes, std::vector<std::byte>& to) {
  for (const ByteRange& range : bytes.ranges()) {
    const std::uint64_t end = std::min<std::uint64_t>(range.end, from.size());
    if (range.begin < end)
      std::memcpy(to.data() + range.begin, from.data() + range.begin, end - range.begin);
  }
}

ByteSet within(const ByteSet& bytes, std::size_t size) {
  return intersect(bytes, ByteSet(0, size));
}

/// One memory per node: what the plan brings there, what is to be collected from nothing, garbage
/// elsewhere.
std::vector<Image> prepare(const LaunchPlan& plan, std::span<const PlanDevice> devices,
                           const Image& before, std::size_t nodes) {
  std::vector<Image> images(nodes, before);
  for (Image& image : images)
    for (auto& bytes : image)
      for (std::byte& each : bytes)
        each ^= std::byte{0xa5};
  for (const Piece& piece : plan.pieces)
    for (std::size_t m = 0; m < before.size(); ++m)
      copy(before[m], piece.uses[m].needs, images[devices[piece.device].node][m]);
  for (const Merge& merge : plan.merges)
    for (const Merge::Part& part : merge.parts) {
      auto& bytes = images[part.node][merge.buffer];
      const ByteSet own = within(part.bytes, bytes.size());
      copy(before[merge.buffer], own, bytes);
      if (merge.update && part.node != hostNode) {
        const std::uint64_t neutral = neutralElement(*merge.update);
        for (const ByteRange& range : own.ranges())
          for (std::uint64_t at = range.begin; at < range.end; at += merge.update->width)
            std::memcpy(bytes.data() + at, &neutral, merge.update->width);
      }
    }
  return images;
}

Image putTogether(const LaunchPlan& plan, std::span<const PlanDevice> devices, const Image& before,
                  const std::vector<Image>& images) {
  Image result = before;
  for (const Piece& piece : plan.pieces)
    for (std::size_t m = 0; m < before.size(); ++m)
      copy(images[devices[piece.device].node][m], piece.uses[m].writes, result[m]);
  for (const Merge& merge : plan.merges) {
    auto& into = result[merge.buffer];
    std::vector<ByteSet> sets;
    for (const Merge::Part& part : merge.parts)
      sets.push_back(within(part.bytes, into.size()));
    std::vector<MergeCopy> copies;
    for (std::size_t i = 0; i < sets.size(); ++i)
      copies.push_back({images[merge.parts[i].node][merge.buffer].data(), &sets[i]});
    const ByteSet all = within(merge.bytes, into.size());
    if (!merge.update) {
      for (const ByteRange& range : all.ranges())
        mergeDifferences(range, merge.grain, copies, before[merge.buffer].data(), into.data());
      continue;
    }
    for (std::size_t i = 0; i < sets.size(); ++i)
      if (merge.parts[i].node == hostNode)
        copy(images[hostNode][merge.buffer], sets[i], into);
    for (std::size_t i = 0; i < sets.size(); ++i)
      if (merge.parts[i].node != hostNode)
        for (const ByteRange& range : all.ranges())
          mergeUpdates(range, *merge.update, copies[i], into.data());
  }
  return result;
}

std::string difference(const Image& actual, const Image& expected) {
  for (std::size_t m = 0; m < expected.size(); ++m) {
    ByteSet wrong;
    for (std::uint64_t i = 0; i < expected[m].size(); ++i)
      if (actual[m][i] != expected[m][i])
        wrong.add({i, i + 1});
    if (!wrong.empty())
      return "buffer " + std::to_string(m) + " differs at " + libsplit::toString(wrong);
  }
  return {};
}

} // namespace

std::string tryPlan(const Kernel& kernel, const KernelSummary& summary, const Launch& launch,
                    const Memories& memories, std::uint64_t maxSteps, std::mt19937& random,
                    PlanTally& tally) {
  const NDRange& range = launch.range;
  auto below = [&](std::uint64_t n) {
    return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random);
  };
  std::vector<unsigned> dimensions;
  for (unsigned d = 0; d < range.dimensions; ++d)
    if (range.groups(d) > 1)
      dimensions.push_back(d);
  if (dimensions.empty() || !summary.obstacles.empty())
    return {};
  const unsigned dimension = dimensions[below(dimensions.size())];

  // Two or three memories, the host's among them or not, or one for all.
  const bool shared = below(6) == 0;
  const std::size_t count = 2 + below(2), first = below(2);
  std::vector<PlanDevice> devices(count);
  for (std::size_t i = 0; i < count; ++i)
    devices[i] = {.node = shared ? hostNode : static_cast<NodeId>(first + i), .summary = &summary};
  std::vector<std::uint64_t> groups(count);
  std::uint64_t left = range.groups(dimension);
  for (std::size_t i = 0; i + 1 < count; ++i)
    left -= groups[i] = below(left + 1);
  groups.back() = left;

  LaunchRequest request;
  request.range = range;
  request.arguments = valuesOf(launch);
  request.bufferCount = memories.count();
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    if (launch.arguments[i].kind == Argument::Kind::Buffer)
      request.buffers.push_back(
          {static_cast<unsigned>(i), launch.arguments[i].memory, launch.arguments[i].offset});
  const auto contents = contentsOf(launch, request.arguments);
  request.contents = contents.get();

  const Image before = imageOf(memories);
  const GroupBox whole = wholeBox(range);
  if (!kernel.run(range, launch.arguments, memories, maxSteps, {&whole, 1}).undefined.empty())
    return {};
  const Image expected = imageOf(memories);
  const PlanResult planned = planCut(request, devices, dimension, groups);
  const auto* plan = std::get_if<LaunchPlan>(&planned);
  if (!plan) {
    ++tally.refused;
    return {};
  }
  ++tally.plans;
  ++tally.rungs[static_cast<std::size_t>(plan->rung)];

  Image actual = before;
  std::string wrong;
  std::vector<Image> images = prepare(*plan, devices, before, first + count);
  for (const Piece& piece : plan->pieces) {
    Image& image = shared ? actual : images[devices[piece.device].node];
    lay(image, memories);
    const Observation observation =
        kernel.run(range, launch.arguments, memories, maxSteps, {&piece.box, 1});
    if (!observation.undefined.empty())
      wrong = "a part " + observation.undefined;
    image = imageOf(memories);
  }
  if (!shared)
    actual = putTogether(*plan, devices, before, images);
  if (wrong.empty())
    wrong = difference(actual, expected);
  if (!wrong.empty())
    wrong = "in parts: " + wrong + "; " + libsplit::runtime::toString(*plan) + "\n";
  return wrong;
}

} // namespace libsplit::oracle
