// `size` bodies under their own gravity through `iterations` steps, by a tree that the host builds
// anew for each: two clouds fall into each other and become denser. A work-item's load is the
// length of its walk through the tree; it is uneven along the NDRange and moves from step to step.
#include "kernels/tree_gravity.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace {

constexpr std::size_t groupSize = 64;
constexpr float angle = 0.6F, timeStep = 0.02F;

struct Node {
  float x, y, z, mass;
  float width;
  cl_uint skip;
};

/// Bodies in the order of the tree's leaves.
struct Bodies {
  std::vector<cl_float4> position, velocity; // w: mass, nothing
};

class Tree {
public:
  /// Sorts `bodies`.
  explicit Tree(Bodies& bodies) : bodies_(bodies) {
    std::array<float, 3> low{}, high{};
    for (const cl_float4& at : bodies.position)
      for (int k = 0; k < 3; ++k) {
        low[k] = std::min(low[k], at.s[k]);
        high[k] = std::max(high[k], at.s[k]);
      }
    float width = 0;
    for (int k = 0; k < 3; ++k)
      width = std::max(width, high[k] - low[k]);
    build(0, bodies.position.size(), low, width * 1.001F, 0);
  }

  const std::vector<Node>& nodes() const { return nodes_; }

private:
  /// The node of bodies [begin, end), which lie in the cube of `width` from `corner` on.
  void build(std::size_t begin, std::size_t end, const std::array<float, 3>& corner, float width,
             int depth) {
    if (begin == end)
      return;
    const std::size_t self = nodes_.size();
    nodes_.emplace_back();
    double mass = 0, x = 0, y = 0, z = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const cl_float4& at = bodies_.position[i];
      mass += at.s[3];
      x += double{at.s[3]} * at.s[0];
      y += double{at.s[3]} * at.s[1];
      z += double{at.s[3]} * at.s[2];
    }
    // Bodies in one place would have to be told apart for ever.
    const bool isLeaf = end - begin == 1 || depth == 20;
    if (!isLeaf) {
      const float half = width / 2;
      auto octant = [&](std::size_t i) {
        int result = 0;
        for (int k = 0; k < 3; ++k)
          result |= (bodies_.position[i].s[k] >= corner[k] + half) << k;
        return result;
      };
      std::array<std::size_t, 9> starts = sort(begin, end, octant);
      for (int child = 0; child < 8; ++child) {
        std::array<float, 3> childCorner = corner;
        for (int k = 0; k < 3; ++k)
          childCorner[k] += child >> k & 1 ? half : 0;
        build(starts[child], starts[child + 1], childCorner, half, depth + 1);
      }
    }
    nodes_[self] = {static_cast<float>(x / mass), static_cast<float>(y / mass),
                    static_cast<float>(z / mass), static_cast<float>(mass),
                    isLeaf ? 0 : width,           static_cast<cl_uint>(nodes_.size())};
  }

  /// Counting sort of bodies [begin, end) by octant; where each octant begins.
  template <typename Octant>
  std::array<std::size_t, 9> sort(std::size_t begin, std::size_t end, const Octant& octant) {
    std::array<std::size_t, 9> starts{};
    for (std::size_t i = begin; i < end; ++i)
      ++starts[octant(i) + 1];
    starts[0] = begin;
    for (int child = 0; child < 8; ++child)
      starts[child + 1] += starts[child];
    Bodies sorted{std::vector<cl_float4>(end - begin), std::vector<cl_float4>(end - begin)};
    std::array<std::size_t, 9> next = starts;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t to = next[octant(i)]++ - begin;
      sorted.position[to] = bodies_.position[i];
      sorted.velocity[to] = bodies_.velocity[i];
    }
    std::copy(sorted.position.begin(), sorted.position.end(), bodies_.position.begin() + begin);
    std::copy(sorted.velocity.begin(), sorted.velocity.end(), bodies_.velocity.begin() + begin);
    return starts;
  }

  Bodies& bodies_;
  std::vector<Node> nodes_;
};

/// Two clouds, denser towards their middles, on their way to each other.
Bodies clouds(const sample::Sample& s, std::size_t n) {
  Bodies bodies{std::vector<cl_float4>(n), std::vector<cl_float4>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    const float side = i % 4 == 0 ? 1.0F : -0.3F; // one is three times as heavy
    const float radius = 0.5F * s.randomFloat(i, 0, 1, 1);
    std::array<float, 3> direction{};
    float square = 0;
    for (std::uint64_t k = 0; k < 3; ++k) {
      direction[k] = s.randomFloat(i, -1, 1, 2 + k);
      square += direction[k] * direction[k];
    }
    const float scale = radius / std::sqrt(square + 1e-6F);
    bodies.position[i] = {{side + scale * direction[0], scale * direction[1], scale * direction[2],
                           1.0F / static_cast<float>(n)}};
    bodies.velocity[i] = {{-0.3F * side, 0.2F * side, 0, 0}};
  }
  return bodies;
}

/// The exact sum for some of the bodies, against what their velocities changed by.
void check(const Bodies& before, const Bodies& after) {
  const std::size_t n = before.position.size();
  double error = 0, size = 0;
  for (std::size_t probe = 0; probe < 256; ++probe) {
    const std::size_t i = sample::randomBits(probe) % n;
    std::array<double, 3> force{};
    for (const cl_float4& other : before.position) {
      std::array<double, 3> to{};
      double square = 1e-4;
      for (int k = 0; k < 3; ++k) {
        to[k] = double{other.s[k]} - before.position[i].s[k];
        square += to[k] * to[k];
      }
      for (int k = 0; k < 3; ++k)
        force[k] += to[k] * other.s[3] / (square * std::sqrt(square));
    }
    for (int k = 0; k < 3; ++k) {
      const double change = double{after.velocity[i].s[k]} - before.velocity[i].s[k];
      error += std::pow(change / timeStep - force[k], 2);
      size += force[k] * force[k];
      sample::checkClose(after.position[i].s[k],
                         before.position[i].s[k] + double{timeStep} * after.velocity[i].s[k], 1e-5,
                         "position", i);
    }
  }
  sample::require(std::sqrt(error / size) < 0.02,
                  "forces are off by " + std::to_string(std::sqrt(error / size)));
}

void treeGravity(sample::Sample& s) {
  const std::size_t n = std::max<std::size_t>(s.options().size, 2);
  Bodies bodies = clouds(s, n), before;
  const auto queue = s.queue();
  const auto program = s.program(sample::treeGravitySource);
  const auto kernel = sample::kernel(program, "walk");
  const auto position = s.array<cl_float4>(n), velocity = s.array<cl_float4>(n);
  const auto nodes = s.array<Node>(8 * n);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    const Tree tree(bodies);
    sample::require(tree.nodes().size() <= 8 * n, "the tree is too large");
    before = bodies;
    s.timed([&] {
      sample::write(queue, nodes, tree.nodes());
      sample::write(queue, position, bodies.position);
      sample::write(queue, velocity, bodies.velocity);
      sample::setArguments(kernel, static_cast<cl_uint>(n),
                           static_cast<cl_uint>(tree.nodes().size()), angle, timeStep, nodes,
                           position, velocity);
      sample::launch(queue, kernel, {sample::roundUp(n, groupSize)}, {groupSize});
      sample::read(queue, position, bodies.position);
    });
    sample::read(queue, velocity, bodies.velocity);
  }
  s.verify([&] { check(before, bodies); });
  s.output(bodies.position);
  s.output(bodies.velocity);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 15, .iterations = 60}, treeGravity);
}
