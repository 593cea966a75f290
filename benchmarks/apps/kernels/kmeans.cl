// Lloyd's algorithm in four dimensions.

kernel void assign_points(uint n, uint clusters, global const float4 *points,
                          constant float4 *centres, global uint *memberOf) {
  const uint i = get_global_id(0);
  if (i >= n)
    return;
  uint nearest = 0;
  float least = INFINITY;
  for (uint c = 0; c < clusters; ++c) {
    const float4 to = points[i] - centres[c];
    const float square = dot(to, to);
    if (square < least) {
      least = square;
      nearest = c;
    }
  }
  memberOf[i] = nearest;
}

// What each work-group's points, `each` for a work-item, add up to by cluster. A work-item sums up
// for a cluster at a time.
kernel void sum_clusters(uint n, uint clusters, uint each, global const float4 *points,
                         global const uint *memberOf, global float4 *sums, global uint *counts) {
  const uint length = each * get_local_size(0);
  const uint begin = get_group_id(0) * length, end = min(begin + length, n);
  for (uint c = get_local_id(0); c < clusters; c += get_local_size(0)) {
    float4 sum = 0.0f;
    uint count = 0;
    for (uint i = begin; i < end; ++i)
      if (memberOf[i] == c) {
        sum += points[i];
        ++count;
      }
    sums[get_group_id(0) * clusters + c] = sum;
    counts[get_group_id(0) * clusters + c] = count;
  }
}
