// A level of a breadth-first search in a graph with adjacency lists one after the other. level[v] is
// -1 as long as v was not reached.

// Every vertex looks whether it is on the frontier. Several may reach another, and write the same.
kernel void expand_flags(uint vertices, int depth, global const uint *begin,
                         global const uint *edges, global int *level, global int *changed) {
  const uint v = get_global_id(0);
  if (v >= vertices || level[v] != depth)
    return;
  for (uint e = begin[v]; e < begin[v + 1]; ++e)
    if (level[edges[e]] == -1) {
      level[edges[e]] = depth + 1;
      *changed = 1;
    }
}

// The frontier is a queue, to which the next one is appended in any order.
kernel void expand_queue(uint count, int depth, global const uint *begin, global const uint *edges,
                         volatile global int *level, global const uint *queue, global uint *next,
                         volatile global uint *nextCount) {
  const uint i = get_global_id(0);
  if (i >= count)
    return;
  const uint v = queue[i];
  for (uint e = begin[v]; e < begin[v + 1]; ++e)
    if (atomic_cmpxchg(&level[edges[e]], -1, depth + 1) == -1)
      next[atomic_inc(nextCount)] = edges[e];
}
