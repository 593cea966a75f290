#include "tests/unit/session/kernel_world.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace libsplit::runtime {
namespace {

TEST(Splittable, IsALaunchOfSeveralGroupsOnKnownBuffers) {
  const KernelWorld world;
  EXPECT_EQ(world.why(), "");
}

TEST(Splittable, IsNoLaunchOfOneGroup) {
  KernelWorld world;
  world.global[0] = 64;
  EXPECT_EQ(world.why(), onlyOneGroup);
}

TEST(Splittable, IsNoLaunchOverAnEmptyOrOverflowingRange) {
  KernelWorld world;
  world.global[0] = 0;
  EXPECT_EQ(world.why(), "the NDRange is empty or not valid");
  world.global[0] = 1024;
  const std::array<std::size_t, 3> offset{~std::size_t{0} - 10, 0, 0};
  world.arguments.offset = offset.data();
  EXPECT_EQ(world.why(), "the NDRange is empty or not valid");
  world.arguments.dimensions = 4;
  EXPECT_EQ(world.why(), "the NDRange is not valid");
}

TEST(Splittable, IsNoLaunchWhoseGroupsAreTooLarge) {
  KernelWorld world;
  world.local[0] = 512;
  EXPECT_EQ(world.why(), "the work-groups are too large for the device");
}

TEST(Splittable, IsNoLaunchThatDependsOnWhatTheDriverChooses) {
  KernelWorld world;
  world.arguments.local = nullptr;
  EXPECT_EQ(world.why(), "");
  world.summary.dependsOnGroups = true;
  EXPECT_EQ(world.why(),
            "the local size is left to the driver, and the kernel's result depends on it");
}

TEST(Splittable, IsNoLaunchWhoseBarriersOrderWhatArgumentsShare) {
  KernelWorld world;
  world.summary.dependsOnGroupsIfShared = true;
  world.summary.parameters.push_back({"in", "float*", ParameterKind::GlobalBuffer, 0});
  world.kernel.code->kinds.push_back(ArgumentKind::Memory);
  world.kernel.code->loaded.push_back(false);
  world.kernel.code->writes = {true, false, false};
  world.kernel.arguments.emplace_back();
  const auto give = [&](const std::shared_ptr<MemoryObject>& object) {
    const cl_mem handle = object->buffer->home();
    world.kernel.arguments[2].candidate = object;
    world.set(2, &handle, sizeof handle);
  };
  const auto other = std::make_shared<MemoryObject>();
  other->buffer = world.buffer(someBytes(4096));
  other->size = 4096;
  world.arguments.local = nullptr;
  give(other);
  EXPECT_EQ(world.why(), "");
  // Another part of it, of which no more is known than that.
  const auto part = std::make_shared<MemoryObject>(*world.object);
  part->origin = 2048;
  part->size = 2048;
  for (const auto& shared : {world.object, part}) {
    give(shared);
    EXPECT_EQ(world.why(), "the local size is left to the driver, and barriers order what the "
                           "kernel does to arguments `out` and `in`, which share a buffer");
  }
  world.kernel.code->writes = {false, false, true};
  EXPECT_NE(world.why(), "");
  world.kernel.code->writes = {false, false, false};
  EXPECT_EQ(world.why(), "");
  world.kernel.code->writes = {true, false, false};
  world.arguments.local = world.local.data();
  EXPECT_EQ(world.why(), "");
}

TEST(Splittable, IsNoLaunchThatDependsOnSubGroupsWhereTheseMayDiffer) {
  KernelWorld world;
  world.summary.dependsOnSubGroups = true;
  auto& devices = world.shared.machine->devices();
  devices[1].kind = devices[0].kind;
  EXPECT_EQ(world.why(), "");
  devices[1].kind = devices[0].kind + 1;
  EXPECT_EQ(world.why(),
            "the kernel's result depends on sub-groups, which differ from device to device");
}

TEST(Splittable, IsNoLaunchOfAnArgumentThatIsNotSet) {
  KernelWorld world;
  world.kernel.arguments[1] = {};
  EXPECT_EQ(world.why(), "argument `n` is not set");
}

TEST(Splittable, IsNoLaunchOfAValueOfAnotherSize) {
  KernelWorld world;
  const cl_long n = 1024;
  world.set(1, &n, sizeof n);
  EXPECT_EQ(world.why(), "argument `n` has another size than its type");
}

TEST(Splittable, IsNoLaunchOnAMappedBuffer) {
  KernelWorld world;
  MemoryTable::addMap(*world.object->buffer, {world.object->buffer->home(), nullptr}, true);
  EXPECT_EQ(world.why(), "argument `out` is mapped");
}

TEST(Splittable, IsNoLaunchOnABufferThatStaysAtHome) {
  KernelWorld world;
  world.object->buffer->setHomeOnly("it is shared");
  EXPECT_EQ(world.why(), "argument `out` can't leave its device: it is shared");
}

TEST(Splittable, IsNoLaunchOnABufferThatIsGone) {
  KernelWorld world;
  world.object.reset();
  EXPECT_EQ(world.why(), "argument `out` is no buffer that libsplit knows");
}

TEST(Snapshot, KeepsTheLaunchAsItWas) {
  KernelWorld world;
  const auto launch = snapshot(world.cl, world.samplers, world.kernel, world.arguments);
  const cl_int other = 7;
  world.set(1, &other, sizeof other);
  world.global[0] = 64;
  EXPECT_EQ(launch->range.global[0], 1024U);
  EXPECT_EQ(launch->key.range, "1024/64");
  cl_int n = 0;
  std::memcpy(&n, launch->request.arguments[1].bytes.data(), sizeof n);
  EXPECT_EQ(n, 1024);
  EXPECT_EQ(launch->request.arguments[0].bufferSize, 4096U);
  EXPECT_EQ(launch->buffers, std::vector{world.object->buffer});
}

TEST(TrackedBuffers, AreReservedUntilTheirUserLeavesThem) {
  World world;
  const auto one = world.buffer(someBytes(16)), other = world.buffer(someBytes(16));
  int first = 0, second = 0;
  world.tracked.reserve(&first, {one});
  world.tracked.reserve(&second, {one, other});
  EXPECT_TRUE(world.tracked.isReserved(one));
  world.tracked.leave(&second);
  EXPECT_TRUE(world.tracked.isReserved(one));
  EXPECT_FALSE(world.tracked.isReserved(other));
  world.tracked.leave(&first);
  EXPECT_FALSE(world.tracked.isAnyReserved());
}

TEST(MemoryTable, KnowsSubBuffersByTheBytesThatTheyAre) {
  World world;
  MemoryTable memory(world.shared, world.mover);
  cl_int error = CL_SUCCESS;
  const auto root = Ref<cl_mem>::adopt(
      world.cl, world.cl.clCreateBuffer(world.context.get(), 0, 4096, nullptr, &error));
  const cl_buffer_region region{1024, 1024};
  const auto part = Ref<cl_mem>::adopt(
      world.cl,
      world.cl.clCreateSubBuffer(root.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
  ASSERT_EQ(error, CL_SUCCESS);
  memory.bufferCreated(root.get());
  memory.subBufferCreated(part.get(), root.get());
  {
    const Lock lock(world.shared.mutex);
    EXPECT_EQ(memory.find(part.get())->buffer, memory.find(root.get())->buffer);
    EXPECT_EQ(memory.find(part.get())->origin, 1024U);
  }
  EXPECT_FALSE(memory.overlap({root.get(), true, 1024, 1032}, {part.get(), true, 0, 8}))
      << "nothing of libsplit's is pending: nobody has to know";
  world.shared.engagements = 1;
  EXPECT_TRUE(memory.overlap({root.get(), true, 1024, 1032}, {part.get(), true, 0, 8}));
  EXPECT_FALSE(memory.overlap({root.get(), true, 0, 1024}, {part.get(), true, 0, 8}));
  world.shared.engagements = 0;
  memory.retained(part.get());
  memory.released(part.get());
  memory.released(root.get());
  {
    const Lock lock(world.shared.mutex);
    EXPECT_TRUE(memory.find(part.get()));
    EXPECT_TRUE(memory.find(root.get())) << "it can be had by way of its part";
  }
  memory.released(part.get());
  const Lock lock(world.shared.mutex);
  EXPECT_FALSE(memory.find(part.get()));
  EXPECT_FALSE(memory.find(root.get()));
}

TEST(MemoryTable, CountsMapsByHandleAndAddress) {
  World world;
  MemoryTable memory(world.shared, world.mover);
  cl_int error = CL_SUCCESS;
  const auto buffer = Ref<cl_mem>::adopt(
      world.cl, world.cl.clCreateBuffer(world.context.get(), 0, 64, nullptr, &error));
  memory.bufferCreated(buffer.get());
  int here = 0, there = 0;
  EXPECT_FALSE(memory.mayBeMapped(buffer.get(), &here));
  memory.mapped(buffer.get(), &here, false);
  EXPECT_TRUE(memory.mayBeMapped(buffer.get(), &here));
  EXPECT_FALSE(memory.mayBeMapped(buffer.get(), &there));
  world.shared.engagements = 1;
  EXPECT_FALSE(memory.isMappedForWriting(buffer.get()));
  memory.mapped(buffer.get(), &there, true);
  EXPECT_TRUE(memory.isMappedForWriting(buffer.get()));
  memory.unmapped(buffer.get(), &there);
  memory.unmapped(buffer.get(), &here);
  EXPECT_FALSE(memory.isMappedForWriting(buffer.get()));
  world.shared.engagements = 0;
}

} // namespace
} // namespace libsplit::runtime
