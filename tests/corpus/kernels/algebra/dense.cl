// Steps of LU, Cholesky, Gauss-Jordan and Floyd-Warshall: each launch reads a row and a column of the
// very matrix that it changes.
//@ buffer lu 48*48*4 float 1
//@ buffer gj 48*96*4 float 2
//@ buffer ch 48*48*4 float 3
//@ buffer fw 48*48*4 below:1000 4
//@ buffer next 48*48*4 below:48 5
//@ run dominant g=48 l=8 : lu int=48 int=48
//@ run dominant g=48 l=8 : gj int=96 int=48
//@ run symmetric g=48,48 l=8,8 : ch int=48
//@ for k 0..12
//@ run lu_column g=48 l=4 : lu int=48 int=$k
//@ run lu_update g=48,48 l=8,4 : lu int=48 int=$k
//@ run gj_row g=96 l=8 : gj int=96 int=$k
//@ run gj_eliminate g=96,48 l=8,8 o=0,0 : gj int=96 int=$k
//@ run cholesky_column g=48 l=8 : ch int=48 int=$k
//@ run cholesky_update g=48,48 l=8,8 : ch int=48 int=$k
//@ run floyd_warshall g=48,48 l=16,4 : fw next int=48 int=$k
//@ end
kernel void dominant(global float* a, int pitch, int n) {
  int i = get_global_id(0);
  if (i < n)
    a[i * pitch + i] += 2 * n;
}
kernel void symmetric(global float* a, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x == y)
    a[y * n + x] += 2 * n;
  else if (x > y)
    a[y * n + x] = 0;
}
kernel void lu_column(global float* a, int n, int k) {
  int i = get_global_id(0);
  if (i > k)
    a[i * n + k] /= a[k * n + k];
}
kernel void lu_update(global float* a, int n, int k) {
  int j = get_global_id(0), i = get_global_id(1);
  if (i <= k || j <= k)
    return;
  a[i * n + j] -= a[i * n + k] * a[k * n + j];
}
kernel void gj_row(global float* a, int n, int k) {
  int j = get_global_id(0);
  if (j > k)
    a[k * n + j] /= a[k * n + k];
}
kernel void gj_eliminate(global float* a, int n, int k) {
  int j = get_global_id(0), i = get_global_id(1);
  if (i != k && j > k)
    a[i * n + j] -= a[i * n + k] * a[k * n + j];
}
kernel void cholesky_column(global float* a, int n, int k) {
  int i = get_global_id(0);
  if (i > k)
    a[i * n + k] *= rsqrt(a[k * n + k]);
}
kernel void cholesky_update(global float* a, int n, int k) {
  int j = get_global_id(0), i = get_global_id(1);
  if (j > k && i >= j)
    a[i * n + j] = fma(-a[i * n + k], a[j * n + k], a[i * n + j]);
}
// Rows and columns k do not change in step k: what other groups read is what they write back.
kernel void floyd_warshall(global uint* d, global uint* next, int n, int k) {
  int j = get_global_id(0), i = get_global_id(1);
  uint through = d[i * n + k] + d[k * n + j];
  if (i != k && j != k && through < d[i * n + j]) {
    d[i * n + j] = through;
    next[i * n + j] = next[i * n + k];
  }
}
