// All who write a place write the same: flags, frontiers, marks. Some are volatile, and nobody waits for them.
//@ splits relax
//@ splits note
//@ splits_never wait
//@ splits frontier
//@ splits mark
//@ buffer value 16384 below:1000 15
//@ buffer next 16384 zero
//@ buffer changed 4 zero
//@ buffer link 16384 permutation 16
//@ buffer level 16384 random 17
//@ buffer visited 4096 zero
//@ buffer seen 16384 zero
//@ buffer found 4 zero
//@ fill level 0 16384 255
//@ fill level 400 4 0
//@ for round 0..6
//@ run relax g=4096 l=64 : value next changed
//@ swap value next
//@ run frontier g=4096 l=64 : link level changed int=$round
//@ run mark g=4096 : link visited
//@ run note g=4096 l=64 : value seen found
//@ end
//@ run wait g=4096 l=64 : value seen
kernel void relax(global const int* value, global int* next, global int* changed) {
  int i = get_global_id(0), n = get_global_size(0);
  int least = min(value[i], min(value[(i + 1) % n], value[(i + n - 1) % n]));
  next[i] = least;
  if (least != value[i])
    *changed = 1;
}

kernel void frontier(global const uint* link, global int* level, global int* changed, int depth) {
  uint i = get_global_id(0);
  if (level[i] != depth)
    return;
  for (uint k = 1; k < 4; ++k) {
    uint to = (link[i] + k * 37) & 4095;
    if (level[to] == -1) {
      level[to] = depth + 1;
      *changed = 1;
    }
  }
}

kernel void mark(global const uint* link, global uchar* visited) {
  if (get_global_id(0) % 3 == 0)
    visited[link[get_global_id(0)]] = 1;
}

kernel void note(global const int* value, global volatile int* seen, global volatile int* found) {
  int i = get_global_id(0);
  seen[i] = value[i] * 3;
  if (value[i] > 900)
    *found = 1;
}

// No wait at all, but it could be one.
kernel void wait(global int* value, global const volatile int* seen) {
  int i = get_global_id(0);
  value[i] += seen[i];
}
