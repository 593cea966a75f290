// Conjugate gradients for Poisson's equation with five points, without a matrix. Vectors hold a
// square grid; beyond it they are zero.

// The sum over the work-group, in work-item 0. Work-groups have a power of two of work-items.
void sum_of_group(local float *partial, float value, global float *sums) {
  const uint me = get_local_id(0);
  partial[me] = value;
  for (uint reach = get_local_size(0) / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < reach)
      partial[me] += partial[me + reach];
  }
  if (me == 0)
    sums[get_group_id(0)] = partial[0];
}

// q = A p, and p q.
kernel void apply(uint side, global const float *p, global float *q, global float *sums,
                  local float *partial) {
  const uint i = get_global_id(0);
  float product = 0.0f;
  if (i < side * side) {
    const uint x = i % side, y = i / side;
    float around = 0.0f;
    if (x > 0)
      around += p[i - 1];
    if (x < side - 1)
      around += p[i + 1];
    if (y > 0)
      around += p[i - side];
    if (y < side - 1)
      around += p[i + side];
    q[i] = 4.0f * p[i] - around;
    product = p[i] * q[i];
  }
  sum_of_group(partial, product, sums);
}

// x += alpha p, r -= alpha q, and r r.
kernel void advance(uint n, float alpha, global const float *p, global const float *q,
                    global float *x, global float *r, global float *sums, local float *partial) {
  const uint i = get_global_id(0);
  float square = 0.0f;
  if (i < n) {
    x[i] += alpha * p[i];
    const float rest = r[i] - alpha * q[i];
    r[i] = rest;
    square = rest * rest;
  }
  sum_of_group(partial, square, sums);
}

// p = r + beta p
kernel void turn(uint n, float beta, global const float *r, global float *p) {
  const uint i = get_global_id(0);
  if (i < n)
    p[i] = r[i] + beta * p[i];
}
