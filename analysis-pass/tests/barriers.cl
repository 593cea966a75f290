// RUN: %splitc --emit=accesses %s | %FileCheck %s

// CHECK-LABEL: kernel before_the_write(
// CHECK-NEXT: depends on work-groups if arguments share what it writes
kernel void before_the_write(global float* out, global const float* in) {
  int i = get_global_id(0);
  float x = in[i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = 2 * x;
}

// CHECK-LABEL: kernel behind_the_write(
// CHECK-NEXT: depends on work-groups if arguments share what it writes
kernel void behind_the_write(global float* out, global const float* in) {
  int i = get_global_id(0);
  out[i] = 2 * in[i];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

// CHECK-LABEL: kernel behind_any_loop(
// CHECK-NEXT: depends on work-groups if arguments share what it writes
kernel void behind_any_loop(global float* out, float x) {
  int i = get_global_id(0);
  while (x > i)
    x = sqrt(x) - 1;
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = x;
}

// CHECK-LABEL: kernel each_time(
// CHECK-NEXT: depends on work-groups if arguments share what it writes
kernel void each_time(global float* out, global const float* in, int n, int wait) {
  int i = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += in[k];
    if (wait)
      barrier(CLK_GLOBAL_MEM_FENCE);
  }
  out[i] = sum;
}

// Two buffers, each on a side of it.
// CHECK-LABEL: kernel between_two(
// CHECK-NEXT: depends on work-groups if arguments share what it writes
kernel void between_two(global int* a, global int* b) {
  int i = get_global_id(0);
  a[i] = i;
  barrier(CLK_GLOBAL_MEM_FENCE);
  b[i] = i;
}

// CHECK-LABEL: kernel counts(
// CHECK-NEXT: depends on work-groups if arguments share what it writes
// CHECK-NOT: can't be split
kernel void counts(global uint* bins, global const uchar* in) {
  atomic_inc(&bins[in[get_global_id(0)]]);
  barrier(CLK_GLOBAL_MEM_FENCE);
}

// CHECK-LABEL: kernel to_a_picture(
// CHECK-NEXT: depends on work-groups if arguments share what it writes
kernel void to_a_picture(write_only image2d_t out, global const float4* in, int width) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 colour = in[at.y * width + at.x];
  barrier(CLK_GLOBAL_MEM_FENCE);
  write_imagef(out, at, colour);
}

// Here it does what it is for.
// CHECK-LABEL: kernel neighbours(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void neighbours(global int* a, global int* b) {
  int i = get_global_id(0);
  a[i] = i;
  barrier(CLK_GLOBAL_MEM_FENCE);
  b[i] = a[i ^ 1];
}

// What is read is read before; but its place may be another's to write, behind the barrier.
// CHECK-LABEL: kernel reversed(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void reversed(global int* a) {
  int i = get_global_id(0), n = get_global_size(0);
  int x = a[n - 1 - i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  a[i] = x;
}

// The later one stays.
// CHECK-LABEL: kernel cleared_first(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void cleared_first(global int* a, global const int* at) {
  int i = get_global_id(0);
  a[i] = 0;
  barrier(CLK_GLOBAL_MEM_FENCE);
  a[at[i]] = 1;
}

// CHECK-LABEL: kernel round_by_round(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void round_by_round(global int* a, int n) {
  int i = get_global_id(0);
  for (int k = 0; k < n; ++k) {
    a[i + k] = k;
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}

// CHECK-LABEL: kernel components(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void components(global float4* a, float x) {
  barrier(CLK_GLOBAL_MEM_FENCE);
  a[get_global_id(0)].y = x;
}

// CHECK-LABEL: kernel counts_and_reads(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void counts_and_reads(global uint* bins, global uint* out) {
  int i = get_global_id(0);
  atomic_inc(&bins[i & 15]);
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = bins[16 + (i & 15)];
}

// CHECK-LABEL: kernel counts_twice(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void counts_twice(global uint* bins) {
  int i = get_global_id(0);
  atomic_inc(&bins[i & 15]);
  barrier(CLK_GLOBAL_MEM_FENCE);
  atomic_dec(&bins[i & 7]);
}

// CHECK-LABEL: kernel takes_numbers(
// CHECK-NEXT: depends on work-groups{{$}}
// CHECK-NEXT: can't be split: atomic operation on `count` whose result is used
kernel void takes_numbers(global int* count, global int* out) {
  int mine = atomic_inc(count);
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[mine] = 1;
}

// CHECK-LABEL: kernel searches(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void searches(global const int* in, global int* best) {
  int x = in[get_global_id(0)];
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (x < *best)
    atomic_min(best, x);
}

// Not all of a group come to it where the group is another one.
// CHECK-LABEL: kernel some_leave(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void some_leave(global float* out, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = 1;
}

// CHECK-LABEL: kernel those_that_are_asked(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void those_that_are_asked(global float* out, global const int* mask) {
  int i = get_global_id(0);
  if (mask[i])
    barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = 1;
}

// CHECK-LABEL: kernel as_often_as_it_is(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void as_often_as_it_is(global float* out) {
  int i = get_global_id(0);
  for (int k = 0; k < i; ++k)
    barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = 1;
}

// CHECK-LABEL: kernel until_data_say(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void until_data_say(global float* out, global const int* in) {
  int i = get_global_id(0), k = 0;
  do {
    barrier(CLK_GLOBAL_MEM_FENCE);
  } while (in[k++] != 0);
  out[i] = 1;
}

// CHECK-LABEL: kernel as_long_as_data_say(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void as_long_as_data_say(global float* out, global const int* in, int n) {
  int i = get_global_id(0);
  for (int k = 0; k < n; ++k) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (in[i + k] == 0)
      break;
  }
  out[i] = 1;
}

// Who asks for a group's shape depends on it, whatever barriers do.
// CHECK-LABEL: kernel by_local_ids(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void by_local_ids(global int* out) {
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[get_global_id(0)] = get_local_id(0);
}

// CHECK-LABEL: kernel in_local_memory(
// CHECK-NEXT: depends on work-groups{{$}}
kernel void in_local_memory(global int* out, local int* tile) {
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = 1;
}
