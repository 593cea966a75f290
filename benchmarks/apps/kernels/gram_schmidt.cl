// The modified Gram-Schmidt process on the columns of a row-major, n x n matrix `a`: a = q r.

// The length of column k, by one work-group: r[k][k].
kernel void norm(uint n, uint k, global const float *a, global float *r, local float *partial) {
  const uint me = get_local_id(0);
  float sum = 0.0f;
  for (uint i = me; i < n; i += get_local_size(0))
    sum += a[i * n + k] * a[i * n + k];
  partial[me] = sum;
  for (uint reach = get_local_size(0) / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < reach)
      partial[me] += partial[me + reach];
  }
  if (me == 0)
    r[k * n + k] = sqrt(partial[0]);
}

kernel void normalise(uint n, uint k, global const float *a, global const float *r,
                      global float *q) {
  const uint i = get_global_id(0);
  if (i < n)
    q[i * n + k] = a[i * n + k] / r[k * n + k];
}

// Takes the part along column k of q from each later column.
kernel void project(uint n, uint k, global float *a, global float *r, global const float *q) {
  const uint j = get_global_id(0);
  if (j <= k || j >= n)
    return;
  float sum = 0.0f;
  for (uint i = 0; i < n; ++i)
    sum += q[i * n + k] * a[i * n + j];
  r[k * n + j] = sum;
  for (uint i = 0; i < n; ++i)
    a[i * n + j] -= q[i * n + k] * sum;
}
