// Kernels that read and write one buffer, and yet no work-group certainly reads what another writes.
//@ splits red_black
//@ splits compare_pairs
//@ splits stream_in_place
//@ splits visit
//@ splits halves
//@ splits lower_rows
//@ splits shared_table
//@ buffer u 66*66*4 float 1
//@ buffer s 2048*4 random 2
//@ buffer f 3*1026*4 float 3
//@ buffer cost 1024*4 zero
//@ buffer front 1024*4 ramp 1
//@ buffer edges 1024*4 ramp 1
//@ buffer h 1024*4 float 5
//@ buffer m 64*64*4 float 6
//@ buffer k 1088*4 float 7
//@ for c 0..1
//@ run red_black g=64,64 l=8,4 : u int=$c
//@ run compare_pairs g=1024 l=16 : s int=$c
//@ end
//@ run stream_in_place g=1024 l=16 : f
//@ run visit g=1024 l=16 : front edges cost
//@ run halves g=512 l=16 : h
//@ run lower_rows g=64,64 l=16,4 : m int=7
//@ run shared_table g=1024 l=64 : k
kernel void red_black(global float* u, int colour) {
  int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
  if ((x + y) % 2 == colour)
    u[y * 66 + x] = 0.25f * (u[y * 66 + x - 1] + u[y * 66 + x + 1] + u[(y - 1) * 66 + x] +
                             u[(y + 1) * 66 + x]);
}
kernel void compare_pairs(global int* s, int odd) {
  int i = 2 * get_global_id(0) + odd;
  if (i + 1 < 2048) {
    int a = s[i], b = s[i + 1];
    s[i] = min(a, b);
    s[i + 1] = max(a, b);
  }
}
// Lattice-Boltzmann in place: what moves up and what moves down change places.
kernel void stream_in_place(global float* f) {
  int i = get_global_id(0) + 1;
  float still = f[i], up = f[1026 + i - 1], down = f[2 * 1026 + i + 1];
  float mean = (still + up + down) / 3;
  f[i] = 0.5f * (still + mean);
  f[1026 + i - 1] = 0.5f * (down + mean);
  f[2 * 1026 + i + 1] = 0.5f * (up + mean);
}
// A search marks what it has reached; who reads a mark early or late finds it in the next round.
kernel void visit(global const uint* front, global const uint* edges, global uint* cost) {
  size_t i = get_global_id(0);
  if (front[i] % 3 == 0) {
    uint next = edges[i] * 5 % 1024;
    if (cost[next] == 0) cost[next] = 1;
  }
}
kernel void halves(global float* h) {
  size_t i = get_global_id(0);
  h[i] += h[i + 512];
}
kernel void lower_rows(global float* m, int pivot) {
  int x = get_global_id(0), y = get_global_id(1);
  if (y > pivot && x > pivot) m[y * 64 + x] -= m[y * 64 + pivot] * m[pivot * 64 + x];
}
// All groups fill the same table, each for itself.
kernel void shared_table(global float* k) {
  size_t i = get_global_id(0), l = get_local_id(0);
  k[1024 + l] = l * 0.5f;
  barrier(CLK_GLOBAL_MEM_FENCE);
  k[i] *= k[1024 + 63 - l];
}
