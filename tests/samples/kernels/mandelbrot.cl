// Iterations until escape. Rows near the real axis cost the most.
kernel void mandelbrot(float left, float top, float step, uint limit, global uint* count) {
  const uint column = get_global_id(0);
  const uint row = get_global_id(1);
  const float cx = left + step * column;
  const float cy = top - step * row;
  float x = 0.0f;
  float y = 0.0f;
  uint n = 0;
  while (n < limit && x * x + y * y <= 4.0f) {
    const float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    ++n;
  }
  count[row * get_global_size(0) + column] = n;
}
