// Maps of buffers and images: which the program has, and those behind pending work.
//
// A map that does not block has to return its address at once, while its bytes may come later. The
// driver is asked at once too, but on a queue of its own, behind a user event, the gate. The map's
// task opens the gate when everything that comes before it is over and the bytes are at home; the
// task ends when the driver's map does. In the program's own queue the map could not wait so: what
// is pending still has to pass that queue.
//
// A device that runs commands in the caller would run the map inside the call that opens the gate;
// PoCL's basic hangs then. There the call waits until the queue is native.
#include "runtime/session/commands.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

/// A map that the driver holds back until it is told to go on, which it is at the latest in the
/// end.
class GatedMap {
public:
  explicit GatedMap(const Dispatch& cl) : cl_(cl) {}
  ~GatedMap() {
    if (gate_ && !isOpen_)
      cl_.clSetUserEventStatus(gate_.get(), CL_OUT_OF_RESOURCES);
  }
  GatedMap(const GatedMap&) = delete;
  GatedMap& operator=(const GatedMap&) = delete;

  /// The address; null, and `refusal` says why, if the driver refuses the map; null without that
  /// if it can't be held back.
  void* enqueue(const Stream& stream, const MapCall& call, cl_int& refusal) {
    cl_int error = CL_SUCCESS;
    cl_command_queue queue =
        cl_.clCreateCommandQueue(stream.context, stream.device, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS)
      return nullptr;
    queue_ = Ref<cl_command_queue>::adopt(cl_, queue);
    cl_event gate = cl_.clCreateUserEvent(stream.context, &error);
    if (error != CL_SUCCESS)
      return nullptr;
    gate_ = Ref<cl_event>::adopt(cl_, gate);
    cl_event mapped = nullptr;
    void* address = call(queue, CL_FALSE, 1, &gate, &mapped, &error);
    if (error != CL_SUCCESS) {
      refusal = error;
      return nullptr;
    }
    mapped_ = Ref<cl_event>::adopt(cl_, mapped);
    cl_.clFlush(queue);
    return address;
  }
  /// Lets the driver go on. `last` gets the map's event.
  cl_int open(cl_event* last) {
    isOpen_ = true;
    *last = mapped_.get();
    cl_.clRetainEvent(*last);
    return cl_.clSetUserEventStatus(gate_.get(), CL_COMPLETE);
  }

private:
  const Dispatch& cl_;
  Ref<cl_command_queue> queue_;
  Ref<cl_event> gate_, mapped_;
  bool isOpen_ = false;
};

} // namespace

std::vector<BufferUse> Commands::usesOfMap(const BufferUse& use) const {
  constexpr std::uint64_t fewBytes = 16 << 20;
  constexpr double littleTime = 1e-3;
  std::vector<BufferUse> uses{use};
  if (shared_.isQuiet() || !use.reads)
    return uses;
  Lock lock(shared_.mutex);
  auto object = memory_.find(use.object);
  if (!object || !object->buffer || !object->buffer->engaged() || machine_->homeDevice().isGpu)
    return uses;
  const ByteSet missing = object->buffer->directory().missing(
      machine_->homeDevice().node, ByteSet(object->origin, object->origin + object->size));
  const double seconds = shared_.moving.perByte() * static_cast<double>(missing.size());
  // What is still to be launched may leave more elsewhere, but no more than the object has.
  if (object->size <= fewBytes || missing.size() <= fewBytes ||
      (seconds > 0 && seconds < littleTime))
    uses.push_back({use.object});
  return uses;
}

void* Commands::mapBehind(Pumps::Enqueuing& enqueuing, const Command& command,
                          const std::vector<BufferUse>& uses, const MapCall& call, cl_int& status) {
  const BufferUse& use = uses.front();
  if (shared_.isQuiet())
    return nullptr;
  Lock lock(shared_.mutex);
  auto object = memory_.find(use.object);
  if (!shared_.isActive() || !machine_ || machine_->homeDevice().runsInCaller ||
      admitNative(lock, enqueuing, command, uses, nullptr))
    return nullptr;
  auto stream = scheduler_.find(command.queue);
  if (stream->device != shared_.home)
    return nullptr;
  auto map = std::make_shared<GatedMap>(cl_);
  cl_int refusal = CL_SUCCESS;
  void* address = map->enqueue(*stream, call, refusal);
  if (!address) {
    if (mayWaitForProgram(*stream))
      status = refusal; // what comes before it is not over before the program has heard of that
    return nullptr;
  }
  auto task = create(stream, command);
  auto held = memory_.hold(uses);
  HomeCommands::noteOutputs(*task, held);
  task->plan = [this, held = std::move(held), map](Task& planned) {
    auto open = [map](cl_bool, cl_uint, const cl_event*, cl_event* last) {
      return map->open(last);
    };
    homeCommands_.plan(planned, held, {.enqueue = open, .takesWaitList = false});
  };
  if (object && object->buffer)
    MemoryTable::addMap(*object->buffer, {use.object, address}, use.writes);
  scheduler_.submit(task);
  scheduler_.seeThrough(lock, stream);
  return address;
}

} // namespace libsplit::runtime
