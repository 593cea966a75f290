// Causal self-attention with several heads. Rows are tokens; head h has columns [h * WIDTH, (h + 1) *
// WIDTH) of queries, keys, values and the blend, and a square of scores, one behind the other.

// out = in * weights, with `width` columns each.
kernel void project(uint tokens, uint width, global const float *in, global const float *weights,
                    global float *out) {
  const uint column = get_global_id(0), token = get_global_id(1);
  if (column >= width || token >= tokens)
    return;
  float sum = 0.0f;
  for (uint k = 0; k < width; ++k)
    sum += in[token * width + k] * weights[k * width + column];
  out[token * width + column] = sum;
}

// How much a token attends to each up to itself.
kernel void score(uint tokens, uint width, global const float *queries, global const float *keys,
                  global float *scores) {
  const uint other = get_global_id(0), token = get_global_id(1), head = get_global_id(2);
  if (other >= tokens || token >= tokens)
    return;
  float sum = -INFINITY;
  if (other <= token) {
    sum = 0.0f;
    for (uint k = head * WIDTH; k < (head + 1) * WIDTH; ++k)
      sum += queries[token * width + k] * keys[other * width + k];
    sum *= rsqrt((float)WIDTH);
  }
  scores[(head * tokens + token) * tokens + other] = sum;
}

// Each row in place, by a work-group of a power of two of work-items.
kernel void softmax(uint tokens, global float *scores, local float *partial) {
  const uint me = get_local_id(0), size = get_local_size(0);
  global float *row = scores + get_group_id(0) * tokens;
  float greatest = -INFINITY;
  for (uint i = me; i < tokens; i += size)
    greatest = fmax(greatest, row[i]);
  partial[me] = greatest;
  for (uint reach = size / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < reach)
      partial[me] = fmax(partial[me], partial[me + reach]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  greatest = partial[0];
  barrier(CLK_LOCAL_MEM_FENCE);

  float sum = 0.0f;
  for (uint i = me; i < tokens; i += size) {
    row[i] = exp(row[i] - greatest);
    sum += row[i];
  }
  partial[me] = sum;
  for (uint reach = size / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < reach)
      partial[me] += partial[me + reach];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = me; i < tokens; i += size)
    row[i] /= partial[0];
}

// The values of those attended to.
kernel void blend(uint tokens, uint width, global const float *scores, global const float *values,
                  global float *out) {
  const uint column = get_global_id(0), token = get_global_id(1);
  if (column >= width || token >= tokens)
    return;
  global const float *row = scores + (column / WIDTH * tokens + token) * tokens;
  float sum = 0.0f;
  for (uint other = 0; other <= token; ++other)
    sum += row[other] * values[other * width + column];
  out[token * width + column] = sum;
}
