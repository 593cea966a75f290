// What one evaluation of a ten-argument kernel costs at a launch. Target: under 20 µs.
#include "analysis-pass/summary/evaluate.h"

#include <benchmark/benchmark.h>

#include <array>

namespace libsplit {
namespace {

using Op = Expr::Op;

const Expr g0 = Expr::id(Op::GlobalId, 0);
const Expr g1 = Expr::id(Op::GlobalId, 1);
const Expr g2 = Expr::id(Op::GlobalId, 2);
const Expr width = Expr::argument(10, 32, true);

Expr index32(const Expr& e) {
  return Expr::wrap(e, 32, true);
}
Expr bytes(const Expr& index) {
  return Expr::constant(4) * index;
}

/// Ten buffers, each read or written at `offset`, guarded by x < width.
KernelSummary kernel(const Expr& offset) {
  KernelSummary k;
  for (unsigned i = 0; i < 10; ++i) {
    k.parameters.push_back({"a", "float*", ParameterKind::GlobalBuffer, 0});
    Access access;
    access.parameter = i;
    access.effect = i < 5 ? Effect::Read : Effect::Write;
    access.certain = true;
    access.offset = offset;
    access.length = 4;
    access.guards = {{g0, Guard::Relation::Less, width}};
    k.accesses.push_back(access);
  }
  k.parameters.push_back({"width", "int", ParameterKind::Scalar, 4});
  return k;
}

void run(benchmark::State& state, const KernelSummary& k, const NDRange& range, const GroupBox& box,
         std::int32_t w = 1000) {
  std::vector<ArgumentValue> arguments(10, {{}, std::uint64_t{1} << 30});
  arguments.push_back({std::as_bytes(std::span(&w, 1)), 0});
  std::size_t ranges = 0;
  for (auto _ : state) {
    const auto regions = evaluate(k, range, arguments, box);
    benchmark::DoNotOptimize(regions.data());
    ranges = regions[9].possibleWrites.ranges().size();
  }
  state.counters["ranges"] = static_cast<double>(ranges);
}

void vector1d(benchmark::State& state) {
  const NDRange range{1, {}, {1 << 20, 1, 1}, {256, 1, 1}};
  run(state, kernel(bytes(index32(g0))), range, slab(range, 0, 100, 2000), 1 << 20);
}
BENCHMARK(vector1d);

void rows2d(benchmark::State& state) {
  const NDRange range{2, {}, {1024, 1024, 1}, {16, 16, 1}};
  run(state, kernel(bytes(index32(g1 * width + g0))), range, slab(range, 1, 10, 20));
}
BENCHMARK(rows2d);

void columns2d(benchmark::State& state) {
  const NDRange range{2, {}, {1024, 64, 1}, {16, 16, 1}};
  run(state, kernel(bytes(index32(g1 * width + g0))), range, slab(range, 0, 10, 20));
}
BENCHMARK(columns2d);

void planes3d(benchmark::State& state) {
  const NDRange range{3, {}, {64, 8, 64}, {8, 8, 1}};
  run(state, kernel(bytes(index32((g2 * Expr::constant(64) + g1) * width + g0))), range,
      slab(range, 2, 3, 11));
}
BENCHMARK(planes3d);

void flattened2d(benchmark::State& state) {
  const NDRange range{1, {}, {1 << 16, 1, 1}, {64, 1, 1}};
  const Expr row = Expr::node(Op::DivTrunc, {index32(g0), Expr::constant(1000)});
  const Expr column = Expr::node(Op::RemTrunc, {index32(g0), Expr::constant(1000)});
  run(state, kernel(bytes(row * Expr::constant(1024) + column)), range, slab(range, 0, 100, 500),
      1 << 16);
}
BENCHMARK(flattened2d);

void loop(benchmark::State& state) {
  const NDRange range{2, {}, {1024, 1024, 1}, {16, 16, 1}};
  KernelSummary k = kernel(bytes(index32(g1 * width + Expr::loop(0))));
  for (Access& a : k.accesses)
    a.loops = {{width, true}};
  run(state, k, range, slab(range, 1, 10, 20));
}
BENCHMARK(loop);

using Point = std::array<Expr, 3>;

/// Reads of a cube of 256 floats a side, at what `at` makes of each point and the side, for half of
/// its planes or two.
template <class At> void cube(benchmark::State& state, int points, int inset, const At& at) {
  const Expr side = Expr::argument(1, 32, false);
  KernelSummary k;
  k.parameters = {{"a", "float*", ParameterKind::GlobalBuffer, 0},
                  {"side", "uint", ParameterKind::Scalar, 4}};
  for (int point = 0; point < points; ++point) {
    Access access;
    const auto [x, y, z] = at(point, side);
    access.offset = bytes(Expr::wrap((z * side + y) * side + x, 32, false));
    access.length = 4;
    for (const Expr& id : {g0, g1, g2}) {
      access.guards.push_back({Expr::constant(inset - 1), Guard::Relation::Less, id});
      access.guards.push_back({id, Guard::Relation::Less, side + Expr::constant(-inset)});
    }
    k.accesses.push_back(access);
  }
  const NDRange range{3, {}, {256, 256, 256}, {16, 4, 2}};
  const std::uint32_t n = 256;
  const std::vector<ArgumentValue> arguments{{{}, std::uint64_t{4} * n * n * n},
                                             {std::as_bytes(std::span(&n, 1)), 0}};
  const auto planes = static_cast<std::uint64_t>(state.range(0)) / 2;
  std::size_t ranges = 0;
  for (auto _ : state) {
    const auto regions = evaluate(k, range, arguments, slab(range, 2, 64, 64 + planes));
    benchmark::DoNotOptimize(regions.data());
    ranges = regions[0].reads.ranges().size();
  }
  state.counters["ranges"] = static_cast<double>(ranges);
}

/// The 64 points around each, periodically.
void periodicPoints3d(benchmark::State& state) {
  cube(state, 64, 0, [](int point, const Expr& side) {
    const auto around = [&](const Expr& id, int distance) {
      const Expr shifted = Expr::wrap(id + side + Expr::constant(distance), 32, false);
      return Expr::node(Op::RemTrunc, {shifted, side});
    };
    return Point{around(g0, point % 4 - 1), around(g1, point / 4 % 4 - 1),
                 around(g2, point / 16 - 1)};
  });
}
BENCHMARK(periodicPoints3d)->Arg(128)->Arg(2);

/// A stencil of seven points in the interior, which leaves gaps between all rows.
void interiorPoints3d(benchmark::State& state) {
  cube(state, 7, 1, [](int point, const Expr&) {
    Point at{g0, g1, g2};
    if (point < 6)
      at[static_cast<std::size_t>(point / 2)] =
          at[static_cast<std::size_t>(point / 2)] + Expr::constant(point % 2 == 0 ? -1 : 1);
    return at;
  });
}
BENCHMARK(interiorPoints3d)->Arg(128)->Arg(2);

/// Rows of a sparse matrix, with contents that are found at once.
void sparseRows(benchmark::State& state) {
  struct Known : Contents {
    std::optional<Interval> values(const ElementSlice& slice) override {
      const Int first = slice.first, last = slice.last;
      return slice.parameter == 0 ? Interval{4 * first, 4 * last} : Interval{0, 1 << 20};
    }
  } known;
  auto intAt = [](unsigned parameter, const Expr& element) {
    return Expr::load(parameter, bytes(element), 32, true);
  };
  const Expr begin = intAt(0, g0), end = intAt(0, g0 + Expr::constant(1));
  const Expr j = index32(begin + Expr::loop(0));
  KernelSummary k;
  k.parameters.resize(5, {"a", "int*", ParameterKind::GlobalBuffer, 0});
  for (const auto& [parameter, offset] :
       {std::pair{1U, bytes(j)}, {2U, bytes(j)}, {3U, bytes(intAt(1, j))}}) {
    Access access;
    access.parameter = parameter;
    access.offset = offset;
    access.length = 4;
    access.loops = {{Expr::node(Op::Max, {end + Expr::constant(-1) * begin, Expr::constant(0)})}};
    k.accesses.push_back(access);
  }
  const NDRange range{1, {}, {1 << 20, 1, 1}, {64, 1, 1}};
  const std::vector<ArgumentValue> arguments(5, {{}, std::uint64_t{1} << 30});
  for (auto _ : state) {
    const auto regions = evaluate(k, range, arguments, slab(range, 0, 100, 5000), 65536, &known);
    benchmark::DoNotOptimize(regions.data());
  }
}
BENCHMARK(sparseRows);

} // namespace
} // namespace libsplit
