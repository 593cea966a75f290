// Atomics that can't be merged, each for another reason that only the launch shows, and one beside
// other bytes of its buffer.
//@ splits header
//@ buffer both 65536 below:1000 19
//@ buffer table 20000 zero
//@ buffer slots 16384 zero
//@ buffer used 4 zero
//@ run counted_itself g=4096 l=64 : both both
//@ run header g=4096 l=64 : both table
//@ run compact g=64 l=64 : both slots used
// What is read is far above what is counted, so that the order does not matter.
kernel void counted_itself(global const uint* data, global uint* bins) {
  const uint i = get_global_id(0);
  atomic_inc(&bins[(i + (data[i] >> 20)) & 1023]);
}

kernel void header(global const uint* data, global uint* table) {
  atomic_add(&table[0], data[get_global_id(0)]);
  table[16 + get_global_id(0)] = data[get_global_id(0)];
}

kernel void compact(global const uint* data, global uint* slots, global uint* used) {
  uint value = data[get_global_id(0)];
  if (value & 1)
    slots[atomic_inc(used)] = value;
}
