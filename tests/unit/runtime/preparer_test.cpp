#include "runtime/session/preparer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

namespace libsplit::runtime {
namespace {

/// Builds nothing: counts references to programs.
Dispatch dispatch() {
  Dispatch cl{};
  cl.clRetainProgram = [](cl_program) -> cl_int { return CL_SUCCESS; };
  cl.clReleaseProgram = [](cl_program) -> cl_int { return CL_SUCCESS; };
  cl.clGetContextInfo = [](cl_context, cl_context_info, std::size_t, void*,
                           std::size_t*) -> cl_int { return CL_INVALID_CONTEXT; };
  cl.clGetDeviceInfo = [](cl_device_id, cl_device_info name, std::size_t size, void* value,
                          std::size_t*) -> cl_int {
    const std::uint64_t answer = name == CL_DEVICE_TYPE                ? CL_DEVICE_TYPE_GPU
                                 : name == CL_DEVICE_MAX_COMPUTE_UNITS ? 4
                                                                       : 0;
    std::memcpy(value, &answer, std::min(size, sizeof answer));
    return CL_SUCCESS;
  };
  return cl;
}

Options options(Policy::Kind policy, bool waits) {
  Options options;
  options.policy.kind = policy;
  options.waitAnalysis = waits;
  return options;
}

/// A preparer with all that it rests on, and a kernel of a program that was never built: of which
/// nothing can be made.
struct World {
  explicit World(Options with) : shared(cl, std::move(with)) {
    kernel.program = std::make_shared<Program>(nullptr, nullptr);
    kernel.code = code("k");
  }
  std::shared_ptr<KernelCode> code(const std::string& name) const {
    auto made = std::make_shared<KernelCode>();
    made->name = name;
    made->stats = std::make_shared<KernelStats>();
    made->program = kernel.program;
    kernel.program->codes[name] = made;
    return made;
  }
  std::string whyNotReady() {
    Lock lock(shared.mutex);
    return preparer.whyNotReady(lock, kernel, nullptr);
  }
  /// So many launches, each of which takes `seconds` and is timed if that is asked for.
  void launch(unsigned count, double seconds) {
    const Lock lock(shared.mutex);
    const std::size_t global = 1000, local = 10;
    const LaunchArguments arguments{nullptr, 1, nullptr, &global, &local};
    for (unsigned i = 0; i < count; ++i)
      if (preparer.launches(kernel, arguments)) {
        kernel.code->times.timing(1000);
        preparer.launchTook(*kernel.code, *kernel.program->build, 1000, seconds);
      }
  }

  const Dispatch cl = dispatch();
  Shared shared;
  const DiskCache cache{""};
  BinaryOrigins binaries{cache};
  Contexts contexts{shared};
  Issuer issuer{shared};
  Mover mover{shared, issuer};
  Merger merger{shared, issuer, mover};
  Preparer preparer{shared, cache, binaries, contexts, merger};
  Kernel kernel;
};

TEST(Preparer, PreparesAtTheFirstLaunchIfTheProgramIsToWait) {
  World world(options(Policy::Kind::Auto, true));
  EXPECT_EQ(world.whyNotReady(), "the program was not built for this device");
  EXPECT_EQ(world.kernel.code->state, KernelCode::State::Unsplittable);
  EXPECT_EQ(world.whyNotReady(), "the program was not built for this device");
}

TEST(Preparer, SaysWhatTheProgramWasMadeFromIfThatIsWhyNot) {
  World world(options(Policy::Kind::Auto, true));
  world.kernel.program->opaque = "it was made from nothing";
  EXPECT_EQ(world.whyNotReady(), "it was made from nothing");
}

TEST(Preparer, NeverPreparesProgramsOfWhichNothingIsKnown) {
  World world(options(Policy::Kind::Auto, false));
  world.kernel.program->isForeign = true;
  world.kernel.program->opaque = "it came from elsewhere";
  EXPECT_EQ(world.whyNotReady(), "it came from elsewhere");
  EXPECT_EQ(world.kernel.code->state, KernelCode::State::Unsplittable);
}

TEST(Preparer, UnderAutoAwaitsThatLaunchesHavePaidForIt) {
  World world(options(Policy::Kind::Auto, false));
  world.launch(2, 0.01);
  EXPECT_EQ(world.whyNotReady(), notWorthPreparing);
  EXPECT_EQ(world.kernel.code->state, KernelCode::State::New);
  world.launch(1000, 0.01); // 10 s, and it takes half a second
  EXPECT_NE(world.whyNotReady(), notWorthPreparing);
  Lock lock(world.shared.mutex);
  world.preparer.awaitPrepared(lock, *world.kernel.program);
  EXPECT_EQ(world.kernel.code->state, KernelCode::State::Unsplittable);
}

TEST(Preparer, CountsWhatLaunchesTakeForTheirBuild) {
  World world(options(Policy::Kind::Auto, false));
  world.launch(10, 0.125);
  EXPECT_DOUBLE_EQ(world.kernel.program->build->launchSeconds, 1.25);
}

TEST(Preparer, BeginsAtOnceWithWhatGainedInAnEarlierRun) {
  World world(options(Policy::Kind::Auto, false));
  int device = 0;
  world.shared.home = reinterpret_cast<cl_device_id>(&device);
  world.kernel.program->build->gains["k"] = 0.5;
  Lock lock(world.shared.mutex);
  const auto other = world.code("other");
  world.preparer.created(world.kernel.program, other);
  EXPECT_EQ(other->state, KernelCode::State::New);
  world.preparer.created(world.kernel.program, world.kernel.code);
  EXPECT_EQ(world.kernel.code->state, KernelCode::State::Preparing);
  EXPECT_EQ(world.kernel.code->expectedGain, 0.5);
  world.preparer.awaitPrepared(lock, *world.kernel.program);
  EXPECT_EQ(world.kernel.code->state, KernelCode::State::Unsplittable);
}

TEST(Preparer, AwaitsAlsoWhatIsPreparedForNothing) {
  World world(options(Policy::Kind::Static, false));
  Lock lock(world.shared.mutex);
  EXPECT_EQ(world.preparer.whyNotReady(lock, world.kernel, nullptr), notAnalysedYet);
  world.kernel.code->neverSplit("its arguments are pointers");
  EXPECT_TRUE(world.kernel.program->isBeingPrepared());
  world.preparer.awaitPrepared(lock, *world.kernel.program);
  EXPECT_FALSE(world.kernel.program->isBeingPrepared());
  EXPECT_EQ(world.kernel.code->reason, "its arguments are pointers");
}

TEST(Preparer, BeginsNothingOnceItWasStopped) {
  World world(options(Policy::Kind::Static, false));
  {
    Lock lock(world.shared.mutex);
    world.preparer.stop(lock);
  }
  EXPECT_EQ(world.whyNotReady(), noThread);
}

TEST(Preparer, seesTinyGroupsOfLaunchesThatLeaveTheirSizeOpen) {
  const std::size_t prime = 10007, round = 10240, local = 1;
  const auto isTiny = [](const std::size_t& global, const std::size_t* given) {
    World world(options(Policy::Kind::Auto, false));
    const Lock lock(world.shared.mutex);
    world.preparer.launches(world.kernel, {nullptr, 1, nullptr, &global, given});
    return world.kernel.code->makesTinyGroups;
  };
  EXPECT_TRUE(isTiny(prime, nullptr));
  EXPECT_FALSE(isTiny(prime, &local)) << "the program wants it so";
  EXPECT_FALSE(isTiny(round, nullptr));
}

} // namespace
} // namespace libsplit::runtime
