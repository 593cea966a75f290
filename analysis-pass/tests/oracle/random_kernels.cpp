// Random kernels against the oracle: is what the analysis says of them true, and does the planner
// make of it parts that add up to the whole? Each kernel is analysed, run on random launches,
// compared box by box (trial.h), and, where it has one result in any order, run in parts
// (plan_trial.h) and, where that shall be the same, in work-groups of another size.
//
//     random_kernels [KERNELS [FIRST_SEED]]       a failure names its seed; random_kernels 1 SEED
//     random_kernels 1 SEED --print               repeats it; --print shows the kernel
//     random_kernels KERNELS FIRST_SEED --write FOLDER
//
// --write leaves the kernels whose result does not depend on the order of work-items as files for
// the corpus's driver, so that they can be run natively and split (end_to_end.py). Whether it does
// may depend on what the buffers hold, so such a kernel is tried once more on the driver's buffers,
// as the kernels before it in the file have left them. Kernels that depend on the order of
// work-groups in ways that libsplit has to see are left as well: what they leave is the same
// because they are not split.
#include "analysis-pass/pass/analyze_program.h"
#include "analysis-pass/tests/oracle/generator.h"
#include "analysis-pass/tests/oracle/plan_trial.h"
#include "analysis-pass/tests/oracle/trial.h"
#include "tests/corpus/contents.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <unistd.h>

namespace {

using namespace libsplit;
using namespace libsplit::oracle;

constexpr std::uint64_t maxSteps = 300'000;
constexpr unsigned mutableBuffers = 6;

/// Draws numbers, each time a launch is made of the same ones.
class Draw {
public:
  explicit Draw(std::mt19937& random) : random_(random) {}
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<unsigned>(high - low + 1)));
  }
  bool oneIn(unsigned n) { return below(n) == 0; }
  template <class T> T of(std::initializer_list<T> values) {
    return *(values.begin() + below(values.size()));
  }

private:
  std::mt19937& random_;
};

/// What the driver's buffers hold, by name.
using Contents = std::map<std::string, corpus::Bytes>;

/// The driver's buffer of these contents: one for all parameters that ask for it.
std::string nameFor(const std::string& contents) {
  std::string name = "c_" + contents;
  std::ranges::replace(name, ':', '_');
  std::ranges::replace(name, '-', '_');
  return name;
}

/// The driver's lines for the buffers of these kernels, and what is in them at first.
std::string declareBuffers(const std::vector<GeneratedKernel>& kernels, Contents& contents) {
  std::string lines;
  const unsigned size = std::ranges::max(kernels, {}, &GeneratedKernel::bufferSize).bufferSize;
  unsigned seed = 0;
  auto add = [&](const std::string& name, const std::string& kind) {
    if (!contents.contains(name)) {
      contents[name] = corpus::contents(kind, size, ++seed);
      lines += "//@ buffer " + name + " " + std::to_string(size) + " " + kind + " " +
               std::to_string(seed) + "\n";
    }
  };
  for (unsigned i = 0; i < mutableBuffers; ++i)
    add("m" + std::to_string(i), "random");
  for (const GeneratedKernel& kernel : kernels)
    for (const GeneratedParameter& parameter : kernel.parameters)
      if (!parameter.contents.empty())
        add(nameFor(parameter.contents), parameter.contents);
  return lines;
}

std::uint64_t bitsOf(double value, std::size_t size) {
  std::uint64_t bits = 0;
  const auto single = static_cast<float>(value);
  std::memcpy(&bits, size == 4 ? static_cast<const void*>(&single) : &value, size);
  return bits;
}

/// One element of a number's type: mostly what hosts pass, a size or something small, now and then
/// an extreme.
std::uint64_t element(const std::string& type, std::size_t size, const NDRange& range, bool wide,
                      Draw& draw) {
  const std::uint64_t bits = 8 * size;
  if (type == "float" || type == "double")
    return wide && draw.oneIn(3) ? draw.below(~std::uint64_t{0})
                                 : bitsOf(draw.between(-5, 40) / 2.0, size);
  if (wide && draw.oneIn(3))
    return draw.of({std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << (bits - 1),
                    (std::uint64_t{1} << (bits - 1)) - 1, draw.below(~std::uint64_t{0})});
  if (draw.oneIn(3))
    return draw.of({range.global[0], range.global[1], range.local[0], range.global[0] - 1});
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(draw.between(-3, 40)));
}

std::size_t sizeOf(const std::string& type) {
  for (const auto& [name, size] : {std::pair{"char", 1},
                                   {"short", 2},
                                   {"int", 4},
                                   {"long", 8},
                                   {"float", 4},
                                   {"double", 8},
                                   {"half", 2}})
    if (type == name || type == std::string("u") + name)
      return static_cast<std::size_t>(size);
  return 4;
}

std::vector<std::byte> numberOf(const GeneratedParameter& parameter, const NDRange& range,
                                Draw& draw) {
  const auto digits = parameter.type.find_first_of("0123456789");
  const std::string type = parameter.type.substr(0, digits);
  std::size_t lanes = digits == std::string::npos ? 1 : std::stoul(parameter.type.substr(digits));
  lanes = lanes == 3 ? 4 : lanes;
  const std::size_t size = sizeOf(type);
  // Numbers by these names go into loops' bounds.
  static const std::set<std::string> plain = {"n", "m", "s", "k", "w", "h"};
  std::vector<std::byte> bytes(lanes * size);
  for (std::size_t i = 0; i < lanes; ++i) {
    const std::uint64_t value = element(type, size, range, !plain.contains(parameter.name), draw);
    std::memcpy(bytes.data() + i * size, &value, size);
  }
  return bytes;
}

NDRange rangeOf(const GeneratedKernel& kernel, Draw& draw) {
  NDRange range;
  range.dimensions =
      kernel.dimensions > 0 ? kernel.dimensions : static_cast<unsigned>(draw.between(1, 3));
  const bool far = draw.oneIn(kernel.huge ? 3 : 12);
  for (unsigned d = 0; d < range.dimensions; ++d) {
    const int most = range.dimensions == 1 ? 16 : 4;
    range.local[d] =
        kernel.local[d] > 0 ? kernel.local[d] : static_cast<unsigned>(draw.between(1, most));
    const int groups = kernel.hasSmallLaunches ? (d == 0 ? 6 : 4) : d == 2 ? 3 : d == 1 ? 5 : 8;
    range.global[d] = range.local[d] * static_cast<unsigned>(draw.between(1, groups));
    if (kernel.mayBeUneven && draw.oneIn(4))
      range.global[d] += draw.below(range.local[d]);
    if (draw.oneIn(4))
      range.offset[d] = draw.below(10);
    if (far && draw.oneIn(2))
      range.offset[d] =
          draw.of<std::uint64_t>({1ull << 31, 1ull << 32, 1ull << 33, 3ull << 32}) - draw.below(7);
  }
  return range;
}

struct GeneratedLaunch {
  Launch launch;
  std::string script;               ///< for the corpus's driver, after the kernel's name
  std::vector<std::string> buffers; ///< by memory object, the driver's names
};

/// Arguments of a launch on `range`, with buffers of any contents or with the given ones.
GeneratedLaunch makeLaunch(const GeneratedKernel& kernel, const NDRange& range, Memories& memories,
                           Draw& draw, const Contents* contents) {
  GeneratedLaunch result;
  result.launch.range = range;
  auto list = [&](const std::array<std::uint64_t, 3>& sizes) {
    std::string text;
    for (unsigned d = 0; d < range.dimensions; ++d)
      text += (d == 0 ? "" : ",") + std::to_string(sizes[d]);
    return text;
  };
  result.script =
      " g=" + list(range.global) + " l=" + list(range.local) + " o=" + list(range.offset) + " :";
  memories.clear();
  const bool alias = draw.oneIn(8), zeros = draw.oneIn(2);
  unsigned written = static_cast<unsigned>(draw.below(mutableBuffers)), given = 0;
  const std::uint64_t handle = 0x5555'0123'4560 + 64 * draw.below(100);
  const std::uint64_t mask = draw.below(40);
  for (const GeneratedParameter& parameter : kernel.parameters) {
    Argument& argument = result.launch.arguments.emplace_back();
    if (parameter.kind == GeneratedParameter::Kind::Local) {
      argument.kind = Argument::Kind::Local;
      argument.size = 4096;
      result.script += " local=4096";
      continue;
    }
    if (parameter.kind == GeneratedParameter::Kind::Number) {
      // A number that equals a buffer's handle, and one by which the kernel finds out.
      const bool isHandle = parameter.name == "handle", isMask = parameter.name == "mask";
      const std::uint64_t value = isMask ? handle ^ mask : handle;
      argument.value.resize(sizeof value);
      std::memcpy(argument.value.data(), &value, sizeof value);
      if (isHandle)
        result.script += " handle=m0";
      else if (isMask)
        result.script += " handle^m0=" + std::to_string(mask);
      else
        argument.value = numberOf(parameter, range, draw);
      if (isHandle || isMask)
        continue;
      result.script += " hex=";
      for (std::byte each : argument.value) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(each));
        result.script += digits;
      }
      continue;
    }
    argument.kind = Argument::Kind::Buffer;
    argument.size = kernel.bufferSize;
    const std::string name = parameter.contents.empty()
                                 ? "m" + std::to_string((written + given++) % mutableBuffers)
                                 : nameFor(parameter.contents);
    // Now and then a buffer is passed twice.
    const bool again = alias && given > 1 && parameter.contents.empty() && draw.oneIn(2);
    const auto found = again ? result.buffers.begin() : std::ranges::find(result.buffers, name);
    const bool isNew = found == result.buffers.end();
    argument.memory = static_cast<unsigned>(found - result.buffers.begin());
    result.script += " " + (isNew ? name : *found);
    if (isNew) {
      result.buffers.push_back(name);
      argument.address = memories.add(kernel.bufferSize).data();
      if (contents)
        std::memcpy(argument.address, contents->at(name).data(), kernel.bufferSize);
      else if (!zeros || !parameter.contents.empty()) {
        const auto filled =
            corpus::contents(parameter.contents.empty() ? "random" : parameter.contents,
                             kernel.bufferSize, draw.below(1000));
        std::memcpy(argument.address, filled.data(), filled.size());
      }
    }
    argument.address = memories.at(argument.memory).data();
    argument.before.assign(argument.address, argument.address + argument.size);
  }
  return result;
}

using Image = std::vector<corpus::Bytes>; ///< by memory object

Image imageOf(const Memories& memories) {
  Image image;
  for (unsigned m = 0; m < memories.count(); ++m)
    for (Image::value_type& bytes = image.emplace_back(); std::byte each : memories.at(m))
      bytes.push_back(static_cast<unsigned char>(each));
  return image;
}

void lay(const Image& image, const Memories& memories) {
  for (unsigned m = 0; m < memories.count(); ++m)
    std::memcpy(memories.at(m).data(), image[m].data(), image[m].size());
}

/// Whether the launch that was observed has one result in any order: nobody races, and its groups
/// leave the same the other way round. That also tells what is read of local memory that nobody
/// wrote. `memories` hold the result before and afterwards.
bool isSettled(const Kernel& kernel, const Launch& launch, const Observation& observation,
               const Memories& memories) {
  if (!observation.undefined.empty() || observation.racy || observation.unspecified)
    return false;
  const Image result = imageOf(memories);
  for (const Argument& argument : launch.arguments)
    if (argument.kind == Argument::Kind::Buffer)
      std::ranges::copy(argument.before, argument.address);
  std::vector<GroupBox> boxes;
  for (const auto& [x, y, z] : observation.numbers)
    boxes.push_back({{x, y, z}, {x + 1, y + 1, z + 1}});
  std::ranges::reverse(boxes);
  const bool ran =
      kernel.run(launch.range, launch.arguments, memories, maxSteps, boxes).undefined.empty();
  const bool same = ran && imageOf(memories) == result;
  lay(result, memories);
  return same;
}

/// Launches of one block.
struct BlockTally {
  unsigned kernels = 0, meaningful = 0, racy = 0, unsplit = 0, inParts = 0, written = 0;
};

struct Totals {
  unsigned kernels = 0, launches = 0, huge = 0, failures = 0, written = 0, ordered = 0, racy = 0,
           obstacles = 0, meaningless = 0, regrouped = 0, waiting = 0;
  Tally tally;
  PlanTally plans;
  std::map<std::string, BlockTally> blocks;
};

/// A program and what is known of it.
struct Trial {
  unsigned first, count;
  ProgramInput input;
  std::vector<GeneratedKernel> generated;
  ProgramSummary program;
  std::vector<std::unique_ptr<Kernel>> kernels, plain;

  const KernelSummary& summary(const std::string& name) const {
    return *std::ranges::find(program.kernels, name, &KernelSummary::name);
  }
};

std::string optionsOf(const GeneratedProgram& shared, const std::string& folder) {
  std::string options;
  if (!shared.headers.empty())
    options += "-I" + folder;
  if (!shared.standard.empty())
    options += (options.empty() ? "-cl-std=" : " -cl-std=") + shared.standard;
  return options;
}

/// Writes down the program's headers into a folder of its own in `folder`; its name.
std::string writeHeaders(const GeneratedProgram& shared, unsigned seed, const std::string& folder) {
  const std::string name = "include_" + std::to_string(seed / kernelsPerProgram);
  if (!shared.headers.empty())
    std::filesystem::create_directories(folder + "/" + name);
  for (const GeneratedProgram::Header& header : shared.headers)
    std::ofstream(folder + "/" + name + "/" + header.name) << header.text;
  return name;
}

/// The driver's lines for a launch like the one that `made` is, if it has one result on `contents`
/// too, which are then what it leaves.
std::string tryOnDriver(const Kernel& kernel, const GeneratedKernel& generated, Memories& memories,
                        std::mt19937 random, Contents& contents) {
  Draw draw(random);
  const NDRange range = rangeOf(generated, draw);
  GeneratedLaunch made = makeLaunch(generated, range, memories, draw, &contents);
  const Observation observation = kernel.run(range, made.launch.arguments, memories, maxSteps);
  if (!observation.undefined.empty() ||
      (!generated.inOrder && !isSettled(kernel, made.launch, observation, memories)))
    return {};
  for (std::size_t i = 0; i < made.buffers.size(); ++i) {
    auto& bytes = contents[made.buffers[i]];
    std::memcpy(bytes.data(), memories.at(static_cast<unsigned>(i)).data(), generated.bufferSize);
  }
  return "//@ run " + kernel.name() + made.script + "\n";
}

/// Some work-groups of a launch that nobody runs as a whole: at its ends and where numbers of 31
/// and of 32 bits end.
std::vector<GroupBox> someGroups(const NDRange& range, Draw& draw) {
  std::vector<GroupBox> boxes;
  for (unsigned i = 0; i < 8; ++i) {
    GroupBox& box = boxes.emplace_back();
    for (unsigned d = 0; d < 3; ++d) {
      const std::uint64_t groups = range.groups(d),
                          end = (std::uint64_t{1} << (31 + draw.below(2))) / range.local[d];
      std::uint64_t at =
          draw.of<std::uint64_t>({0, groups - 1, draw.below(groups), end, end - 1, end + 1});
      if (at >= groups)
        at = groups - 1;
      box.begin[d] = at;
      box.end[d] = at + 1;
    }
  }
  return boxes;
}

NDRange enlarged(NDRange range, Draw& draw) {
  const unsigned d = static_cast<unsigned>(draw.below(range.dimensions));
  range.global[d] = range.local[d] * ((std::uint64_t{1} << draw.between(29, 35)) + draw.below(9));
  return range;
}

/// Whether the analysis says that the launch has the same result with any local size.
bool mayRegroup(const KernelSummary& summary, const Launch& launch) {
  std::set<unsigned> written;
  for (const Access& access : summary.accesses)
    if (access.effect != Effect::Read)
      written.insert(access.parameter);
  const auto isShared = [&](unsigned parameter) {
    const Argument& argument = launch.arguments[parameter];
    return std::ranges::count_if(launch.arguments, [&](const Argument& other) {
             return other.kind == Argument::Kind::Buffer && other.memory == argument.memory;
           }) > 1;
  };
  return summary.requiredLocal[0] == 0 && !summary.dependsOnGroups &&
         !(summary.dependsOnGroupsIfShared && std::ranges::any_of(written, isShared));
}

/// Runs a launch that has one result, which `memories` hold, in work-groups of another size. Empty,
/// or what was wrong.
std::string tryOtherGroups(const Kernel& kernel, Launch launch, const Memories& memories,
                           Draw& draw) {
  const Image result = imageOf(memories);
  for (unsigned d = 0; d < launch.range.dimensions; ++d) {
    std::uint64_t& local = launch.range.local[d];
    local = 1 + draw.below(std::min<std::uint64_t>(launch.range.global[d], 32));
    while (launch.range.global[d] % local != 0)
      --local;
  }
  for (const Argument& argument : launch.arguments)
    if (argument.kind == Argument::Kind::Buffer)
      std::ranges::copy(argument.before, argument.address);
  const Observation seen = kernel.run(launch.range, launch.arguments, memories, maxSteps);
  const bool same = seen.undefined.empty() && !seen.racy && imageOf(memories) == result;
  return same ? "" : "it has another result in other work-groups";
}

struct Tried {
  NDRange range;
  bool settled = false; ///< has one result in any order
};

/// One launch against the analysis and the planner. Empty, or what was wrong.
std::string tryLaunch(const Trial& trial, std::size_t i, std::mt19937& random, Memories& memories,
                      Tried& tried, Totals& totals) {
  const GeneratedKernel& generated = trial.generated[i];
  const Kernel& kernel = *trial.kernels[i];
  const KernelSummary& summary = trial.summary(generated.name);
  Draw draw(random);
  NDRange range = rangeOf(generated, draw);
  const bool huge = generated.huge && draw.oneIn(2);
  if (huge)
    range = enlarged(range, draw);
  GeneratedLaunch made = makeLaunch(generated, range, memories, draw, nullptr);
  const std::vector<GroupBox> boxes = huge ? someGroups(range, draw) : std::vector{wholeBox(range)};
  const Observation observation =
      kernel.run(range, made.launch.arguments, memories, maxSteps, boxes);
  const bool settled = !huge && isSettled(kernel, made.launch, observation, memories);
  tried = {range, settled};
  if (!observation.undefined.empty()) {
    ++totals.meaningless;
    return {};
  }
  BlockTally& block = totals.blocks[generated.block];
  ++totals.launches, ++block.meaningful;
  totals.huge += huge;
  totals.racy += observation.racy, block.racy += observation.racy;
  if (!summary.obstacles.empty()) {
    ++totals.obstacles, ++block.unsplit;
    return {};
  }
  std::string wrong = compare(summary, made.launch, observation, memories, random, totals.tally);
  if (wrong.empty() && settled && mayRegroup(summary, made.launch)) {
    wrong = tryOtherGroups(kernel, made.launch, memories, draw);
    ++totals.regrouped, totals.waiting += summary.dependsOnGroupsIfShared;
  }
  if (wrong.empty() && settled) {
    for (const Argument& argument : made.launch.arguments)
      if (argument.kind == Argument::Kind::Buffer)
        std::ranges::copy(argument.before, argument.address);
    const unsigned before = totals.plans.plans;
    wrong = tryPlan(kernel, summary, made.launch, memories, maxSteps, random, totals.plans);
    block.inParts += totals.plans.plans - before;
  }
  if (!wrong.empty())
    wrong += toString(made.launch, summary);
  return wrong;
}

/// Checks the kernels of `count` seeds from `first` on, of one program. `folder`: where headers go,
/// and files for the driver if `writes`.
void check(unsigned first, unsigned count, unsigned launches, const std::string& folder,
           bool writes, Memories& memories, Totals& totals) {
  const GeneratedProgram shared = generatedProgram(first);
  const std::string include = writeHeaders(shared, first, folder);
  Trial trial{first, count, {}, {}, {}, {}, {}};
  trial.input.text = shared.prelude;
  trial.input.options = parseBuildOptions(splitOptions(optionsOf(shared, folder + "/" + include)));
  std::vector<std::string> names, missing;
  for (unsigned seed = first; seed < first + count; ++seed) {
    trial.generated.push_back(generatedKernel(seed));
    trial.input.text += trial.generated.back().text;
    names.push_back(trial.generated.back().name);
  }
  totals.kernels += count;
  trial.program = analyzeProgram(trial.input);
  trial.kernels = Kernel::compile(trial.input, names, missing);
  // CPUs trap at a division by zero, and which unused ones a compiler drops is its own affair: no
  // kernel with one is written.
  if (writes)
    trial.plain = Kernel::compile(trial.input, names, missing, Kernel::Form::Plain);
  if (!trial.program.failure.empty() || !missing.empty() || trial.program.kernels.size() != count) {
    std::printf("seeds %u to %u: %s%s\n", first, first + count - 1, trial.program.failure.c_str(),
                missing.empty() ? "" : missing.front().c_str());
    ++totals.failures;
    return;
  }
  Contents contents;
  std::string script = declareBuffers(trial.generated, contents);
  std::string text;
  bool any = false;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned seed = first + i;
    const GeneratedKernel& generated = trial.generated[i];
    ++totals.blocks[generated.block].kernels;
    std::mt19937 random(seed);
    std::string lines;
    for (unsigned k = 0; k < launches; ++k) {
      const std::mt19937 before = random;
      Tried tried;
      std::string wrong = tryLaunch(trial, i, random, memories, tried, totals);
      if (!wrong.empty()) {
        std::printf("seed %u: %s\n%s\n", seed, wrong.c_str(), generated.text.c_str());
        ++totals.failures;
        break;
      }
      if ((tried.settled || generated.inOrder) && tried.range.groups() > 1 && lines.empty() &&
          writes)
        lines = tryOnDriver(*trial.plain[i], generated, memories, before, contents);
      random.seed(seed + 1000003 * (k + 1));
    }
    if (lines.empty())
      continue;
    any = true;
    text += generated.text;
    script += lines;
    if (generated.inOrder)
      script += "//@ splits_never " + generated.name + "\n";
    ++totals.written, ++totals.blocks[generated.block].written;
    totals.ordered += generated.inOrder;
  }
  if (!any)
    return;
  std::ofstream out(folder + "/seeds_" + std::to_string(first) + ".cl");
  if (const std::string options = optionsOf(shared, "$here/" + include); !options.empty())
    out << "//@ options " << options << "\n";
  out << script << shared.prelude << text;
}

void report(const Totals& totals, bool writes) {
  const PlanTally& plans = totals.plans;
  std::printf(
      "%u kernels, %u launches compared (%u of them of more than 2^29 work-groups, by some of "
      "these; %u racy; %u of kernels that are not split; %u more have no meaning), "
      "%u run in parts (%u in one memory; rungs 1 to 4: %u, %u, %u, %u; %u more can't be cut "
      "so), %u in other work-groups (%u with barriers), %u failures; bytes written %llu, possible "
      "%llu, certain %llu",
      totals.kernels, totals.launches, totals.huge, totals.racy, totals.obstacles,
      totals.meaningless, plans.plans, plans.rungs[0], plans.rungs[1], plans.rungs[2],
      plans.rungs[3], plans.rungs[4], plans.refused, totals.regrouped, totals.waiting,
      totals.failures, static_cast<unsigned long long>(totals.tally.written),
      static_cast<unsigned long long>(totals.tally.possibleWrites),
      static_cast<unsigned long long>(totals.tally.certainWrites));
  if (writes)
    std::printf("; %u kernels have one result in any order, or are never split (%u)",
                totals.written, totals.ordered);
  std::printf("\n");
}

void printTable(const Totals& totals) {
  std::printf("%-18s %8s %8s %8s %8s %8s %8s\n", "block", "kernels", "launches", "racy", "unsplit",
              "in parts", "written");
  for (const auto& [name, block] : totals.blocks)
    std::printf("%-18s %8u %8u %8u %8u %8u %8u\n", name.c_str(), block.kernels, block.meaningful,
                block.racy, block.unsplit, block.inParts, block.written);
}

void print(unsigned count, unsigned first) {
  for (unsigned seed = first; seed < first + count; ++seed) {
    const GeneratedProgram shared = generatedProgram(seed);
    for (const GeneratedProgram::Header& header : shared.headers)
      std::printf("// %s\n%s\n", header.name.c_str(), header.text.c_str());
    std::printf("// -cl-std=%s\n%s%s", shared.standard.c_str(), shared.prelude.c_str(),
                generatedKernel(seed).text.c_str());
  }
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Holds the analysis and the planner against random kernels."};
  unsigned count = 200, first = 1, launches = 10;
  std::string folder;
  bool prints = false, table = false, apart = false;
  app.add_option("kernels", count, "How many")->capture_default_str();
  app.add_option("first", first, "The first one's seed")->capture_default_str();
  app.add_option("--launches", launches, "Per kernel")->capture_default_str();
  app.add_option("--write", folder,
                 "Leaves those with one result as files for the corpus's driver");
  app.add_flag("--apart", apart, "A program of its own for each kernel");
  app.add_flag("--table", table, "Also tells what became of each block");
  app.add_flag("--print", prints, "Shows the kernels, does nothing else");
  CLI11_PARSE(app, argc, argv);
  if (prints) {
    print(count, first);
    return 0;
  }

  const bool writes = !folder.empty();
  const std::filesystem::path temporary =
      std::filesystem::temp_directory_path() / ("libsplit-random-" + std::to_string(::getpid()));
  if (!writes)
    folder = temporary.string();
  Memories memories;
  Totals totals;
  for (unsigned seed = first; seed < first + count;) {
    const unsigned end =
        std::min(first + count, (seed / kernelsPerProgram + 1) * kernelsPerProgram);
    check(seed, end - seed, launches, folder, writes, memories, totals);
    std::fflush(stdout);
    seed = end;
  }
  if (table)
    printTable(totals);
  report(totals, writes);
  std::filesystem::remove_all(temporary);
  return totals.failures == 0 ? 0 : 1;
}
