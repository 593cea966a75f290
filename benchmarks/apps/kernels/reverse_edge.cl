// An image from its edges. Both kernels take the image to go on at the opposite side.

// What a point differs from the mean of its neighbours.
kernel void find_edges(uint width, uint height, global const float *image, global float *edges) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  const uint left = x == 0 ? width - 1 : x - 1, right = x == width - 1 ? 0 : x + 1;
  const uint above = y == 0 ? height - 1 : y - 1, below = y == height - 1 ? 0 : y + 1;
  const float mean = 0.25f * (image[y * width + left] + image[y * width + right] +
                              image[above * width + x] + image[below * width + x]);
  edges[y * width + x] = image[y * width + x] - mean;
}

// A step of Jacobi's method towards the image that has these edges.
kernel void reverse_edges(uint width, uint height, global const float *edges,
                          global const float *in, global float *out) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  const uint left = x == 0 ? width - 1 : x - 1, right = x == width - 1 ? 0 : x + 1;
  const uint above = y == 0 ? height - 1 : y - 1, below = y == height - 1 ? 0 : y + 1;
  out[y * width + x] = edges[y * width + x] +
                       0.25f * (in[y * width + left] + in[y * width + right] +
                                in[above * width + x] + in[below * width + x]);
}
