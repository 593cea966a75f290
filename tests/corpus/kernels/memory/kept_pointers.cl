// Pointers that a kernel keeps in private arrays: into what it only reads, or not.
//@ splits by_tables
//@ splits of_two
//@ splits in_a_struct
//@ splits_never of_what_it_writes
//@ buffer data 8192 float 1
//@ buffer other 8192 float 2
//@ buffer at 64*4 below:1000 3
//@ buffer a 1024*4 zero
//@ buffer b 1024*4 zero
//@ buffer c 1024*4 zero
//@ buffer d 2048*4 float 4
//@ run by_tables g=1024 l=32 : data at a int=16
//@ run of_two g=1024 l=16 : data other b int=7
//@ run in_a_struct g=1024 l=64 : data c int=12
//@ run of_what_it_writes g=1024 l=64 : d
// As a renderer finds its materials.
kernel void by_tables(global const char* data, global const int* at, global float* out, int n) {
  int i = get_global_id(0);
  global const float* tables[16];
  for (int k = 0; k < min(n, 16); ++k)
    tables[k] = (global const float*)(data + 4 * at[k]);
  float sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += tables[(i + k * 5) & 15][(i >> k) & 255];
  out[i] = sum;
}
kernel void of_two(global const float* x, global const float* y, global float* out, int odd) {
  int i = get_global_id(0);
  global const float* rows[8] = {x, y, x + 8, y + 8, 0, 0, 0, 0};
  rows[4 + (i & 3)] = (i * odd) & 4 ? x + i : y + i;
  out[i] = rows[i & 3][i] + rows[4 + (i & 3)][1];
}
struct Row {
  global const float *begin, *end;
};
kernel void in_a_struct(global const float* data, global float* out, int n) {
  int i = get_global_id(0);
  struct Row rows[16];
  for (int k = 0; k < min(n, 16); ++k) {
    rows[k].begin = data + 16 * k;
    rows[k].end = data + 16 * k + (i & 15);
  }
  float sum = 0;
  for (global const float* p = rows[i % 12].begin; p < rows[i % 12].end; ++p)
    sum += *p;
  out[i] = sum;
}
kernel void of_what_it_writes(global float* d) {
  int i = get_global_id(0);
  global float* halves[2] = {d, d + 1024};
  halves[i & 1][i] = halves[1 - (i & 1)][i] + 1;
}
