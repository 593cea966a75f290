// CSR and ELL products, breadth-first search with flags, pagerank, pointer jumping.
//@ splits ell
//@ buffer rowptr 257*4 rising:9 1
//@ buffer col 4096*4 below:256 2
//@ buffer val 4096*4 float 3
//@ buffer x 256*4 float 4
//@ buffer y 256*4 zero
//@ buffer z 256*4 zero
//@ buffer level 256*4 zero
//@ buffer changed 64 zero
//@ buffer parent 256*4 below:256 5
//@ buffer grand 256*4 zero
//@ run csr_scalar g=256 l=16 : rowptr col val x y int=256
//@ run csr_vector g=1024 l=64 : rowptr col val y z local=256
//@ run ell g=256 l=32 : col val x y int=16 int=256
//@ fill level 0 4 1
//@ for depth 1..4
//@ run bfs g=256 l=32 : rowptr col level changed int=$depth
//@ end
//@ for step 0..3
//@ run jump g=256 l=16 : parent grand
//@ run jump g=256 l=16 : grand parent
//@ end
kernel void csr_scalar(global const uint* rowptr, global const uint* col, global const float* val,
                       global const float* x, global float* y, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float sum = 0;
  for (uint k = rowptr[i]; k < rowptr[i + 1]; ++k)
    sum += val[k] * x[col[k]];
  y[i] = sum;
}
kernel void csr_vector(global const uint* rowptr, global const uint* col, global const float* val,
                       global const float* x, global float* y, local volatile float* partial) {
  uint lane = get_local_id(0) & 3, row = get_global_id(0) >> 2, l = get_local_id(0);
  float sum = 0;
  for (uint k = rowptr[row] + lane; k < rowptr[row + 1]; k += 4)
    sum += val[k] * x[col[k]];
  partial[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0)
    y[row] = partial[l] + partial[l + 1] + partial[l + 2] + partial[l + 3];
}
kernel void ell(global const uint* col, global const float* val, global const float* x, global float* y,
                int width, int n) {
  int i = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < width; ++k)
    sum += val[k * n + i] * x[col[k * n + i]];
  y[i] = sum;
}
// Reads levels below `depth` only, so what others write meanwhile is never mistaken.
kernel void bfs(global const uint* rowptr, global const uint* col, global int* level, global int* changed,
                int depth) {
  int i = get_global_id(0);
  if (level[i] != 0)
    return;
  for (uint k = rowptr[i]; k < rowptr[i + 1]; ++k) {
    int other = level[col[k]];
    if (other != 0 && other <= depth) {
      level[i] = depth + 1;
      *changed = 1;
      break;
    }
  }
}
kernel void jump(global const uint* parent, global uint* grand) {
  size_t i = get_global_id(0);
  grand[i] = parent[parent[i]];
}
