// Nobody knows who writes where: out[perm[i]] = x, in elements of several sizes.
//@ splits ints
//@ splits chars
//@ splits vectors
//@ splits records
//@ splits halves
//@ buffer perm 16384 permutation 8
//@ buffer in 65536 random 9
//@ buffer out 16384 random 10
//@ buffer bytes 4096 random 11
//@ buffer out4 65536 random 12
//@ buffer out_records 49152 random 13
//@ buffer mixed 16384 random 14
//@ run ints g=4096 l=32 : perm in out int=4096
//@ run ints g=3008 l=16 : perm in out int=3008
//@ run chars g=4096 l=16 : perm in bytes
//@ run vectors g=4096 : perm in out4
//@ run records g=4096 l=64 : perm in out_records
//@ run halves g=4096 l=64 : perm in mixed
kernel void ints(global const uint* perm, global const uint* in, global uint* out, int n) {
  int i = get_global_id(0);
  if (i < n / 2)
    out[perm[i]] = in[i] ^ 3;
}

kernel void chars(global const uint* perm, global const uchar* in, global uchar* out) {
  out[perm[get_global_id(0)]] = in[get_global_id(0)];
}

kernel void vectors(global const uint* perm, global const float4* in, global float4* out) {
  out[perm[get_global_id(0)]] = in[get_global_id(0)].wzyx;
}

typedef struct { int key; short low; char tag; float weight; } Record;
kernel void records(global const uint* perm, global const int* in, global Record* out) {
  Record r = {in[get_global_id(0)], (short)get_global_id(0), (char)3, 0.5f};
  uint at = perm[get_global_id(0)];
  if (at * sizeof(Record) + sizeof(Record) <= 49152)
    out[at] = r;
}

// Every element by two stores of different items, each half as wide.
kernel void halves(global const uint* perm, global const ushort* in, global ushort* out) {
  uint at = perm[get_global_id(0)];
  out[(at * 2 + (get_global_id(0) & 1)) & 8191] = in[at];
}
