#include "analysis-pass/tests/oracle/trial.h"

#include "analysis-pass/summary/evaluate.h"
#include "analysis-pass/summary/inspection.h"
#include "tests/property/host_inspector.h"

#include <algorithm>
#include <cstring>

namespace libsplit::oracle {
namespace {

class Chance {
public:
  explicit Chance(std::mt19937& random) : random_(random) {}
  std::uint64_t below(std::uint64_t n) {
    return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random_);
  }
  template <typename T> T oneOf(std::initializer_list<T> values) {
    return *(values.begin() + below(values.size()));
  }

private:
  std::mt19937& random_;
};

NDRange randomRange(const KernelSummary& kernel, Chance& chance) {
  NDRange range;
  range.dimensions = static_cast<unsigned>(1 + chance.below(3));
  static constexpr std::array<std::uint64_t, 3> limits{64, 16, 6};
  for (unsigned d = 0; d < range.dimensions; ++d) {
    std::uint64_t local = kernel.requiredLocal[d];
    if (local == 0)
      local = 1 + chance.below(d == 0 && range.dimensions == 1 ? 8 : 4);
    range.local[d] = local;
    range.global[d] = local * (1 + chance.below(std::max<std::uint64_t>(limits[d] / local, 2)));
    if (kernel.requiredLocal[d] == 0 && !kernel.idsFromGroups && chance.below(4) == 0)
      range.global[d] += chance.below(local); // a smaller last group
    if (chance.below(4) == 0)
      range.offset[d] = chance.below(6);
  }
  return range;
}

/// A number that a host might pass: a size of this launch, or a small one.
std::int64_t likelyNumber(const NDRange& range, Chance& chance) {
  auto size = [&](unsigned d) { return static_cast<std::int64_t>(range.global[d]); };
  switch (chance.below(8)) {
  case 0:
    return size(0);
  case 1:
    return size(1);
  case 2:
    return size(0) * size(1) * size(2);
  case 3:
    return size(0) - 1 - static_cast<std::int64_t>(chance.below(3));
  case 4:
    return static_cast<std::int64_t>(range.local[0]);
  case 5:
    return static_cast<std::int64_t>(chance.below(100));
  case 6:
    return chance.oneOf<std::int64_t>({0, 1, -1, 7, 16, 32});
  default:
    return static_cast<std::int64_t>(1 + chance.below(12));
  }
}

template <typename T> void put(std::vector<std::byte>& bytes, std::size_t at, T value) {
  if (at + sizeof value <= bytes.size())
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::vector<std::byte> randomValue(const Parameter& parameter, const NDRange& range,
                                   Chance& chance) {
  std::vector<std::byte> bytes(parameter.size);
  std::int64_t number = likelyNumber(range, chance);
  const std::string& type = parameter.type;
  if (type.starts_with("float")) {
    for (std::size_t i = 0; i < bytes.size(); i += 4)
      put(bytes, i, static_cast<float>(number));
  } else if (type.starts_with("double")) {
    for (std::size_t i = 0; i < bytes.size(); i += 8)
      put(bytes, i, static_cast<double>(number));
  } else if (bytes.size() <= 8) {
    std::memcpy(bytes.data(), &number, bytes.size());
  } else {
    for (std::size_t i = 0; i < bytes.size(); i += 4)
      put(bytes, i, static_cast<std::int32_t>(likelyNumber(range, chance)));
  }
  return bytes;
}

void fill(std::span<std::byte> bytes, Chance& chance) {
  auto each = [&](auto next) {
    for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      auto value = next(i / 4);
      std::memcpy(bytes.data() + i, &value, 4);
    }
  };
  switch (chance.below(4)) {
  case 0: // indices
    return each([&](std::size_t) { return static_cast<std::uint32_t>(chance.below(32)); });
  case 1: // rising, as row pointers are
    return each([&](std::size_t i) { return static_cast<std::uint32_t>(i * 3 / 2); });
  case 2:
    return each([&](std::size_t) { return static_cast<float>(chance.below(1000)) / 100.0f; });
  default:
    return; // zeros
  }
}

/// What the buffers hold that no other argument shares: what the runtime would look up.
class ContentsInMemory : public Contents {
public:
  ContentsInMemory(const Launch& launch, std::span<const ArgumentValue> values)
      : launch_(launch), values_(values) {
    for (const Argument& argument : launch.arguments)
      buffers_.push_back(argument.before);
  }

  std::optional<Interval> values(const ElementSlice& slice) override {
    const Argument& buffer = launch_.arguments[slice.parameter];
    if (isShared(slice.parameter))
      return std::nullopt;
    std::optional<Interval> result;
    for (std::uint64_t at = slice.first; at <= slice.last; at += slice.step) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, buffer.before.data() + at, slice.width / 8);
      Int value = bits;
      if (slice.isSigned && bits >> (slice.width - 1) & 1)
        value -= Int{1} << slice.width;
      result = result ? hull(*result, {value, value}) : Interval{value, value};
    }
    return result;
  }

  std::optional<Interval> touched(const KernelSummary& summary, std::size_t index,
                                  const GroupBox& box) override {
    const Access& access = summary.accesses[index];
    if (!wantsInspection(access) || loadsShared(access.offset) ||
        std::ranges::any_of(access.loops,
                            [&](const Loop& loop) { return loadsShared(loop.count); }) ||
        std::ranges::any_of(access.guards, [&](const Guard& guard) {
          return loadsShared(guard.left) || loadsShared(guard.right);
        }))
      return std::nullopt;
    const Interval bytes = inspectOnHost(access, launch_.range, values_, box, buffers_);
    return bytes == everything ? std::nullopt : std::optional(bytes);
  }

private:
  bool isShared(unsigned parameter) const {
    const auto users = std::ranges::count_if(launch_.arguments, [&](const Argument& other) {
      return other.kind == Argument::Kind::Buffer &&
             other.memory == launch_.arguments[parameter].memory;
    });
    return users != 1;
  }
  bool loadsShared(const Expr& e) const {
    return (e.op() == Expr::Op::Load && isShared(e.index())) ||
           std::ranges::any_of(e.operands(), [&](const Expr& each) { return loadsShared(each); });
  }

  const Launch& launch_;
  const std::span<const ArgumentValue> values_;
  std::vector<std::vector<std::byte>> buffers_; ///< by argument
};

/// What `box` certainly reads or writes of memory `m`, as far as the planner would ask.
ByteSet certainly(Effect effect, unsigned m, const KernelSummary& kernel, const Launch& launch,
                  std::span<const ArgumentValue> values, const GroupBox& box) {
  ByteSet all;
  unsigned budget = 4096;
  for (const Access& access : kernel.accesses) {
    const Argument& argument = launch.arguments[access.parameter];
    if (access.effect == effect && argument.kind == Argument::Kind::Buffer && argument.memory == m)
      all.uniteWith(
          shift(certainBytes(kernel, access, launch.range, values, box, budget), argument.offset));
  }
  return all;
}

bool isIn(const std::array<std::uint64_t, 3>& group, const GroupBox& box) {
  for (unsigned d = 0; d < 3; ++d)
    if (group[d] < box.begin[d] || group[d] >= box.end[d])
      return false;
  return true;
}

/// Of a launch that has one result in any order, no part may be said to read what another writes.
std::string falseRaces(const KernelSummary& kernel, const Launch& launch,
                       std::span<const ArgumentValue> values, const Memories& memories,
                       Chance& chance) {
  const NDRange& range = launch.range;
  for (unsigned d = 0; d < 3; ++d) {
    if (range.groups(d) < 2)
      continue;
    const std::uint64_t cut = 1 + chance.below(range.groups(d) - 1);
    const GroupBox low = slab(range, d, 0, cut), high = slab(range, d, cut, range.groups(d));
    for (unsigned m = 0; m < memories.count(); ++m)
      for (const auto& [reader, writer] : {std::pair(low, high), std::pair(high, low)}) {
        const ByteSet read = subtract(certainly(Effect::Read, m, kernel, launch, values, reader),
                                      certainly(Effect::Write, m, kernel, launch, values, reader));
        const ByteSet raced =
            intersect(read, certainly(Effect::Write, m, kernel, launch, values, writer));
        if (!raced.empty())
          return "no race in buffer " + std::to_string(m) +
                 ", but one is seen: " + libsplit::toString(raced) + "\n";
      }
  }
  return {};
}

} // namespace

Launch randomLaunch(const KernelSummary& kernel, Memories& memories, std::mt19937& random) {
  Chance chance(random);
  Launch launch;
  launch.range = randomRange(kernel, chance);
  memories.clear();
  bool mayAlias = chance.below(8) == 0;
  for (const Parameter& parameter : kernel.parameters) {
    Argument& argument = launch.arguments.emplace_back();
    switch (parameter.kind) {
    case ParameterKind::GlobalBuffer:
    case ParameterKind::ConstantBuffer:
      argument.kind = Argument::Kind::Buffer;
      if (memories.count() == Memories::capacity ||
          (mayAlias && memories.count() > 0 && chance.below(3) == 0)) {
        argument.memory = static_cast<unsigned>(chance.below(memories.count()));
        auto whole = memories.at(argument.memory);
        argument.offset = 128 * chance.below(4);
        argument.size = whole.size() - argument.offset;
      } else {
        argument.memory = memories.count();
        argument.size = chance.oneOf<std::uint64_t>({4096, 16384, 65536, 65536});
        fill(memories.add(argument.size), chance);
      }
      argument.address = memories.at(argument.memory).data() + argument.offset;
      argument.before.assign(argument.address, argument.address + argument.size);
      break;
    case ParameterKind::LocalBuffer:
      argument.kind = Argument::Kind::Local;
      argument.size = 16384;
      break;
    default:
      argument.value = randomValue(parameter, launch.range, chance);
      break;
    }
  }
  return launch;
}

std::vector<ArgumentValue> valuesOf(const Launch& launch) {
  std::vector<ArgumentValue> values;
  for (const Argument& argument : launch.arguments) {
    ArgumentValue& value = values.emplace_back();
    if (argument.kind == Argument::Kind::Buffer)
      value.bufferSize = argument.size;
    else if (argument.kind == Argument::Kind::Value)
      value.bytes = argument.value;
  }
  return values;
}

std::unique_ptr<Contents> contentsOf(const Launch& launch, std::span<const ArgumentValue> values) {
  return std::make_unique<ContentsInMemory>(launch, values);
}

std::string compare(const KernelSummary& kernel, const Launch& launch,
                    const Observation& observation, const Memories& memories, std::mt19937& random,
                    Tally& tally) {
  Chance chance(random);
  const NDRange& range = launch.range;
  const std::vector<ArgumentValue> values = valuesOf(launch);
  ContentsInMemory contents(launch, values);
  std::vector<GroupBox> boxes{wholeBox(range)};
  auto randomBox = [&](unsigned dimensions) {
    GroupBox box = wholeBox(range);
    for (unsigned d = 0; d < 3; ++d)
      if (dimensions >> d & 1) {
        box.begin[d] = chance.below(box.end[d]);
        box.end[d] = box.begin[d] + 1 + chance.below(box.end[d] - box.begin[d]);
      }
    return box;
  };
  for (unsigned d = 0; d < 3; ++d)
    if (range.groups(d) > 1)
      boxes.push_back(randomBox(1u << d));
  boxes.push_back(randomBox(7));
  GroupBox one = randomBox(7);
  for (unsigned d = 0; d < 3; ++d)
    one.end[d] = one.begin[d] + 1;
  boxes.push_back(one);

  if (observation.groups.size() < range.groups())
    for (const auto& number : observation.numbers)
      boxes.push_back({number, {number[0] + 1, number[1] + 1, number[2] + 1}});

  ++tally.launches;
  std::string wrong;
  for (const GroupBox& box : boxes) {
    std::vector<Touched> real(memories.count());
    std::uint64_t ran = 0;
    for (std::size_t i = 0; i < observation.groups.size(); ++i) {
      if (!isIn(observation.numbers[i], box))
        continue;
      ++ran;
      const auto& group = observation.groups[i];
      for (unsigned m = 0; m < memories.count(); ++m) {
        real[m].reads.uniteWith(group[m].reads);
        real[m].inputs.uniteWith(group[m].inputs);
        real[m].writes.uniteWith(group[m].writes);
        real[m].changes.uniteWith(group[m].changes);
      }
    }
    const bool allRan = ran == (box.end[0] - box.begin[0]) * (box.end[1] - box.begin[1]) *
                                   (box.end[2] - box.begin[2]);
    struct Predicted {
      ByteSet reads, possible, certain, rewrites;
      ByteSet certainReads;
    };
    std::vector<Predicted> predicted(memories.count());
    auto regions = evaluate(kernel, range, values, box, 65536, &contents);
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const Argument& argument = launch.arguments[i];
      if (argument.kind != Argument::Kind::Buffer)
        continue;
      Predicted& p = predicted[argument.memory];
      p.reads.uniteWith(shift(regions[i].reads, argument.offset));
      p.possible.uniteWith(shift(regions[i].possibleWrites, argument.offset));
      p.certain.uniteWith(shift(regions[i].certainWrites, argument.offset));
      p.rewrites.uniteWith(shift(regions[i].rewrites, argument.offset));
      for (const UpdatedBytes& updated : regions[i].updates) {
        // An atomic update reads and writes, and is told as neither.
        p.reads.uniteWith(shift(updated.bytes, argument.offset));
        p.possible.uniteWith(shift(updated.bytes, argument.offset));
      }
    }
    for (unsigned m = 0; m < memories.count(); ++m)
      predicted[m].certainReads = certainly(Effect::Read, m, kernel, launch, values, box);
    for (unsigned m = 0; m < memories.count(); ++m) {
      auto demand = [&](const ByteSet& inner, const ByteSet& outer, const char* what) {
        if (outer.contains(inner))
          return;
        wrong += std::string(what) + " of buffer " + std::to_string(m) + ": " +
                 libsplit::toString(subtract(inner, outer)) + " lies outside of " +
                 libsplit::toString(outer) + ", in groups";
        for (unsigned d = 0; d < 3; ++d)
          wrong += " [" + std::to_string(box.begin[d]) + "," + std::to_string(box.end[d]) + ")";
        wrong += "\n";
      };
      demand(real[m].inputs, predicted[m].reads, "reads");
      demand(real[m].changes, predicted[m].possible, "changes");
      demand(real[m].writes, unite(predicted[m].possible, predicted[m].rewrites), "writes");
      // Compilers leave out loads that nothing depends on; where nobody writes, that is of no
      // interest.
      if (allRan && !real[m].writes.empty())
        demand(predicted[m].certainReads, real[m].reads, "certain reads");
      if (allRan)
        demand(predicted[m].certain, real[m].writes, "certain writes");
      tally.read += real[m].reads.size();
      tally.predictedReads += predicted[m].reads.size();
      tally.written += real[m].writes.size();
      tally.possibleWrites += predicted[m].possible.size();
      tally.certainWrites += predicted[m].certain.size();
      tally.readsExact &= real[m].reads == predicted[m].reads;
      tally.writesExact &=
          real[m].writes == predicted[m].possible && real[m].writes == predicted[m].certain;
    }
  }
  if (!observation.racy && observation.groups.size() == range.groups())
    wrong += falseRaces(kernel, launch, values, memories, chance);
  return wrong;
}

std::string toString(const Launch& launch, const KernelSummary& kernel) {
  std::string text = "NDRange";
  auto three = [&](const char* name, const std::array<std::uint64_t, 3>& sizes) {
    text += std::string(" ") + name + " " + std::to_string(sizes[0]) + "x" +
            std::to_string(sizes[1]) + "x" + std::to_string(sizes[2]);
  };
  three("global", launch.range.global);
  three("local", launch.range.local);
  three("offset", launch.range.offset);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    text += ", " + kernel.parameters[i].name + " ";
    if (argument.kind == Argument::Kind::Local) {
      text += "local";
    } else if (argument.kind == Argument::Kind::Buffer) {
      text += "= buffer " + std::to_string(argument.memory) + " + " +
              std::to_string(argument.offset) + ", " + std::to_string(argument.size) + " bytes";
    } else {
      std::int64_t number = 0;
      std::memcpy(&number, argument.value.data(), std::min<std::size_t>(8, argument.value.size()));
      if (argument.value.size() == 4)
        number = static_cast<std::int32_t>(number);
      text += "= " + std::to_string(number);
    }
  }
  return text;
}

} // namespace libsplit::oracle
