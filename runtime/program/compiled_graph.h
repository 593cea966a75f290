// A launch made ready to be executed again and again: its instruction graph, and what its kernels
// are enqueued with.
//
// The instruction graph says what happens to which bytes (plan/instruction_graph.h). What to hand
// to the drivers for that follows from the plan, from where the buffers' copies are, and from which
// buffers the program passes: kernels, arguments, offsets, sizes, queues. A program that repeats a
// launch changes none of it but numbers, such as the step that it is at. So all of that is kept,
// and a launch that finds it comes down to some comparisons and one command for each device, which
// takes the numbers from the launch.
//
// A compiled graph holds nothing that is the program's: buffers are told by numbers that no other
// ever has (Buffer::places), and a launch that takes kernel objects or samplers of the program's
// own is compiled each time. Its queues, which are libsplit's, it holds itself. It never changes,
// so any lane may use it while others are made.
#pragma once

#include "runtime/core/small_bytes.h"
#include "runtime/device/journal.h"
#include "runtime/device/lane.h"
#include "runtime/device/memory.h"
#include "runtime/plan/instruction_graph.h"
#include "runtime/program/kernel_call.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace libsplit::runtime {

struct Argument;

/// Whether what the argument is changes no command but for the value itself.
bool isOfLaunch(const Parameter& parameter);

/// A kernel call and who is to do it.
struct KernelCommand {
  const Dispatch& cl;
  Engine engine = Engine::Kernels; ///< whose lane it is for
  Ref<cl_command_queue> queue{};
  cl_context context = nullptr; ///< as an instruction has it
  bool isImmediate = false;
  bool compilesInCall = false; ///< if the driver has to: that is not immediate
  KernelCall call{};
};

/// What the graph's kernels do to its `b`-th buffer; null: nothing.
std::shared_ptr<const Journal::Changes> changesOf(const InstructionGraph& graph, std::size_t b);

/// An instruction that has it done once. `compiles`: as an instruction has it.
Instruction instructionOf(std::shared_ptr<const KernelCommand> command, bool compiles);
/// The same with a launch's own values. `holder` keeps the command and the arguments; `done` is to
/// be its end.
Instruction instructionOf(const KernelCommand& command, const std::vector<Argument>& given,
                          std::shared_ptr<const void> holder, CompletionPtr done, bool compiles);

/// What a launch asks for, as far as its commands depend on it. The arguments that are buffers are
/// told by these.
struct LaunchInputs {
  const LaunchPlan* whole = nullptr; ///< the plan, or what its pieces were cut from
  bool localGiven = false;
  std::uint64_t shapes = 0; ///< version of what is known of open local sizes
  Timing timing = Timing::On;
  std::span<const Parameter> parameters;
  std::span<const std::shared_ptr<Buffer>> buffers;
  std::span<const Argument> arguments;
};

struct CompiledGraph {
  /// `whole`: that of the inputs.
  CompiledGraph(std::shared_ptr<const InstructionGraph> of, std::shared_ptr<const LaunchPlan> whole,
                const LaunchInputs& inputs);

  /// Whether a launch that comes to the same graph has the same commands.
  bool isFor(const LaunchInputs& inputs) const;
  /// Whether all is there that a launch of the same whole plan takes: it was then, and is where it
  /// was. Of values only the sizes count.
  bool hasPlaceFor(const LaunchInputs& inputs) const;

  std::shared_ptr<const InstructionGraph> graph;
  std::vector<KernelCommand> kernels; ///< as the graph has them; filled in by who makes it
  /// By buffer, what the kernels do to it; null: nothing.
  std::vector<std::shared_ptr<const Journal::Changes>> changes;

private:
  struct Value {
    std::size_t size = 0;
    std::optional<SmallBytes> bytes; ///< nothing: each launch gives its own
    bool isAs(const Argument& argument) const;
  };
  std::shared_ptr<const LaunchPlan> whole_;
  bool localGiven_;
  std::uint64_t shapes_;
  Timing timing_;
  std::vector<std::uint64_t> places_; ///< by buffer
  std::vector<Value> values_;         ///< by parameter

  bool isPlacedAs(const LaunchInputs& inputs) const;
};

/// Those of one kernel, the last few. Not thread-safe.
class CompiledGraphs {
public:
  static constexpr std::size_t capacity = GraphMemo::capacity;

  /// One of this graph for these inputs; null if there is none.
  std::shared_ptr<const CompiledGraph> find(const InstructionGraph& graph,
                                            const LaunchInputs& inputs) const;
  /// One that has place for these; null if there is none.
  const CompiledGraph* findPlaced(const LaunchInputs& inputs) const;
  void keep(std::shared_ptr<const CompiledGraph> compiled);

private:
  std::array<std::shared_ptr<const CompiledGraph>, capacity> graphs_; ///< a ring
  std::size_t oldest_ = 0;
};

} // namespace libsplit::runtime
