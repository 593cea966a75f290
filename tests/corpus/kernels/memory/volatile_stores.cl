// Stores that the compiler must not leave out, and nobody in the launch waits for.
//@ splits publish
//@ splits publish_some
//@ splits_never publish_and_look
//@ buffer in 4096*4 random 1
//@ buffer out 4096*4 zero
//@ run publish g=4096 l=64 : in out
//@ run publish_some g=4096 l=64 : in out
//@ run publish_and_look g=4096 l=64 : in out
kernel void publish(global const int* in, global volatile int* out) {
  size_t i = get_global_id(0);
  out[i] = 0;
  out[i] = in[i] * 3;
}

kernel void publish_some(global const int* in, volatile global int* out) {
  size_t i = get_global_id(0);
  if (in[i] % 3 == 0)
    *(volatile global int*)&out[i] = in[i];
}

kernel void publish_and_look(global const int* in, global volatile int* out) {
  size_t i = get_global_id(0);
  out[i] = in[i];
  out[i] = out[i] + 1;
}
