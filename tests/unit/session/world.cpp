#include "tests/unit/session/world.h"

#include "tests/fake_opencl/driver.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace libsplit::runtime {

namespace {

const Dispatch& fakeDispatch() {
  static const Dispatch dispatch = [] {
    fake::Configuration configuration;
    configuration.platforms = {{"Fake", {{.name = "home"}, {.name = "helper"}}}};
    fake::configure(std::move(configuration));
    return Dispatch(fake::Driver::dispatchTable());
  }();
  return dispatch;
}

void require(cl_int status, const char* what) {
  if (status != CL_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + std::to_string(status));
}

} // namespace

Bytes someBytes(std::size_t size, unsigned seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>((i * 2654435761U + seed * 40503U) >> 7);
  return bytes;
}

World::World(std::size_t stagingBytes, Options options)
    : cl(fakeDispatch()), shared(cl, std::move(options)) {
  cl_platform_id platform = nullptr;
  require(cl.clGetPlatformIDs(1, &platform, nullptr), "no platform");
  require(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "no device");
  cl_int error = CL_SUCCESS;
  context =
      Ref<cl_context>::adopt(cl, cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error));
  require(error, "no context");
  queue = Ref<cl_command_queue>::adopt(
      cl, cl.clCreateCommandQueue(context.get(), device, CL_QUEUE_PROFILING_ENABLE, &error));
  require(error, "no queue");
  shared.machine = std::make_unique<Machine>(
      cl, Machine::Setup{DeviceSpec{}, SeparateNodes::None, stagingBytes}, context.get(), device);
  if (shared.machine->devices().size() != 2 || shared.machine->nodes() != 3)
    throw std::runtime_error("the machine has not two devices on nodes of their own");
}

std::shared_ptr<Buffer> World::buffer(const Bytes& bytes) {
  cl_int error = CL_SUCCESS;
  auto* content = const_cast<std::byte*>(bytes.data()); // and no more
  const auto home = Ref<cl_mem>::adopt(
      cl, cl.clCreateBuffer(context.get(), CL_MEM_COPY_HOST_PTR, bytes.size(), content, &error));
  require(error, "no buffer");
  auto buffer = std::make_shared<Buffer>(cl, context.get(), home.get(), bytes.size(), HostAccess{},
                                         shared.engagements);
  tracked.track(*buffer); // which keeps the home buffer
  for (std::size_t each = 0; each < 2; ++each)
    makeRoom(*buffer, each);
  return buffer;
}

void World::makeRoom(Buffer& buffer, std::size_t on, const ByteRange& bytes) {
  Provisions pending;
  while (buffer.roomOn(*shared.machine, on, bytes, pending) == Room::OnItsWay)
    std::exchange(pending, {}).front()->make();
  while (shared.machine->ringRoom(nodeOf(on), context.get(), pending) == Room::OnItsWay)
    std::exchange(pending, {}).front()->make();
}

Bytes World::read(Buffer& buffer, std::size_t on) {
  Bytes bytes(buffer.size());
  const cl_command_queue from = shared.machine->queueOf(on, context.get());
  require(cl.clEnqueueReadBuffer(from, buffer.on(*shared.machine, on).memory, CL_TRUE, 0,
                                 bytes.size(), bytes.data(), 0, nullptr, nullptr),
          "can't read");
  return bytes;
}

void World::write(Buffer& buffer, std::size_t on, std::size_t offset, const Bytes& bytes) {
  const cl_command_queue to = shared.machine->queueOf(on, context.get());
  require(cl.clEnqueueWriteBuffer(to, buffer.on(*shared.machine, on).memory, CL_TRUE, offset,
                                  bytes.size(), bytes.data(), 0, nullptr, nullptr),
          "can't write");
}

cl_int await(const Task& task) {
  cl_int status = CL_SUCCESS;
  for (const CompletionPtr& part : task.parts)
    status = std::min(status, part->wait());
  return status;
}

Instruction step(std::function<cl_int()> body) {
  Instruction made;
  made.run = [body = std::move(body)](WaitList, Completion&, cl_event*) { return body(); };
  return made;
}

} // namespace libsplit::runtime
