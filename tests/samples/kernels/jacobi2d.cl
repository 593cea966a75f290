// One Jacobi step for Laplace's equation: the mean of the four neighbours, boundary left alone.
kernel void jacobi2d(int width, int height, global const float* in, global float* out) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    const int i = y * width + x;
    out[i] = 0.25f * (in[i - width] + in[i + width] + in[i - 1] + in[i + 1]);
  }
}
