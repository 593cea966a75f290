// Runs inspectors ahead of a launch whose regions they find out.
#include "runtime/session/launch.h"
#include "runtime/session/session.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace libsplit::runtime {

/// Sets out to run the inspector on the program's own device, where what it loads is brought.
/// Throws if there is no memory for that.
std::shared_ptr<InspectionPass> Session::issueInspection(Task& work, const Launch& launch,
                                                         const InspectionKey& key) {
  const std::size_t home = machine_->home();
  const Inspections& inspections = *launch.code->inspections;
  auto pass = std::make_shared<InspectionPass>();
  pass->key = key;
  pass->grid = gridOf(launch.range);
  // Work-items that work side by side are worth their barriers on GPUs alone.
  if (machine_->homeDevice().isGpu)
    pass->lanes = inspections.source(key.inspector).lanes(launch.range, pass->grid);
  pass->kernel = inspections.kernel(key.inspector);
  pass->context = machine_->contextOf(home, launch.program->context);
  pass->queue = machine_->queueOf(home, launch.program->context);

  Instruction instruction;
  instruction.queue = pass->queue;
  instruction.done = std::make_shared<Completion>(cl_);
  const NodeId node = machine_->homeDevice().node;
  for (const unsigned parameter : inspections.source(key.inspector).buffers()) {
    const MemoryObject& object = *launch.objects[parameter];
    const ByteSet bytes(object.origin, object.origin + object.size);
    bring(work, *object.buffer, node, bytes);
    object.buffer->accesses().collect(node, bytes, {}, instruction.after);
    object.buffer->accesses().add({node, bytes, {}, instruction.done});
    pass->buffers.push_back(object.buffer);
    pass->data.push_back(object.buffer->on(*machine_, home, object.origin, object.size));
    if (!pass->data.back())
      throw std::runtime_error("no memory for a buffer's copy");
  }
  instruction.compiles = true;
  instruction.run = [this, pass](WaitList, cl_event* last) { return pass->enqueue(cl_, last); };
  instruction.traced = tracedStep("inspect addresses");
  Instruction reading;
  reading.queue = pass->queue;
  reading.after = {instruction.done};
  reading.run = [this, pass](WaitList, cl_event* last) { return pass->readBack(cl_, last); };
  issue(work, home, std::move(instruction));
  issue(work, home, std::move(reading));
  ++stats_.inspections;
  return pass;
}

/// Whether the inspections that the launch's planning lacked are worth it. Asked once per launch.
bool Session::inspectionsPay(Launch& launch) {
  if (std::exchange(launch.askedForInspections, true))
    return true;
  const KernelStats::PerRange& range = launch.code->stats->ranges[launch.key.range];
  double gain = range.homeSeconds; // negative: not known
  if (gain >= 0 && range.wallSeconds >= 0)
    gain = std::max(gain - range.wallSeconds, 1e-9);
  return launch.code->histories.at(launch.key).inspectionBudget.pays(gain);
}

} // namespace libsplit::runtime
