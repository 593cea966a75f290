// Generated inspectors, run on PoCL, against brute force: what a work-group touches is what its
// cell says, to the byte, or the cell says that it does not know, and only where it must.
#include "runtime/plan/inspector_source.h"
#include "tests/property/brute_force.h"
#include "tests/property/buffer_contents.h"
#include "tests/property/host_inspector.h"
#include "tests/property/seeds.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include <algorithm>
#include <memory>
#include <numeric>

namespace libsplit::runtime {
namespace {

using Op = Expr::Op;

constexpr std::uint64_t targetSize = std::uint64_t{1} << 40;
constexpr std::int64_t middle = std::int64_t{1} << 39; ///< where offsets of 0 go: nothing is cut

Expr c(std::int64_t value) {
  return Expr::constant(value);
}
Expr intAt(unsigned parameter, const Expr& element) {
  return Expr::load(parameter, c(4) * element, 32, true);
}

void check(cl_int status, const char* what) {
  ASSERT_EQ(status, CL_SUCCESS) << what;
}

/// One device, its context and queue.
struct Device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  Device() {
    cl_platform_id platform = nullptr;
    clGetPlatformIDs(1, &platform, nullptr);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, nullptr);
    context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, nullptr);
    queue = clCreateCommandQueueWithProperties(context, id, nullptr, nullptr);
  }
  ~Device() {
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
  cl_mem buffer(const void* data, std::size_t size) const {
    return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                          std::max<std::size_t>(size, 1), const_cast<void*>(data), nullptr);
  }
};

/// A launch of which one access is inspected. Parameter 0 is touched, 1 and 2 are loaded from, 3 is
/// a number.
struct Case {
  KernelSummary kernel;
  NDRange range;
  std::vector<std::vector<std::byte>> buffers{4};
  std::int32_t number = 0;
  std::uint64_t size = targetSize; ///< of what is touched

  Case() {
    kernel.parameters.resize(4, {"b", "int*", ParameterKind::GlobalBuffer, 0});
    kernel.parameters[3] = {"n", "int", ParameterKind::Scalar, 4};
    Access access;
    access.length = 4;
    kernel.accesses.push_back(access);
  }
  Access& access() { return kernel.accesses[0]; }
  const Access& access() const { return kernel.accesses[0]; }
  void goesTo(const Expr& offset) { access().offset = Expr::wrap(offset + c(middle), 64, true); }
  std::vector<ArgumentValue> arguments() const {
    return {{{}, size},
            {{}, buffers[1].size()},
            {{}, buffers[2].size()},
            {std::as_bytes(std::span(&number, 1)), 0}};
  }
};

/// By `lanes` work-items for each cell; 0: as many as find something to do.
std::vector<std::vector<Interval>> inspect(const Device& device, std::span<const Case> cases,
                                           std::uint64_t mostCells, std::size_t lanes = 0) {
  std::vector<InspectorSource> sources;
  for (const Case& each : cases) {
    const auto places = placesToClaim(each.kernel, 0);
    sources.push_back(places ? InspectorSource(*places) : InspectorSource(each.access()));
  }
  const std::string text = programOf(sources);
  const char* begin = text.c_str();
  cl_program program = clCreateProgramWithSource(device.context, 1, &begin, nullptr, nullptr);
  const cl_int built = clBuildProgram(program, 1, &device.id, "-w", nullptr, nullptr);
  EXPECT_EQ(built, CL_SUCCESS) << text;
  std::vector<std::vector<Interval>> result;
  for (std::size_t i = 0; i < cases.size() && built == CL_SUCCESS; ++i) {
    const Case& each = cases[i];
    const CellGrid grid = gridOf(each.range, mostCells);
    const auto numbers = sources[i].numbers(each.range, grid, each.arguments());
    EXPECT_TRUE(numbers.has_value());
    cl_kernel kernel = clCreateKernel(program, ("inspect" + std::to_string(i)).c_str(), nullptr);
    std::vector<std::int64_t> written(2 * grid.count());
    std::vector<cl_mem> memory{
        device.buffer(numbers->data(), numbers->size() * sizeof(std::int64_t)),
        device.buffer(written.data(), written.size() * sizeof(std::int64_t))};
    if (const std::uint64_t bytes = sources[i].claimBytes(each.arguments())) {
      const std::vector<std::byte> unclaimed(bytes);
      memory.push_back(device.buffer(unclaimed.data(), bytes));
    }
    for (const unsigned parameter : sources[i].buffers())
      memory.push_back(
          device.buffer(each.buffers[parameter].data(), each.buffers[parameter].size()));
    for (std::size_t a = 0; a < memory.size(); ++a)
      clSetKernelArg(kernel, static_cast<cl_uint>(a), sizeof(cl_mem), &memory[a]);
    const std::size_t local = lanes ? lanes : sources[i].lanes(each.range, grid);
    const std::size_t global = local * grid.count();
    check(clEnqueueNDRangeKernel(device.queue, kernel, 1, nullptr, &global, &local, 0, nullptr,
                                 nullptr),
          "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(device.queue, memory[1], CL_TRUE, 0,
                              written.size() * sizeof(std::int64_t), written.data(), 0, nullptr,
                              nullptr),
          "clEnqueueReadBuffer");
    result.push_back(cellsFrom(written));
    for (cl_mem object : memory)
      clReleaseMemObject(object);
    clReleaseKernel(kernel);
  }
  clReleaseProgram(program);
  return result;
}

/// The groups of a cell.
GroupBox boxOf(const NDRange& range, const CellGrid& grid, std::uint64_t cell) {
  GroupBox box;
  for (unsigned d = 0; d < 3; ++d) {
    const std::uint64_t at = cell % grid.cells[d];
    cell /= grid.cells[d];
    box.begin[d] = at * grid.run[d];
    box.end[d] = std::min(range.groups(d), box.begin[d] + grid.run[d]);
  }
  return box;
}

std::string describe(const Case& of) {
  static constexpr const char* relations[] = {" < ", " <= ", " == ", " != "};
  std::string text;
  for (const Access& access : of.kernel.accesses) {
    text += "\noffset " + toString(access.offset) + ", " + std::to_string(access.length) + " bytes";
    for (const Guard& g : access.guards)
      text += "\n  if " + toString(g.left) + relations[int(g.relation)] + toString(g.right);
    for (const Loop& l : access.loops)
      text += "\n  for " + toString(l.count);
  }
  for (unsigned d = 0; d < of.range.dimensions; ++d)
    text += "\n  global " + std::to_string(of.range.global[d]) + " local " +
            std::to_string(of.range.local[d]) + " offset " + std::to_string(of.range.offset[d]);
  return text + "\n  number " + std::to_string(of.number);
}

class InspectorProperty : public ::testing::Test {
protected:
  static void SetUpTestSuite() { shared = std::make_unique<Device>(); }
  static void TearDownTestSuite() { shared.reset(); }

  /// The cells of one case, one for each group.
  static std::vector<Interval> cellsOf(const Case& one) {
    return inspect(*shared, std::span(&one, 1), 1 << 20).at(0);
  }

  static std::unique_ptr<Device> shared;
};

std::unique_ptr<Device> InspectorProperty::shared;

std::vector<std::int32_t> randomInts(std::mt19937& random, std::size_t count, std::int64_t low,
                                     std::int64_t high) {
  std::vector<std::int32_t> ints(count);
  for (std::int32_t& each : ints)
    each = static_cast<std::int32_t>(pick(random, low, high));
  return ints;
}

class Generator {
public:
  explicit Generator(std::mt19937& random) : random_(random) {}

  Case operator()() {
    Case made;
    NDRange& range = made.range;
    range.dimensions = static_cast<unsigned>(pick(random_, 1, 3));
    for (unsigned d = 0; d < range.dimensions; ++d) {
      range.local[d] = static_cast<std::uint64_t>(pick(random_, 1, d == 0 ? 6 : 3));
      range.global[d] = static_cast<std::uint64_t>(pick(random_, 1, d == 0 ? 30 : 6));
      range.offset[d] = static_cast<std::uint64_t>(chance(random_, 20) ? 2 : 0);
    }
    dimensions_ = range.dimensions;
    made.buffers[1] = bufferOf(randomInts(random_, 64, -2, chance(random_, 50) ? 20 : 200));
    made.buffers[2] = bufferOf(randomInts(random_, 64, 0, 60));
    made.number = static_cast<std::int32_t>(pick(random_, -3, 20));
    Access& access = made.access();
    for (auto n = pick(random_, -1, 2); n > 0; --n) {
      access.loops.push_back({Expr::node(Op::Min, {expr(access.loops.size(), 2), c(8)}), true});
    }
    made.goesTo(expr(access.loops.size(), static_cast<int>(pick(random_, 1, 5))));
    for (auto n = pick(random_, -1, 2); n > 0; --n)
      access.guards.push_back({expr(access.loops.size(), 2),
                               static_cast<Guard::Relation>(pick(random_, 0, 3)),
                               expr(access.loops.size(), 2)});
    return made;
  }

  /// What changes places, often of each work-item's own, as sorted numbers and colours have it.
  Case changing() {
    Case made = (*this)();
    made.kernel.accesses.clear();
    made.size = 32768; // room for 16 bytes for each item, and some
    const NDRange& range = made.range;
    const std::uint64_t items = range.global[0] * range.global[1] * range.global[2];
    std::vector<std::int32_t> order(std::max<std::uint64_t>(items + 2, 64));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    if (chance(random_, 30))
      order[static_cast<std::size_t>(pick(random_, 0, std::int64_t(items) - 1))] = order[0];
    made.buffers[1] = bufferOf(order);
    std::shuffle(order.begin(), order.end(), random_);
    made.buffers[2] = bufferOf(order);
    const auto place = [&](unsigned d) {
      return Expr::id(Op::GlobalId, d) + c(-std::int64_t(range.offset[d]));
    };
    const Expr item = place(0) + c(std::int64_t(range.global[0])) * place(1) +
                      c(std::int64_t(range.global[0] * range.global[1])) * place(2);
    for (auto n = pick(random_, 1, 3); n > 0; --n) {
      Access access;
      access.changes = true;
      access.length = chance(random_, 70) ? 4 : 8;
      const Expr first = intAt(1, item);
      switch (pick(random_, 0, 6)) {
      case 0:
        access.offset = c(4) * intAt(2, first);
        break;
      case 1:
        access.offset = c(4) * Expr::node(Op::Xor, {first, c(1)});
        break;
      case 2: // as many places as it has iterations
        access.loops = {{Expr::node(Op::And, {intAt(2, item), c(3)})}};
        access.offset = c(16) * first + c(4) * Expr::loop(0);
        access.length = 4;
        break;
      case 3: // the same place in each iteration
        access.loops = {{Expr::node(Op::And, {intAt(2, item), c(3)})}};
        access.offset = c(4) * first;
        break;
      case 4:
        access.offset = c(4) * Expr::node(Op::And, {expr(0, 2), c(255)});
        break;
      default:
        access.offset = c(std::int64_t(access.length)) * first;
      }
      if (chance(random_, 30))
        access.offset = access.offset + c(2048);
      if (chance(random_, 30))
        access.guards.push_back(
            {expr(0, 2), static_cast<Guard::Relation>(pick(random_, 0, 3)), expr(0, 2)});
      made.kernel.accesses.push_back(access);
      if (chance(random_, 20)) { // once more, on a condition
        access.guards.push_back({expr(0, 1), Guard::Relation::Less, expr(0, 1)});
        made.kernel.accesses.push_back(access);
      }
    }
    return made;
  }

private:
  Expr leaf(std::size_t loops) {
    if (loops > 0 && chance(random_, 40))
      return Expr::loop(static_cast<unsigned>(pick(random_, 0, std::int64_t(loops) - 1)));
    const auto d = static_cast<unsigned>(pick(random_, 0, dimensions_ - 1));
    static constexpr Op ids[] = {Op::GlobalId,          Op::GlobalId,    Op::GlobalId,
                                 Op::LocalId,           Op::LocalId,     Op::GroupId,
                                 Op::GlobalSize,        Op::LocalSize,   Op::NumGroups,
                                 Op::EnqueuedLocalSize, Op::GlobalOffset};
    switch (pick(random_, 0, 9)) {
    case 0:
    case 1:
      return c(pick(random_, -3, 14));
    case 2:
      return Expr::argument(3, 32, true);
    case 3:
      return Expr::argument(3, 8, false);
    case 4:
      return chance(random_, 90) ? Expr::workDim() : c(INT64_MIN);
    default:
      return Expr::id(ids[pick(random_, 0, std::size(ids) - 1)], d);
    }
  }

  Expr expr(std::size_t loops, int depth) {
    auto sub = [&] { return expr(loops, depth - 1); };
    if (depth == 0 || chance(random_, 12))
      return leaf(loops);
    static constexpr Op binary[] = {Op::DivFloor, Op::DivTrunc, Op::RemTrunc, Op::Shl,
                                    Op::ShrArith, Op::And,      Op::Or,       Op::Xor};
    const Expr element = Expr::node(Op::Min, {Expr::node(Op::Max, {sub(), c(0)}), c(31)});
    const auto parameter = static_cast<unsigned>(pick(random_, 1, 2));
    const bool isSigned = chance(random_, 50);
    switch (pick(random_, 0, 15)) {
    case 0:
    case 1:
    case 2:
      return Expr::node(Op::Add, {sub(), sub(), c(pick(random_, -4, 4))});
    case 3:
    case 4:
      return sub() * sub();
    case 5:
      return sub() * c(pick(random_, -2, 4));
    case 6:
      return Expr::node(chance(random_, 50) ? Op::Min : Op::Max, {sub(), sub()});
    case 7:
      return Expr::node(binary[pick(random_, 0, std::size(binary) - 1)], {sub(), sub()});
    case 8:
      return Expr::node(binary[pick(random_, 0, std::size(binary) - 1)],
                        {sub(), c(pick(random_, 1, 9))});
    case 9:
      return Expr::node(Op::Select, {sub(), sub(), sub(), sub()});
    case 10:
      return Expr::wrap(sub(), chance(random_, 50) ? 8 : 32, isSigned);
    case 11:
      return Expr::load(parameter, element, 8, isSigned);
    case 12:
      return Expr::load(parameter, c(2) * element, 16, isSigned);
    case 13:
      return Expr::load(parameter, c(8) * element, 64, isSigned);
    default:
      return intAt(parameter, chance(random_, 70) ? element : sub());
    }
  }

  std::mt19937& random_;
  std::int64_t dimensions_ = 1;
};

TEST_F(InspectorProperty, cellsHoldTheBytesThatBruteForceTouchesAndNoOthers) {
  constexpr std::size_t casesPerProgram = 8;
  std::size_t compared = 0, unknown = 0, nonEmpty = 0;
  forEachSeed(12, [&](std::mt19937& random) {
    std::vector<Case> cases;
    for (std::size_t i = 0; i < casesPerProgram; ++i)
      cases.push_back(Generator(random)());
    const std::uint64_t mostCells = chance(random, 70) ? 1 << 20 : 5;
    const auto inspected = inspect(*shared, cases, mostCells, chance(random, 30) ? 1 : 0);
    ASSERT_EQ(inspected.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Case& each = cases[i];
      const CellGrid grid = gridOf(each.range, mostCells);
      const auto values = each.arguments();
      for (std::uint64_t cell = 0; cell < grid.count(); ++cell) {
        const GroupBox box = boxOf(each.range, grid, cell);
        const Interval got = inspected[i][cell];
        unknown += got == everything;
        ASSERT_EQ(got == everything,
                  inspectOnHost(each.access(), each.range, values, box, each.buffers) == everything)
            << describe(each) << "\n  cell " << cell;
        if (got == everything)
          continue;
        const auto real = execute(each.kernel, each.range, values, box, random(), each.buffers);
        // Beyond the buffer, brute force does not look.
        const bool isCut = !got.empty() && (got.low < 0 || got.high >= Int{targetSize});
        if (!real || isCut)
          continue;
        ++compared;
        const std::set<std::uint64_t>& bytes = (*real)[0].reads;
        nonEmpty += !bytes.empty();
        if (bytes.empty())
          ASSERT_TRUE(got.empty()) << describe(each) << "\n  cell " << cell;
        else
          ASSERT_TRUE((got == Interval{*bytes.begin(), *bytes.rbegin()}))
              << describe(each) << "\n  cell " << cell << ": " << std::int64_t(got.low) - middle
              << " .. " << std::int64_t(got.high) - middle << " instead of "
              << std::int64_t(*bytes.begin()) - middle << " .. "
              << std::int64_t(*bytes.rbegin()) - middle;
      }
    }
  });
  if (!std::getenv("LIBSPLIT_TEST_FIRST_SEED")) {
    EXPECT_GT(compared, 500u);
    EXPECT_GT(nonEmpty, 300u);
    EXPECT_GT(unknown, 50u);
  }
}

/// Whether each work-item has bytes of its own, by brute force. `cantTell`: one comes to the same
/// bytes again by another access, or some are no whole units.
enum class Places { Distinct, Shared, NotKnown };
Places placesOf(const Case& of, bool& cantTell) {
  const NDRange& range = of.range;
  const std::uint64_t unit = placesToClaim(of.kernel, 0)->unit;
  std::set<std::uint64_t> taken;
  for (std::uint64_t cell = 0; cell < range.groups(); ++cell) {
    const GroupBox box = boxOf(range, gridOf(range), cell);
    std::set<std::uint64_t> own;
    for (const Access& access : of.kernel.accesses) {
      KernelSummary alone = of.kernel;
      alone.accesses = {access};
      const auto bytes = execute(alone, range, of.arguments(), box, 0, of.buffers);
      if (!bytes || inspectOnHost(access, range, of.arguments(), box, of.buffers) == everything)
        return Places::NotKnown;
      const std::set<std::uint64_t>& touched = (*bytes)[0].reads;
      for (const std::uint64_t byte : touched)
        cantTell = !own.insert(byte).second || !touched.contains(byte / unit * unit) ||
                   !touched.contains(byte / unit * unit + unit - 1) || cantTell;
    }
    for (const std::uint64_t byte : own)
      if (!taken.insert(byte).second)
        return Places::Shared;
  }
  return Places::Distinct;
}

TEST_F(InspectorProperty, placesAreClaimedAsDistinctWhereBruteForceFindsNoneTwiceAndOnlyThere) {
  constexpr std::size_t casesPerProgram = 8;
  unsigned distinct = 0, shared = 0;
  forEachSeed(8, [&](std::mt19937& random) {
    std::vector<Case> cases;
    while (cases.size() < casesPerProgram) {
      Case made = Generator(random).changing();
      if (chance(random, 80)) // else groups are compared with each other, and not items
        made.range.local = {1, 1, 1};
      if (placesToClaim(made.kernel, 0))
        cases.push_back(std::move(made));
    }
    const auto claimed = inspect(*InspectorProperty::shared, cases, chance(random, 50) ? 4096 : 5,
                                 chance(random, 30) ? 1 : 0);
    ASSERT_EQ(claimed.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Case& each = cases[i];
      const bool says = std::ranges::find(claimed[i], everything) == claimed[i].end();
      bool cantTell = false;
      const Places places = placesOf(each, cantTell);
      if (says)
        ASSERT_NE(places, Places::Shared) << describe(each);
      else if (places == Places::Distinct && !cantTell && each.range.local[0] == 1)
        ADD_FAILURE() << "not known to be distinct: " << describe(each);
      distinct += says && places == Places::Distinct;
      shared += places == Places::Shared;
    }
  });
  if (!std::getenv("LIBSPLIT_TEST_FIRST_SEED")) {
    EXPECT_GT(distinct, 10u);
    EXPECT_GT(shared, 10u);
  }
}

const Expr g0 = Expr::id(Op::GlobalId, 0);

Case overEightItems() {
  Case made;
  made.range.global[0] = 8;
  made.range.local[0] = 2;
  return made;
}

Interval bytesOf(std::int64_t first, std::int64_t end) {
  return {middle + first, middle + end - 1};
}

TEST_F(InspectorProperty, nestedGathersAreKnownToTheElement) {
  Case nested = overEightItems();
  nested.buffers[1] = bufferOf<std::int32_t>({7, 0, 6, 1, 5, 2, 4, 3});
  nested.buffers[2] = bufferOf<std::int32_t>({10, 11, 12, 13, 14, 15, 16, 17});
  nested.goesTo(c(4) * intAt(2, intAt(1, g0)));
  EXPECT_EQ(cellsOf(nested),
            (std::vector{bytesOf(40, 72), bytesOf(44, 68), bytesOf(48, 64), bytesOf(52, 60)}));
}

TEST_F(InspectorProperty, anElementOutsideOfItsBufferMakesItsGroupUnknownAndNoOther) {
  for (const std::int32_t bad : {8, -1, INT32_MAX, INT32_MIN}) {
    Case outside = overEightItems();
    outside.buffers[1] = bufferOf<std::int32_t>({0, 1, 2, bad, 4, 5, 6, 7});
    outside.buffers[2] = bufferOf<std::int32_t>({0, 1, 2, 3, 4, 5, 6, 7});
    outside.goesTo(c(4) * intAt(2, intAt(1, g0)));
    EXPECT_EQ(cellsOf(outside),
              (std::vector{bytesOf(0, 8), everything, bytesOf(16, 24), bytesOf(24, 32)}));
  }
}

TEST_F(InspectorProperty, aConditionThatFailsMakesUpForElementsThatAreNotThere) {
  // if (g0 < n && index[g0] >= 0) x[index[g0]], with n elements in `index`
  Case guarded = overEightItems();
  guarded.buffers[1] = bufferOf<std::int32_t>({3, -1, -1, -1, 5, 2});
  guarded.number = 6;
  guarded.goesTo(c(4) * intAt(1, g0));
  guarded.access().guards = {{c(0), Guard::Relation::LessEqual, intAt(1, g0)},
                             {g0, Guard::Relation::Less, Expr::argument(3, 32, true)}};
  EXPECT_EQ(cellsOf(guarded), (std::vector{bytesOf(12, 16), nothing, bytesOf(8, 24), nothing}));
}

TEST_F(InspectorProperty, aLoopThatIsTooLongIsGivenUp) {
  Case tooLong = overEightItems();
  tooLong.buffers[1] = bufferOf<std::int32_t>({1, 1, 1 << 30, 1, 1, 1, 1, 1});
  tooLong.buffers[2] = bufferOf<std::int32_t>({0, 5});
  tooLong.access().loops = {{intAt(1, g0)}};
  tooLong.goesTo(c(4) * intAt(2, Expr::node(Op::RemTrunc, {Expr::loop(0), c(2)})));
  EXPECT_EQ(cellsOf(tooLong),
            (std::vector{bytesOf(0, 4), everything, bytesOf(0, 4), bytesOf(0, 4)}));
}

TEST_F(InspectorProperty, aLoopThatTheAddressIsAffineInIsNotRunThrough) {
  Case affine = overEightItems();
  affine.buffers[1] = bufferOf<std::int32_t>({1, 1, 1 << 30, 0, 1, 1, 0, 0});
  affine.access().loops = {{intAt(1, g0)}};
  affine.goesTo(c(4) * Expr::loop(0));
  EXPECT_EQ(cellsOf(affine), (std::vector{bytesOf(0, 4), bytesOf(0, std::int64_t{4} << 30),
                                          bytesOf(0, 4), nothing}));
}

TEST(CellGrid, gathersGroupsWhereThereAreTooMany) {
  NDRange range{2, {}, {1000, 30, 1}, {1, 1, 1}};
  EXPECT_EQ(gridOf(range), (CellGrid{{1, 1, 1}, {1000, 30, 1}}));
  const CellGrid few = gridOf(range, 1000);
  EXPECT_EQ(few, (CellGrid{{32, 1, 1}, {32, 30, 1}}));
}

} // namespace
} // namespace libsplit::runtime
