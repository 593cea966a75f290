// Distances from one node of a random graph, level by level until nothing changes. Which nodes a
// work-item writes stands in memory, and the flag that ends the search is written by many.
#include "kernels/breadth_first.h"
#include "tests/samples/sample.h"

#include <deque>

namespace {

struct Graph {
  std::vector<cl_uint> edgeBegin{0};
  std::vector<cl_uint> edges;
};

Graph randomGraph(std::size_t nodes) {
  Graph graph;
  for (std::size_t node = 0; node < nodes; ++node) {
    for (std::size_t k = sample::randomBits(node) % 4; k-- > 0;)
      graph.edges.push_back(
          static_cast<cl_uint>(sample::randomBits(graph.edges.size(), 1) % nodes));
    graph.edgeBegin.push_back(static_cast<cl_uint>(graph.edges.size()));
  }
  return graph;
}

std::vector<cl_int> distances(const Graph& graph) {
  std::vector<cl_int> level(graph.edgeBegin.size() - 1, -1);
  level[0] = 0;
  for (std::deque<cl_uint> next{0}; !next.empty(); next.pop_front())
    for (cl_uint e = graph.edgeBegin[next.front()]; e < graph.edgeBegin[next.front() + 1]; ++e)
      if (cl_int& to = level[graph.edges[e]]; to == -1) {
        to = level[next.front()] + 1;
        next.push_back(graph.edges[e]);
      }
  return level;
}

void breadthFirst(sample::Sample& s) {
  const std::size_t nodes = s.options().size;
  Graph graph = randomGraph(nodes);
  std::vector<cl_int> level(nodes, -1);
  level[0] = 0;
  const auto queue = s.queue();
  const auto program = s.program(sample::breadthFirstSource);
  const auto kernel = sample::kernel(program, "breadth_first");
  const cl_mem_flags input = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
  const auto edgeBegin =
      s.buffer(input, graph.edgeBegin.size() * sizeof(cl_uint), graph.edgeBegin.data());
  const auto edges = s.buffer(input, graph.edges.size() * sizeof(cl_uint), graph.edges.data());
  const auto levels =
      s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, nodes * sizeof(cl_int), level.data());
  const auto flag = s.buffer(CL_MEM_READ_WRITE, sizeof(cl_int));
  const std::vector<cl_int> none{0};
  std::vector<cl_int> changed{1};
  for (cl_int depth = 0; changed[0] != 0; ++depth) {
    sample::write(queue, flag, none);
    sample::setArguments(kernel, edgeBegin, edges, static_cast<cl_uint>(nodes), levels, depth,
                         flag);
    sample::launch(queue, kernel, {sample::roundUp(nodes, 64)}, {64});
    sample::read(queue, flag, changed);
    sample::require(depth < static_cast<cl_int>(nodes), "the search does not end");
  }
  sample::read(queue, levels, level);
  sample::require(level == distances(graph), "wrong distances");
  s.output(level);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 20000}, breadthFirst);
}
