#include "runtime/session/issuer.h"

#include <utility>

namespace libsplit::runtime {

void Issuer::issue(Task& task, std::size_t device, Instruction&& instruction) {
  issue(task, device, machine_->devices()[device].lane(), std::move(instruction));
}

void Issuer::issue(Task& task, std::size_t device, Lane& lane, Instruction&& instruction) {
  instruction.after.insert(instruction.after.end(), task.after.begin(), task.after.end());
  if (!instruction.done)
    instruction.done = std::make_shared<Completion>(cl_);
  task.parts.push_back(instruction.done);
  task.partDevices.push_back(device);
  if (instruction.traced) {
    TracedWork& traced = *instruction.traced;
    traced.device = device;
    traced.done = instruction.done;
    instruction.done->tracedAs = traced.number;
    for (const CompletionPtr& before : instruction.after)
      if (before->tracedAs != 0 && before->tracedAs >= task.call.firstWork)
        traced.dependsOn.push_back(before->tracedAs);
    task.traced.push_back(instruction.traced);
  }
  lane.issue(std::move(instruction));
}

void Issuer::issueMarkers(Task& task, bool atBegin) {
  // On the home device's own clock, so that times compare with those of native events. Enqueued
  // when it is time: behind a wait list, drivers give a marker the time at which they got it.
  if (!task.event || !task.event->profiled)
    return;
  const Device& home = machine_->homeDevice();
  cl_command_queue queue = machine_->queueOf(machine_->home(), task.stream->context, Engine::Marks);
  Instruction marker;
  marker.queue = queue;
  marker.immediate = home.isGpu;
  if (!atBegin)
    marker.after = task.parts;
  marker.run = [this, queue](WaitList, Completion&, cl_event* last) {
    return cl_.clEnqueueMarkerWithWaitList(queue, 0, nullptr, last);
  };
  issue(task, machine_->home(), home.lane(Engine::Marks), std::move(marker));
  (atBegin ? task.begin : task.end) = task.parts.back();
}

} // namespace libsplit::runtime
