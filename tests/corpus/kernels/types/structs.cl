// Structs: padded, packed, nested, with arrays, as arguments by value, unions, enums, typedefs.
//@ splits one_member
//@ splits nested
//@ splits whole
//@ splits by_value
//@ buffer p 256*12 random 1
//@ buffer k 256*7 random 2
//@ buffer n 128*40 random 3
//@ buffer m 128*40 zero
//@ buffer o 256*4 zero
//@ run one_member g=256 l=16 : p
//@ run packed g=256 l=16 : k
//@ run nested g=128 l=8 : n
//@ run whole g=128 l=8 : n m
//@ run by_value g=256 l=32 : o int=3,4;char=5,0,0,0;float=0.5
//@ run punned g=256 l=32 : o
//@ run in_array g=128 l=8 : m int=4
typedef struct {
  int a;
  short b;
  char c[3];
} Plain;
typedef struct __attribute__((packed)) {
  char tag;
  int value;
  short rest;
} Packed;
enum Kind { First = 3, Second };
typedef struct {
  struct {
    int x, y;
  } at[4];
  enum Kind kind;
  float weight;
} Nested;
typedef struct {
  int first, second;
  char third;
  float fourth;
} Parameters;

kernel void one_member(global Plain* p) {
  global Plain* mine = &p[get_global_id(0)];
  mine->b = (short)(mine->a >> 3);
}
kernel void packed(global Packed* k) {
  size_t i = get_global_id(0);
  k[i].value = k[i].tag + k[i].rest;
}
kernel void nested(global Nested* n) {
  size_t i = get_global_id(0);
  for (int j = 0; j < 4; ++j)
    n[i].at[j].y = n[i].at[3 - j].x;
  n[i].kind = i & 1 ? First : Second;
}
kernel void whole(global const Nested* n, global Nested* m) {
  Nested copy = n[get_global_id(0)];
  copy.weight = copy.at[0].x * 0.5f;
  m[get_global_id(0)] = copy;
}
kernel void by_value(global float* o, Parameters with) {
  int i = get_global_id(0);
  o[i] = with.first * i + with.second + with.third * with.fourth;
}
kernel void punned(global float* o) {
  union {
    float f;
    uint u;
    uchar4 c;
  } bits;
  bits.f = o[get_global_id(0)];
  bits.u ^= 0x80000000u;
  bits.c = bits.c.xyzw;
  o[get_global_id(0)] = bits.f;
}
kernel void in_array(global Nested* m, int count) {
  size_t i = get_global_id(0);
  for (int j = 0; j < count; ++j)
    m[i].at[j].x += j;
}
