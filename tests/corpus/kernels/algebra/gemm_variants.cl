// Matrix products as in BLAS kernels: row and column major, register blocks, vector columns, triangles.
//@ splits register_blocks
//@ splits column_major_gemm
//@ splits triangle
//@ buffer a 64*64*4 float 1
//@ buffer b 64*64*4 float 2
//@ buffer c 64*64*4 float 3
//@ buffer d 64*64*4 float 4
//@ run register_blocks g=16,16 l=4,4 : a b c int=64
//@ run column_major_gemm g=64,64 l=8,8 : int=64 int=64 int=64 float=0.5 a int=64 b int=64 float=2.0 d int=64
//@ run triangle g=64 l=4 : a b int=64
//@ run vector_columns g=16,64 l=4,8 : a d c
kernel void register_blocks(global const float* a, global const float* b, global float* c, int n) {
  int x = get_global_id(0) * 4, y = get_global_id(1) * 4;
  float acc[4][4] = {{0}};
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i)
        acc[j][i] += a[(y + j) * n + k] * b[k * n + x + i];
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      c[(y + j) * n + x + i] += acc[j][i];
}
kernel void column_major_gemm(const int m, const int n, const int k, const float alpha,
                              const __global float* restrict a, const int lda,
                              const __global float* restrict b, const int ldb, const float beta,
                              __global float* restrict c, const int ldc) {
  const int row = get_global_id(0), col = get_global_id(1);
  if (row >= m || col >= n)
    return;
  float acc = 0;
  for (int i = 0; i < k; i++)
    acc = mad(a[i * lda + row], b[col * ldb + i], acc);
  c[col * ldc + row] = alpha * acc + (beta == 0 ? 0 : beta * c[col * ldc + row]);
}
kernel void triangle(global const float* a, global float* b, int n) {
  int i = get_global_id(0);
  for (int j = 0; j <= i; ++j) {
    float sum = 0;
    for (int k = j; k <= i; k++)
      sum += a[i * n + k] * a[k * n + j];
    b[i * n + j] = sum;
  }
}
kernel void vector_columns(global const float* a, global const float4* b, global float4* c) {
  size_t x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
  float4 sum = 0;
  for (size_t k = 0; k < 64; k++)
    sum += a[y * 64 + k] * b[k * w + x];
  vstore4(sum, y * w + x, (global float*)c);
}
