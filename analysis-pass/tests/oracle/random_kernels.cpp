// Random kernels against the oracle: is what the analysis says of them true? Each is analysed,
// run on random launches, and compared box by box (trial.h).
//
//     random_kernels [KERNELS [FIRST_SEED]]       a failure names its seed; random_kernels 1 SEED
//     random_kernels KERNELS FIRST_SEED --write FOLDER    reproduces it
//
// --write leaves the kernels whose result does not depend on the order of work-items as files for
// the corpus's driver, so that they can be run natively and split (end_to_end.py). Whether it does
// may depend on what the buffers hold, so such a kernel is tried once more on the driver's buffers,
// as the kernels before it in the file have left them.
#include "analysis-pass/pass/analyze_program.h"
#include "analysis-pass/tests/oracle/generator.h"
#include "analysis-pass/tests/oracle/trial.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

namespace {

using namespace libsplit;
using namespace libsplit::oracle;

constexpr unsigned kernelsPerProgram = 20;
constexpr unsigned launchesPerKernel = 10;
constexpr std::uint64_t maxSteps = 300'000;

/// Values of the four numbers, as in the text that `--write` leaves.
struct Numbers {
  std::int32_t n, m;
  std::uint32_t u;
  std::int64_t w;
};

template <typename T> Argument byValue(T value) {
  Argument argument;
  argument.value.resize(sizeof value);
  std::memcpy(argument.value.data(), &value, sizeof value);
  return argument;
}

constexpr const char* bufferNames[] = {"a", "b", "d", "s", "c"};

/// What the driver's buffers hold, by name.
using Contents = std::map<std::string, std::vector<std::byte>>;

/// As the driver fills them, by the lines that `writeFile` leaves for it.
Contents driverContents() {
  Contents contents;
  std::uint64_t seed = 0;
  for (const char* name : bufferNames) {
    std::uint64_t state = ++seed;
    auto& bytes = contents[name];
    bytes.resize(generatedBufferSize);
    for (std::uint32_t i = 0; i < generatedBufferSize; ++i) {
      // splitmix64, of each number the lowest byte
      std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      bytes[i] = static_cast<std::byte>(z ^ (z >> 31));
    }
    if (*name == 'd')
      for (std::uint32_t i = 0; i < generatedBufferSize / 4; ++i)
        std::memcpy(bytes.data() + 4 * i, &i, 4);
  }
  return contents;
}

void writeFile(const std::string& path, const std::string& script, const std::string& kernels) {
  std::ofstream out(path);
  unsigned seed = 0;
  for (const char* name : bufferNames)
    out << "//@ buffer " << name << " " << generatedBufferSize << " "
        << (*name == 'd' ? "ramp " : "random ") << ++seed << "\n";
  out << script << generatedPrelude() << kernels;
}

struct GeneratedLaunch {
  Launch launch;
  std::string script; ///< for the corpus's driver, after the kernel's name
};

/// With buffers of zeros, and a ramp in `d`, or with the given `contents`.
GeneratedLaunch makeLaunch(Memories& memories, std::mt19937& random, const Contents* contents) {
  auto between = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  GeneratedLaunch result;
  NDRange& range = result.launch.range;
  range.dimensions = 2;
  for (unsigned d = 0; d < 2; ++d) {
    range.local[d] = static_cast<std::uint64_t>(between(1, 4));
    range.global[d] = range.local[d] * static_cast<std::uint64_t>(between(1, d == 0 ? 6 : 4));
    range.offset[d] = static_cast<std::uint64_t>(between(0, 3) == 0 ? between(0, 9) : 0);
  }
  Numbers numbers{between(-3, 20), between(-20, 40), static_cast<std::uint32_t>(between(0, 30)),
                  between(-5, 50)};
  auto pair = [](const std::array<std::uint64_t, 3>& sizes) {
    return std::to_string(sizes[0]) + "," + std::to_string(sizes[1]);
  };
  result.script =
      " g=" + pair(range.global) + " l=" + pair(range.local) + " o=" + pair(range.offset) + " :";

  memories.clear();
  bool alias = between(0, 7) == 0; // a and c are the same buffer
  for (const char* name : bufferNames) {
    Argument& argument = result.launch.arguments.emplace_back();
    argument.kind = Argument::Kind::Buffer;
    argument.size = generatedBufferSize;
    bool again = alias && *name == 'c';
    argument.memory = again ? 0 : memories.count();
    argument.address = again ? memories.at(0).data() : memories.add(generatedBufferSize).data();
    if (contents && !again)
      std::ranges::copy(contents->at(name), argument.address);
    else if (*name == 'd')
      for (std::uint32_t i = 0; i < generatedBufferSize / 4; ++i)
        std::memcpy(argument.address + 4 * i, &i, 4);
    argument.before.assign(argument.address, argument.address + argument.size);
    result.script += std::string(" ") + (again ? "a" : name);
  }
  result.launch.arguments.push_back(byValue(numbers.n));
  result.launch.arguments.push_back(byValue(numbers.m));
  result.launch.arguments.push_back(byValue(numbers.u));
  result.launch.arguments.push_back(byValue(numbers.w));
  result.script += " int=" + std::to_string(numbers.n) + " int=" + std::to_string(numbers.m) +
                   " uint=" + std::to_string(numbers.u) + " long=" + std::to_string(numbers.w);
  return result;
}

/// Whether the launch has one result in any order.
bool isSettled(const Observation& observation) {
  return observation.undefined.empty() && !observation.racy && !observation.unspecified;
}

/// The driver's line for the launch that `random` gives, if it has one result on `contents` too,
/// which are then what it leaves.
std::string tryOnDriver(const Kernel& kernel, Memories& memories, std::mt19937 random,
                        Contents& contents) {
  GeneratedLaunch made = makeLaunch(memories, random, &contents);
  if (!isSettled(kernel.run(made.launch.range, made.launch.arguments, memories, maxSteps)))
    return {};
  std::set<unsigned> seen; // `c` may be `a`
  for (std::size_t i = 0; i < std::size(bufferNames); ++i) {
    const Argument& argument = made.launch.arguments[i];
    if (seen.insert(argument.memory).second)
      contents[bufferNames[i]].assign(argument.address, argument.address + argument.size);
  }
  return "//@ run " + kernel.name() + made.script + "\n";
}

struct Totals {
  unsigned launches = 0, failures = 0, written = 0;
  Tally tally;
};

/// Checks the kernels of `count` seeds from `first` on. Lines for the driver, if there are any.
void check(unsigned first, unsigned count, const std::string& folder, Memories& memories,
           Totals& totals) {
  ProgramInput input;
  input.text = generatedPrelude();
  std::vector<std::string> names;
  for (unsigned seed = first; seed < first + count; ++seed) {
    input.text += generatedKernel(seed);
    names.push_back("k" + std::to_string(seed));
  }
  ProgramSummary program = analyzeProgram(input);
  std::vector<std::string> missing;
  auto kernels = Kernel::compile(input, names, missing);
  // CPUs trap at a division by zero, and which unused ones a compiler drops is its own affair: no
  // kernel with one is written.
  std::vector<std::unique_ptr<Kernel>> plain;
  if (!folder.empty())
    plain = Kernel::compile(input, names, missing, Kernel::Form::Plain);
  if (!program.failure.empty() || !missing.empty() || program.kernels.size() != count) {
    std::printf("seeds %u to %u: %s%s\n", first, first + count - 1, program.failure.c_str(),
                missing.empty() ? "" : missing.front().c_str());
    ++totals.failures;
    return;
  }
  std::string script, text;
  Contents contents = driverContents();
  for (unsigned i = 0; i < count; ++i) {
    unsigned seed = first + i;
    const KernelSummary& summary =
        *std::ranges::find(program.kernels, names[i], &KernelSummary::name);
    std::mt19937 random(seed);
    std::string lines;
    for (unsigned k = 0; k < launchesPerKernel; ++k) {
      const std::mt19937 before = random;
      GeneratedLaunch made = makeLaunch(memories, random, nullptr);
      Observation observation =
          kernels[i]->run(made.launch.range, made.launch.arguments, memories, maxSteps);
      if (!observation.undefined.empty())
        continue;
      ++totals.launches;
      std::mt19937 boxes(seed + k);
      std::string wrong = compare(summary, made.launch, observation, memories, boxes, totals.tally);
      if (!wrong.empty()) {
        std::printf("seed %u: %s%s\n%s\n", seed, wrong.c_str(),
                    toString(made.launch, summary).c_str(), generatedKernel(seed).c_str());
        ++totals.failures;
        break;
      }
      if (isSettled(observation) && lines.empty() && !folder.empty())
        lines = tryOnDriver(*plain[i], memories, before, contents);
    }
    if (!lines.empty()) {
      text += generatedKernel(seed);
      script += lines;
      ++totals.written;
    }
  }
  if (!folder.empty() && !script.empty())
    writeFile(folder + "/seeds_" + std::to_string(first) + ".cl", script, text);
}

} // namespace

int main(int argc, char** argv) {
  unsigned count = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 200;
  unsigned first = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  std::string folder = argc > 4 && std::string_view(argv[3]) == "--write" ? argv[4] : "";
  Memories memories;
  Totals totals;
  for (unsigned done = 0; done < count; done += kernelsPerProgram)
    check(first + done, std::min(kernelsPerProgram, count - done), folder, memories, totals);
  std::printf("%u kernels, %u launches compared, %u failures; bytes written %llu, possible %llu, "
              "certain %llu",
              count, totals.launches, totals.failures,
              static_cast<unsigned long long>(totals.tally.written),
              static_cast<unsigned long long>(totals.tally.possibleWrites),
              static_cast<unsigned long long>(totals.tally.certainWrites));
  if (!folder.empty())
    std::printf("; %u kernels have one result in any order", totals.written);
  std::printf("\n");
  return totals.failures == 0 ? 0 : 1;
}
