#include "runtime/program/compiled_graph.h"

#include "runtime/program/program.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

namespace {

Instruction instructionOf(const KernelCommand& command, const std::vector<Argument>* given,
                          std::shared_ptr<const void> holder, CompletionPtr done, bool compiles) {
  Instruction instruction;
  instruction.queue = command.queue.get();
  instruction.context = command.context;
  instruction.immediate = command.isImmediate && !(compiles && command.compilesInCall);
  instruction.compiles = compiles;
  instruction.done = std::move(done);
  instruction.after = instruction.done->takeList();
  instruction.run = [&command, given](WaitList waits, Completion& done, cl_event* last) {
    return command.call.enqueue(command.cl, command.queue.get(), waits.count(), waits.data(), last,
                                &done, given);
  };
  instruction.holds = std::move(holder);
  return instruction;
}

} // namespace

std::shared_ptr<const Journal::Changes> changesOf(const InstructionGraph& graph, std::size_t b) {
  using Effect = Journal::Effect;
  auto made = std::make_shared<Journal::Changes>();
  made->before = graph.states[b].arrived;
  auto noteRepeats = [&](Effect effect) {
    for (std::size_t p = 0; p < graph.kernels.size(); ++p)
      if (const ByteSet& repeats = graph.plan->pieces[p].uses[b].repeats; !repeats.empty())
        made->each.push_back({effect, graph.kernels[p].node, repeats, p});
  };
  // They are what they would be by whose they are, and the only such bytes should that fail.
  noteRepeats(Effect::Writes);
  for (std::size_t p = 0; p < graph.kernels.size(); ++p) {
    const PieceUse& use = graph.plan->pieces[p].uses[b];
    if (!use.merged.empty())
      made->each.push_back({Effect::Spoils, graph.kernels[p].node, use.merged, p});
    if (!use.writes.empty())
      made->each.push_back({Effect::Writes, graph.kernels[p].node, use.writes, p});
  }
  noteRepeats(Effect::Arrives);
  return made->each.empty() ? nullptr : made;
}

Instruction instructionOf(std::shared_ptr<const KernelCommand> command, bool compiles) {
  const KernelCommand& it = *command;
  return instructionOf(it, nullptr, std::move(command), std::make_shared<Completion>(it.cl),
                       compiles);
}

Instruction instructionOf(const KernelCommand& command, const std::vector<Argument>& given,
                          std::shared_ptr<const void> holder, CompletionPtr done, bool compiles) {
  return instructionOf(command, &given, std::move(holder), std::move(done), compiles);
}

bool isOfLaunch(const Parameter& parameter) {
  return parameter.kind == ParameterKind::Scalar;
}

CompiledGraph::CompiledGraph(std::shared_ptr<const InstructionGraph> of,
                             std::shared_ptr<const LaunchPlan> whole, const LaunchInputs& inputs)
    : graph(std::move(of)), whole_(std::move(whole)), localGiven_(inputs.localGiven),
      shapes_(inputs.shapes), timing_(inputs.timing) {
  for (std::size_t b = 0; b < inputs.buffers.size(); ++b) {
    changes.push_back(changesOf(*graph, b));
    places_.push_back(inputs.buffers[b]->places());
  }
  for (std::size_t i = 0; i < inputs.arguments.size(); ++i) {
    Value& value = values_.emplace_back(Value{inputs.arguments[i].size, {}});
    if (!isOfLaunch(inputs.parameters[i]))
      value.bytes = inputs.arguments[i].value;
  }
}

bool CompiledGraph::Value::isAs(const Argument& argument) const {
  return size == argument.size && (!bytes || *bytes == argument.value);
}

bool CompiledGraph::isPlacedAs(const LaunchInputs& inputs) const {
  return localGiven_ == inputs.localGiven &&
         std::ranges::equal(places_, inputs.buffers, {}, {},
                            [](const std::shared_ptr<Buffer>& each) { return each->places(); });
}

bool CompiledGraph::isFor(const LaunchInputs& inputs) const {
  return timing_ == inputs.timing && shapes_ == inputs.shapes && isPlacedAs(inputs) &&
         std::ranges::equal(values_, inputs.arguments, &Value::isAs);
}

bool CompiledGraph::hasPlaceFor(const LaunchInputs& inputs) const {
  return whole_.get() == inputs.whole && isPlacedAs(inputs) &&
         std::ranges::equal(values_, inputs.arguments, {}, &Value::size, &Argument::size);
}

std::shared_ptr<const CompiledGraph> CompiledGraphs::find(const InstructionGraph& graph,
                                                          const LaunchInputs& inputs) const {
  for (const auto& each : graphs_)
    if (each && each->graph.get() == &graph && each->isFor(inputs))
      return each;
  return nullptr;
}

const CompiledGraph* CompiledGraphs::findPlaced(const LaunchInputs& inputs) const {
  for (const auto& each : graphs_)
    if (each && each->hasPlaceFor(inputs))
      return each.get();
  return nullptr;
}

void CompiledGraphs::keep(std::shared_ptr<const CompiledGraph> compiled) {
  graphs_[oldest_] = std::move(compiled);
  oldest_ = (oldest_ + 1) % capacity;
}

} // namespace libsplit::runtime
