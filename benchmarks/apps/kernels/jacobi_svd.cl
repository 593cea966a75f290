// Singular values by one-sided Jacobi rotations (M. R. Hestenes, 1958): pairs of columns are turned
// until they are orthogonal. Columns lie one after the other, `rows` of the matrix and behind them
// `columns` of the rotations so far.
//
// In each of columns - 1 steps, every column is in one pair, as in a tournament: the first stays, the
// others move on by one place around the table, and who faces each other makes a pair. A work-group
// has a pair.
kernel void rotate_pairs(uint rows, uint columns, uint step, global float *data,
                         local float *partial) {
  const uint me = get_local_id(0), size = get_local_size(0), pair = get_group_id(0);
  const uint others = columns - 1, length = rows + columns;
  const uint first = pair == 0 ? 0 : (pair + step) % others + 1;
  const uint second = (columns - 1 - pair + step) % others + 1;
  global float *a = data + first * length, *b = data + second * length;

  float aa = 0.0f, bb = 0.0f, ab = 0.0f;
  for (uint i = me; i < rows; i += size) {
    aa += a[i] * a[i];
    bb += b[i] * b[i];
    ab += a[i] * b[i];
  }
  partial[me] = aa;
  partial[size + me] = bb;
  partial[2 * size + me] = ab;
  for (uint reach = size / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < reach)
      for (uint k = 0; k < 3; ++k)
        partial[k * size + me] += partial[k * size + me + reach];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  aa = partial[0];
  bb = partial[size];
  ab = partial[2 * size];

  if (fabs(ab) <= 1e-7f * sqrt(aa * bb))
    return;
  const float zeta = (bb - aa) / (2.0f * ab);
  const float tangent = (zeta < 0.0f ? -1.0f : 1.0f) / (fabs(zeta) + sqrt(1.0f + zeta * zeta));
  const float cosine = rsqrt(1.0f + tangent * tangent), sine = cosine * tangent;
  for (uint i = me; i < length; i += size) {
    const float x = a[i], y = b[i];
    a[i] = cosine * x - sine * y;
    b[i] = sine * x + cosine * y;
  }
}
