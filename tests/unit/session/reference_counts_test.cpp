#include "runtime/session/reference_counts.h"

#include "tests/unit/session/world.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace libsplit::runtime {
namespace {

/// A driver that counts the contexts that are made there.
struct Watched {
  explicit Watched(const Dispatch& other) : cl(other) {
    make = other.clCreateContext;
    made = 0;
    cl.clCreateContext = [](auto... arguments) {
      ++made;
      return make(arguments...);
    };
  }
  static inline int made = 0; ///< since the last of these was
  static inline decltype(Functions::clCreateContext) make = nullptr;
  Dispatch cl;
};

TEST(ReferenceCounts, MakeNothingWhereLibsplitHasNothing) {
  World world;
  const Watched driver(world.cl);
  const Dispatch& cl = driver.cl;
  Shared shared(cl);
  EventTable events(shared.mutex);
  ReferenceCounts counts(shared, events);

  cl_int error = CL_SUCCESS;
  auto* const context = cl.clCreateContext(nullptr, 1, &world.device, nullptr, nullptr, &error);
  auto* const queue = cl.clCreateCommandQueue(context, world.device, 0, &error);
  ASSERT_EQ(error, CL_SUCCESS);
  const auto ofDriver = [&] {
    return property<cl_uint>(cl.clGetContextInfo, context, CL_CONTEXT_REFERENCE_COUNT);
  };
  const cl_uint natively = ofDriver();
  EXPECT_EQ(counts.of(context), natively);
  EXPECT_EQ(counts.of(queue), 1U);
  EXPECT_EQ(Watched::made, 1);

  cl_event event = nullptr;
  ASSERT_EQ(cl.clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(queue), CL_SUCCESS);
  {
    const auto own = Ref<cl_event>::adopt(cl, event);
    EXPECT_GT(ofDriver(), natively);
    EXPECT_EQ(counts.of(context), natively);
    EXPECT_GT(Watched::made, 1); // to find out what an event adds
  }
  EXPECT_EQ(counts.of(context), natively);
  cl.clReleaseCommandQueue(queue);
  cl.clReleaseContext(context);
}

TEST(ReferenceCounts, AreSoonToldWhereNoCommandEnds) {
  World world;
  const Watched driver(world.cl);
  Dispatch cl(driver.cl);
  static const decltype(Functions::clGetEventInfo) ask = cl.clGetEventInfo;
  cl.clGetEventInfo = [](cl_event event, cl_event_info name, std::size_t size, void* value,
                         std::size_t* sizeRet) {
    const cl_int status = ask(event, name, size, value, sizeRet);
    if (name == CL_EVENT_COMMAND_EXECUTION_STATUS && value)
      *static_cast<cl_int*>(value) = CL_SUBMITTED;
    return status;
  };
  Shared shared(cl);
  EventTable events(shared.mutex);
  ReferenceCounts counts(shared, events);
  const auto natively =
      property<cl_uint>(cl.clGetContextInfo, world.context.get(), CL_CONTEXT_REFERENCE_COUNT);
  std::vector<Ref<cl_event>> own;
  for (int i = 0; i < 8; ++i) {
    cl_event event = nullptr;
    ASSERT_EQ(cl.clEnqueueMarkerWithWaitList(world.queue.get(), 0, nullptr, &event), CL_SUCCESS);
    own.push_back(Ref<cl_event>::adopt(cl, event));
  }
  ASSERT_EQ(cl.clFinish(world.queue.get()), CL_SUCCESS);
  EXPECT_EQ(counts.of(world.context.get()), natively);
  EXPECT_LE(Watched::made, 2); // one of them, to find out what an event adds
}

} // namespace
} // namespace libsplit::runtime
