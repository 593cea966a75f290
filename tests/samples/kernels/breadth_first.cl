// One level of a breadth-first search. Several work-items may reach a node at once; all of them
// write the same.
kernel void breadth_first(global const uint* edgeBegin, global const uint* edges, uint nodes,
                          global int* level, int depth, global int* changed) {
  const uint node = get_global_id(0);
  if (node >= nodes || level[node] != depth)
    return;
  for (uint e = edgeBegin[node]; e < edgeBegin[node + 1]; ++e)
    if (level[edges[e]] == -1) {
      level[edges[e]] = depth + 1;
      *changed = 1;
    }
}
