// Convolutions with weights in constant memory.

// 3 x 3, over the inner points of a plane.
kernel void plane(uint width, uint height, constant float *weights, global const float *in,
                  global float *out) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || x >= width - 1 || y < 1 || y >= height - 1)
    return;
  float sum = 0.0f;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      sum += weights[(dy + 1) * 3 + dx + 1] * in[(y + dy) * width + x + dx];
  out[y * width + x] = sum;
}

// 3 x 3 x 3, over the inner points of a cube.
kernel void volume(uint side, constant float *weights, global const float *in, global float *out) {
  const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x < 1 || x >= side - 1 || y < 1 || y >= side - 1 || z < 1 || z >= side - 1)
    return;
  float sum = 0.0f;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        sum += weights[((dz + 1) * 3 + dy + 1) * 3 + dx + 1] *
               in[((z + dz) * side + y + dy) * side + x + dx];
  out[(z * side + y) * side + x] = sum;
}

// (2 RADIUS + 1)^2 taps that are products of `taps`, in one pass; the image's edges go on for ever.
kernel void square(int width, int height, constant float *taps, global const float *in,
                   global float *out) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  float sum = 0.0f;
  for (int dy = -RADIUS; dy <= RADIUS; ++dy) {
    const int row = clamp(y + dy, 0, height - 1);
    float rowSum = 0.0f;
    for (int dx = -RADIUS; dx <= RADIUS; ++dx)
      rowSum += taps[RADIUS + dx] * in[row * width + clamp(x + dx, 0, width - 1)];
    sum += taps[RADIUS + dy] * rowSum;
  }
  out[y * width + x] = sum;
}

// The same in two passes.
kernel void rows(int width, int height, constant float *taps, global const float *in,
                 global float *out) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  float sum = 0.0f;
  for (int d = -RADIUS; d <= RADIUS; ++d)
    sum += taps[RADIUS + d] * in[y * width + clamp(x + d, 0, width - 1)];
  out[y * width + x] = sum;
}

kernel void columns(int width, int height, constant float *taps, global const float *in,
                    global float *out) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  float sum = 0.0f;
  for (int d = -RADIUS; d <= RADIUS; ++d)
    sum += taps[RADIUS + d] * in[clamp(y + d, 0, height - 1) * width + x];
  out[y * width + x] = sum;
}

// The two passes again: a group of GROUP x GROUP work-items first brings what it needs into local
// memory. The image's sides are multiples of GROUP, and RADIUS is no greater than it.
kernel void rows_local(int width, int height, constant float *taps, global const float *in,
                       global float *out) {
  local float tile[GROUP][3 * GROUP];
  const int x = get_global_id(0), y = get_global_id(1);
  const int column = get_local_id(0), row = get_local_id(1);
  for (int part = -1; part <= 1; ++part)
    tile[row][column + (part + 1) * GROUP] = in[y * width + clamp(x + part * GROUP, 0, width - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int d = -RADIUS; d <= RADIUS; ++d)
    sum += taps[RADIUS + d] * tile[row][GROUP + column + d];
  out[y * width + x] = sum;
}

kernel void columns_local(int width, int height, constant float *taps, global const float *in,
                          global float *out) {
  local float tile[3 * GROUP][GROUP];
  const int x = get_global_id(0), y = get_global_id(1);
  const int column = get_local_id(0), row = get_local_id(1);
  for (int part = -1; part <= 1; ++part)
    tile[row + (part + 1) * GROUP][column] = in[clamp(y + part * GROUP, 0, height - 1) * width + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int d = -RADIUS; d <= RADIUS; ++d)
    sum += taps[RADIUS + d] * tile[GROUP + row + d][column];
  out[y * width + x] = sum;
}
