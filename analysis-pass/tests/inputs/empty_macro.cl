kernel void k(global int* a) {
#ifdef REVERSE
  a[7] = 1;
#else
  a[0] = 1;
#endif
}
