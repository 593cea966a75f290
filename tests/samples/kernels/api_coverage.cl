kernel void advance(global int* data, int n) {
  const int i = get_global_id(0);
  if (i < n)
    data[i] = data[i] * 3 + i;
}

kernel void copy_texels(read_only image1d_buffer_t image, global int* out) {
  const int i = get_global_id(0);
  out[i] = read_imagei(image, i).x;
}
