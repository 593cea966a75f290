// Helpers: chains of calls, pointers passed down and out, arrays as parameters, inline and static, overloads, a
// pointer that is one of two, function-like macros with side effects, attributes.
//@ splits through_helpers
//@ splits out_pointers
//@ splits either
//@ splits overloaded
//@ splits offset_pointers
//@ buffer a 1024*4 float 1
//@ buffer b 1024*4 zero
//@ buffer c 1024*4 zero
//@ buffer d 1024*4 float 2
//@ buffer e 1024*4 zero
//@ run through_helpers g=1024 l=32 : a b
//@ run out_pointers g=1024 l=32 : a b c
//@ run either g=1024 l=32 : a d e int=0
//@ run either g=1024 l=32 : a d e int=1
//@ run overloaded g=512 l=16 : a e
//@ run offset_pointers g=256 l=16 : e c int=4
//@ run side_effects g=1024 l=64 : b
float square(float x) {
  return x * x;
}
static inline float load(global const float* from, size_t at) {
  return from[at];
}
void store(global float* to, int at, float value) {
  *(to + at) = value;
}
void both(global const float* a, global float* b, int i) {
  store(b, i, square(load(a, i)) + i);
}
kernel void through_helpers(global const float* a, global float* b) {
  both(a, b, get_global_id(0));
}
void parts(float x, float* whole, float* rest) {
  *rest = fract(x * 10, whole);
}
kernel void out_pointers(global const float* a, global float* b, global float* c) {
  int i = get_global_id(0);
  float values[2];
  parts(a[i], &values[0], values + 1);
  int exponent;
  float mantissa = frexp(values[1] + 1, &exponent);
  float cosine, sine = sincos(mantissa, &cosine);
  b[i] = values[0] + exponent;
  c[i] = sine - cosine;
}
kernel void either(global const float* a, global const float* d, global float* e, int which) {
  int i = get_global_id(0);
  global const float* from = which ? a : d;
  global const float* end = from + i + 1;
  e[i] += end[-1];
}
float __attribute__((overloadable)) twice(float x) {
  return 2 * x;
}
float2 __attribute__((overloadable)) twice(float2 x) {
  return x + x;
}
kernel __attribute__((vec_type_hint(float2))) void overloaded(global const float2* a, global float2* e) {
  size_t i = get_global_id(0);
  e[i] = twice(a[i]) + twice(a[i].x);
}
kernel void offset_pointers(global const float* e, global float* c, int width) {
  global float* row = c + get_global_id(0) * width;
  e += get_global_id(0) * width;
  while (width-- > 0)
    *row++ = *e++ + width;
}
#define PUSH(to, value) (*(to)++ = (value))
kernel void side_effects(global float* b) {
  global float* at = &b[get_global_id(0)];
  float before = *at;
  PUSH(at, -before);
}
