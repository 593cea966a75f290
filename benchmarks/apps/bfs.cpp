// Breadth-first searches in a random graph of `size` vertices, `iterations` of them from different
// vertices, each timed as a whole. A level is found by looking at all vertices (variant flags), or
// at those of a queue that the level before has filled (queue).
#include "kernels/bfs.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <utility>

namespace {

constexpr std::size_t groupSize = 64;

struct Graph {
  std::vector<cl_uint> begin{0}, edges;

  /// Most vertices have few edges, some have many.
  Graph(const sample::Sample& s, std::size_t vertices) {
    for (std::size_t v = 0; v < vertices; ++v) {
      const std::uint64_t bits = s.randomBits(v, 1);
      const std::size_t degree = bits % 64 == 0 ? 40 : bits % 5;
      for (std::size_t k = 0; k < degree; ++k)
        edges.push_back(static_cast<cl_uint>(s.randomBits(edges.size(), 2) % vertices));
      begin.push_back(static_cast<cl_uint>(edges.size()));
    }
  }

  std::size_t vertices() const { return begin.size() - 1; }

  std::vector<cl_int> levels(cl_uint source) const {
    std::vector<cl_int> level(vertices(), -1);
    level[source] = 0;
    std::vector<cl_uint> queue{source};
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (cl_uint e = begin[queue[i]]; e < begin[queue[i] + 1]; ++e)
        if (cl_int& to = level[edges[e]]; to == -1) {
          to = level[queue[i]] + 1;
          queue.push_back(edges[e]);
        }
    return level;
  }
};

class Search {
public:
  Search(sample::Sample& s, const Graph& graph)
      : vertices_(graph.vertices()), queue_(s.queue()), program_(s.program(sample::bfsSource)),
        flags_(sample::kernel(program_, "expand_flags")),
        queueKernel_(sample::kernel(program_, "expand_queue")),
        begin_(s.copyOf(graph.begin, CL_MEM_READ_ONLY)),
        edges_(s.copyOf(graph.edges, CL_MEM_READ_ONLY)), level_(s.array<cl_int>(vertices_)),
        counter_(s.array<cl_uint>(1)), frontier_(s.array<cl_uint>(vertices_)),
        next_(s.array<cl_uint>(vertices_)) {}

  void start(cl_uint source) {
    std::vector<cl_int> level(vertices_, -1);
    level[source] = 0;
    const std::vector<cl_uint> frontier{source};
    sample::write(queue_, level_, level);
    sample::write(queue_, frontier_, frontier);
    sample::check(clFinish(queue_), "clFinish");
  }

  void byFlags() {
    std::vector<cl_uint> changed{1};
    for (cl_int depth = 0; changed[0] != 0; ++depth) {
      sample::write(queue_, counter_, zero_);
      sample::setArguments(flags_, static_cast<cl_uint>(vertices_), depth, begin_, edges_, level_,
                           counter_);
      sample::launch(queue_, flags_, {sample::roundUp(vertices_, groupSize)}, {groupSize});
      sample::read(queue_, counter_, changed);
    }
  }

  void byQueue() {
    std::vector<cl_uint> count{1};
    for (cl_int depth = 0; count[0] > 0; ++depth) {
      sample::write(queue_, counter_, zero_);
      sample::setArguments(queueKernel_, count[0], depth, begin_, edges_, level_, frontier_, next_,
                           counter_);
      sample::launch(queue_, queueKernel_, {sample::roundUp(count[0], groupSize)}, {groupSize});
      sample::read(queue_, counter_, count);
      std::swap(frontier_, next_);
    }
  }

  std::vector<cl_int> levels() const {
    std::vector<cl_int> level(vertices_);
    sample::read(queue_, level_, level);
    return level;
  }

private:
  const std::size_t vertices_;
  const std::vector<cl_uint> zero_{0};
  sample::Queue queue_;
  sample::Program program_;
  sample::Kernel flags_, queueKernel_;
  sample::Memory begin_, edges_, level_, counter_, frontier_, next_;
};

void bfs(sample::Sample& s) {
  const bool hasFlags = s.options().variant == "flags";
  sample::require(hasFlags || s.options().variant == "queue", "--variant is flags or queue");
  const Graph graph(s, std::max<std::size_t>(s.options().size, 1));
  Search search(s, graph);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    const auto source = static_cast<cl_uint>(s.randomBits(i, 3) % graph.vertices());
    search.start(source);
    s.timed([&] { hasFlags ? search.byFlags() : search.byQueue(); });
    const std::vector<cl_int> level = search.levels();
    s.verify([&] { sample::require(level == graph.levels(source), "wrong distances"); });
    s.output(level);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 20, .iterations = 5, .variant = "flags"}, bfs);
}
