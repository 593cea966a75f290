kernel void change(global uchar* bytes) {
  const size_t i = get_global_id(0);
  bytes[i] = bytes[i] * 3 + 1;
}
