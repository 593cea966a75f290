#include "runtime/session/memory_table.h"

#include "tests/unit/session/world.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

/// What is sent ahead of a buffer is not, once the program has given it up.
TEST(MemoryTable, ABufferIsReleasedOnceNothingIsLeftThatWasMadeOverIt) {
  World world;
  MemoryTable table(world.shared, world.mover);
  const Dispatch& cl = world.cl;
  cl_int error = CL_SUCCESS;
  const auto whole = Ref<cl_mem>::adopt(
      cl, cl.clCreateBuffer(world.context.get(), CL_MEM_READ_WRITE, 1024, nullptr, &error));
  table.bufferCreated(whole.get());
  const std::shared_ptr<Buffer> buffer = table.find(whole.get())->buffer;
  ASSERT_TRUE(buffer);
  const auto makePart = [&] {
    const cl_buffer_region region{512, 512};
    auto part =
        Ref<cl_mem>::adopt(cl, cl.clCreateSubBuffer(whole.get(), CL_MEM_READ_WRITE,
                                                    CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
    table.subBufferCreated(part.get(), whole.get());
    return part;
  };
  const auto first = makePart(), second = makePart();
  ASSERT_EQ(table.find(second.get())->buffer, buffer);
  table.released(first.get());
  EXPECT_FALSE(buffer->isReleased());
  table.released(whole.get());
  EXPECT_FALSE(buffer->isReleased()) << "a part is left";
  table.released(second.get());
  EXPECT_TRUE(buffer->isReleased());
}

} // namespace
} // namespace libsplit::runtime
