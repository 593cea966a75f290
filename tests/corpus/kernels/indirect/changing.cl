// Indices that change between the launches that rest on them, in every way in which they can.
//@ splits gather
//@ splits scatter
//@ splits turn
//@ buffer p 4096*4 permutation 1
//@ buffer q 4096*4 permutation 2
//@ buffer other 4096*4 permutation 3
//@ buffer x 4096*4 random 4
//@ buffer y 4096*4 zero
//@ buffer z 4096*4 zero
//@ for step 0..3
//@ run gather g=4096 l=32 : p q x y
//@ run scatter g=4096 l=32 : p q z
//@ run turn g=4096 l=64 : p int=$step
//@ end
//@ run gather g=4096 l=32 : p q x y
//@ copy other q 0 0 4096*4
//@ run gather g=4096 l=32 : p q x y
//@ fill q 64 256 0
//@ run gather g=4096 l=32 : p q x y
//@ run gather g=4096 l=64 : p q x y
//@ swap p q
//@ run gather g=4096 l=32 : p q x y
//@ run scatter g=2048 l=32 o=1024 : p q z
kernel void gather(global const uint* p, global const uint* q, global const uint* x, global uint* y) {
  size_t i = get_global_id(0);
  y[i] += x[q[p[i]]];
}
kernel void scatter(global const uint* p, global const uint* q, global uint* z) {
  size_t i = get_global_id(0);
  z[q[p[i]]] = i;
}
kernel void turn(global uint* p, int by) {
  size_t i = get_global_id(0);
  p[i] = (p[i] + 512 + by) & 4095;
}
