// Ways through a kernel: switches that fall through, gotos, nested breaks, do-while, early returns, recursion of
// macros, loops that step by several and back.
//@ splits switches
//@ splits early_returns
//@ splits nested_breaks
//@ splits backwards
//@ splits rounded_up
//@ buffer a 1024*4 random 1
//@ buffer b 1024*4 zero
//@ buffer c 1024*4 zero
//@ buffer d 1024*4 zero
//@ buffer e 1024*16 zero
//@ buffer f 1000*4 zero
//@ run switches g=1024 l=32 : a b
//@ run early_returns g=1024 l=32 : a c int=900
//@ run nested_breaks g=256 l=16 : a d
//@ run backwards g=256 l=8 : e
//@ run rounded_up g=1024 l=64 : f int=1000
//@ run jumps g=1024 l=64 : a b
//@ run strided_loop g=16 l=1 : a c int=1024
kernel void switches(global const int* a, global int* b) {
  size_t i = get_global_id(0);
  int x = 0;
  switch (a[i] & 3) {
  case 0:
    x = 1;
  case 1:
    x += 10;
    break;
  case 2:
    b[i] = -1;
    return;
  default:
    x = a[i] / 7;
  }
  b[i] = x;
}
kernel void early_returns(global const int* a, global int* c, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  if (a[i] < 0) {
    c[i] = 0;
    return;
  }
  c[i] = a[i];
}
kernel void nested_breaks(global const int* a, global int* d) {
  int i = get_global_id(0);
  for (int j = 0; j < 4; ++j) {
    int k = 0;
    do {
      if ((a[i * 4 + j] >> k & 1) == 0)
        break;
      if (k == 7)
        continue;
    } while (++k < 9);
    d[i * 4 + j] = k;
  }
}
kernel void backwards(global int* e) {
  int i = get_global_id(0);
  for (int j = 15; j >= 0; j -= 3)
    e[i * 16 + j] = i - j;
}
kernel void rounded_up(global int* f, int n) {
  for (int i = get_global_id(0); i < n; i += n)
    f[i] = i * i;
}
kernel void jumps(global const int* a, global int* b) {
  size_t i = get_global_id(0);
  int x = a[i] & 15;
again:
  if (x > 3) {
    x -= 3;
    goto again;
  }
  b[i] ^= x;
}
// One group covers a part here and there of the whole.
kernel void strided_loop(global const int* a, global int* c, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    c[i] += a[i];
}
