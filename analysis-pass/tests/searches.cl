// RUN: %splitc --emit=accesses %s | %FileCheck %s
// Searches that leave early, whose answer is the same in every order of work-groups; and others.

// CHECK-LABEL: kernel first(
// CHECK-NOT: can't be split
// CHECK-NOT: reads best
// CHECK: updates best by min at 0, 4 bytes
kernel void first(global const int* data, global int* best) {
  int i = get_global_id(0);
  if (i >= *best)
    return;
  if (data[i] == 42)
    atomic_min(best, i);
}

// CHECK-LABEL: kernel last_of_row(
// CHECK-NOT: can't be split
// CHECK: updates best by max at 4*G1, 4 bytes
kernel void last_of_row(global const int* data, volatile global uint* best) {
  uint i = get_global_id(0), row = get_global_id(1);
  if (best[row] < i && data[row * 100 + i] == 42)
    atomic_max(&best[row], i);
}

// CHECK-LABEL: kernel in_a_loop(
// CHECK-NOT: can't be split
// CHECK: updates best by min at 0, 4 bytes
kernel void in_a_loop(global const int* data, global int* best, int n) {
  int begin = get_global_id(0) * n;
  for (int k = begin; k < begin + n; ++k) {
    if (k >= *best)
      break;
    if (data[k] == 42) {
      atomic_min(best, k);
      break;
    }
  }
}

// CHECK-LABEL: kernel unsigned_loop(
// CHECK-NOT: can't be split
kernel void unsigned_loop(global const uint* data, global uint* best, uint end) {
  for (uint k = get_global_id(0) * 16; k < end; ++k) {
    if (k >= *best)
      break;
    if (data[k] == 42)
      atomic_min(best, k);
  }
}

// CHECK-LABEL: kernel from_above(
// CHECK-NOT: can't be split
// CHECK: updates best by max at 0, 4 bytes
kernel void from_above(global const int* data, global int* best) {
  for (int k = (int)get_global_id(0) * 100 + 99; k >= (int)get_global_id(0) * 100; k--)
    if (k > *best) {
      if (data[k] == 42)
        atomic_max(best, k);
    } else {
      return;
    }
}

// CHECK-LABEL: kernel each_key(
// CHECK-NOT: can't be split
kernel void each_key(global const uint* data, global uint* best, uint each) {
  uint key = get_global_id(0) * each;
  for (uint k = 0; k < each; ++k, ++key) {
    if (atomic_or(best, 0u) <= key)
      continue;
    if (data[key] == 42)
      atomic_min(best, key);
  }
}

// The other order: whoever is later leaves out what would count.
// CHECK-LABEL: kernel wrong_way(
// CHECK: can't be split: atomic operation on `best`, whose bytes are read
kernel void wrong_way(global const int* data, global int* best) {
  int i = get_global_id(0);
  if (i < *best)
    return;
  if (data[i] == 42)
    atomic_min(best, i);
}

// What is left out would be another number.
// CHECK-LABEL: kernel other_number(
// CHECK: can't be split: atomic operation on `best`, whose bytes are read
kernel void other_number(global const int* data, global int* best) {
  int i = get_global_id(0);
  if (i >= *best)
    return;
  atomic_min(best, data[i]);
}

// CHECK-LABEL: kernel other_order(
// CHECK: can't be split: atomic operation on `best`, whose bytes are read
kernel void other_order(global const int* data, global uint* best) {
  int i = get_global_id(0);
  if (i >= (int)*best)
    return;
  if (data[i] == 42)
    atomic_min(best, (uint)i);
}

// Which elements these are the launch sees.
// CHECK-LABEL: kernel other_element(
// CHECK: reads best at 4*(data[G0] & 7), 4 bytes, by `data` at launch
kernel void other_element(global const int* data, global int* best) {
  int i = get_global_id(0);
  if (i >= best[data[i] & 7])
    return;
  atomic_min(&best[data[i + 1] & 7], i);
}

// What else is left out is seen.
// CHECK-LABEL: kernel leaves_a_mark(
// CHECK: can't be split: atomic operation on `best`, whose bytes are read
kernel void leaves_a_mark(global const int* data, global int* best, global int* seen) {
  int i = get_global_id(0);
  if (i >= *best)
    return;
  seen[i] = 1;
  if (data[i] == 42)
    atomic_min(best, i);
}

// CHECK-LABEL: kernel tells(
// CHECK: can't be split: atomic operation on `best`, whose bytes are read
kernel void tells(global const int* data, global int* best, global int* left) {
  int i = get_global_id(0);
  int did = 0;
  if (i < *best) {
    if (data[i] == 42)
      atomic_min(best, i);
    did = 1;
  }
  left[i] = did;
}

// CHECK-LABEL: kernel keeps(
// CHECK: can't be split: atomic operation on `best`, whose bytes are read
kernel void keeps(global const int* data, global int* best, global int* seen) {
  int i = get_global_id(0), found = *best;
  if (i < found && data[i] == 42)
    atomic_min(best, i);
  seen[i] = found;
}

// Later rounds may find a smaller one.
// CHECK-LABEL: kernel downwards(
// CHECK: can't be split: atomic operation on `best`, whose bytes are read
kernel void downwards(global const int* data, global int* best, int n) {
  for (int k = n - 1; k >= 0; --k) {
    if (k >= *best)
      break;
    if (data[k * (int)get_global_id(0)] == 42)
      atomic_min(best, k);
  }
}

// CHECK-LABEL: kernel any_order(
// CHECK: can't be split: atomic operation on `best`, whose bytes are read
kernel void any_order(global const int* data, global int* best, int n) {
  for (int k = 0; k < n; ++k) {
    int candidate = data[k * (int)get_global_id(0)];
    if (candidate >= *best)
      break;
    atomic_min(best, candidate);
  }
}

// The same, but each round by itself.
// CHECK-LABEL: kernel round_by_round(
// CHECK-NOT: can't be split
kernel void round_by_round(global const int* data, global int* best, int n) {
  for (int k = 0; k < n; ++k) {
    int candidate = data[k * (int)get_global_id(0)];
    if (candidate >= *best)
      continue;
    atomic_min(best, candidate);
  }
}

// An unsigned number may begin again at 0.
// CHECK-LABEL: kernel wraps(
// CHECK: can't be split: atomic operation on `best`, whose bytes are read
kernel void wraps(global const uint* data, global uint* best, uint n, uint step) {
  uint k = get_global_id(0);
  for (uint round = 0; round < n; ++round, k += step) {
    if (k >= *best)
      break;
    if (data[k & 1023] == 42)
      atomic_min(best, k);
  }
}

// Who waits for others is no search.
// CHECK-LABEL: kernel waits(
// CHECK: can't be split: atomic operation on `arrived`, whose bytes are read
kernel void waits(global int* data, volatile global int* arrived, int all) {
  data[get_global_id(0)] = 1;
  atomic_inc(arrived);
  while (*arrived < all)
    ;
}

// CHECK-LABEL: kernel waits_for_less(
// CHECK: can't be split
kernel void waits_for_less(global const int* data, volatile global int* best, int wanted) {
  while (wanted < *best)
    if (data[get_global_id(0)] == 42)
      atomic_min(best, wanted);
}

// CHECK-LABEL: kernel waits_in_place(
// CHECK: can't be split
kernel void waits_in_place(global const int* data, volatile global int* best, int step) {
  if (step < 0)
    return;
  for (int k = 0;; k += step) {
    if (k >= *best)
      break;
    if (data[k + (int)get_global_id(0)] == 42)
      atomic_min(best, k);
  }
}

// CHECK-LABEL: kernel asks_again(
// CHECK: can't be split
kernel void asks_again(global int* counter) {
  atomic_max(counter, (int)get_global_id(0));
  for (int k = 0;; ++k)
    if (atomic_or(counter, 0) > k)
      break;
}

// Where it skips it does something.
// CHECK-LABEL: kernel counts_skipped(
// CHECK: can't be split
kernel void counts_skipped(global const int* data, global int* best, global int* skipped) {
  int i = get_global_id(0);
  if (i >= *best)
    atomic_inc(skipped);
  else if (data[i] == 42)
    atomic_min(best, i);
}
