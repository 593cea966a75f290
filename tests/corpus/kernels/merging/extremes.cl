// Reductions into a few words by atomics of every kind, signed and unsigned, 32 and 64 bits.
//@ splits extremes
//@ splits wide_extremes
//@ splits bits
//@ splits rows
//@ buffer data 65536 random 4
//@ buffer a 64 random 5
//@ buffer b 64 random 6
//@ buffer c 64 random 7
//@ buffer row_max 512 zero
//@ run extremes g=16384 l=32 : data a
//@ run wide_extremes g=8192 l=32 : data b
//@ run bits g=16384 : data c
//@ run rows g=128,128 l=16,4 : data row_max
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

kernel void extremes(global const int* data, global int* a) {
  int value = data[get_global_id(0)];
  atomic_min(&a[0], value);
  atomic_max(&a[1], value);
  atomic_min((global uint*)&a[2], (uint)value);
  atomic_max((global uint*)&a[3], (uint)value);
}

kernel void wide_extremes(global const long* data, global long* b) {
  long value = data[get_global_id(0)];
  atom_min(&b[0], value);
  atom_max(&b[1], value);
  atom_min((global ulong*)&b[2], (ulong)value);
  atom_max((global ulong*)&b[3], (ulong)value);
}

kernel void bits(global const uint* data, global uint* c) {
  uint value = data[get_global_id(0)];
  atomic_and(&c[0], value | 0x0ffffff0u);
  atomic_or(&c[1], value & 0x01010101u);
  atomic_xor(&c[2], value);
  atomic_dec(&c[3]);
}

// One word for each row: devices share few of them, or none.
kernel void rows(global const int* data, global int* row_max) {
  int value = data[get_global_id(1) * get_global_size(0) + get_global_id(0)];
  atomic_max(&row_max[get_global_id(1)], value);
}
