// RUN: %splitc --emit=accesses %s | %FileCheck %s
// What is written in an image: pixels, by its own numbers. `out` is the bytes of a pixel, out.64 the
// width, out.128 the height, out.192 the depth; k is the byte.

constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

// CHECK-LABEL: kernel filter(
// CHECK-NOT: can't be split
// CHECK-DAG: reads in anywhere: it is an image
// CHECK-DAG: writes out at out*(G1*out.64 + G0) + k0, 1 bytes, k0 < out, if 0 <= G1 and G1 < out.128 and 0 <= G0 and G0 < out.64
kernel void filter(read_only image2d_t in, write_only image2d_t out) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(out, p, read_imagef(in, edge, p));
}

// CHECK-LABEL: kernel guarded(
// CHECK-NEXT: writes out at out*(G1*out.64 + G0) + k0, 1 bytes, k0 < out, if G0 < out.64 and G1 < out.128 and 0 <= G1 and G1 < out.128 and 0 <= G0 and G0 < out.64
kernel void guarded(write_only image2d_t out, float value) {
  int x = get_global_id(0), y = get_global_id(1);
  int2 size = get_image_dim(out);
  if (x < size.x && y < get_image_height(out))
    write_imagef(out, (int2)(x, y), (float4)(value));
}

// CHECK-LABEL: kernel flip(
// CHECK-NEXT: writes out at out*((out.128 - 1*G1 - 1)*out.64 + G0) + k0, 1 bytes, k0 < out, if 0 <= out.128 - 1*G1 - 1 and out.128 - 1*G1 - 1 < out.128 and 0 <= G0 and G0 < out.64
kernel void flip(write_only image2d_t out, float value) {
  write_imagef(out, (int2)(get_global_id(0), get_image_height(out) - 1 - get_global_id(1)), (float4)(value));
}

// CHECK-LABEL: kernel rows(
// CHECK-NEXT: writes out at out*(G0*out.64 + k0) + k1, 1 bytes, k0 < max(out.64, 0), k1 < out, if 0 <= G0 and G0 < out.128 and 0 <= k0 and k0 < out.64
kernel void rows(write_only image2d_t out, float value) {
  for (int x = 0; x < get_image_width(out); ++x)
    write_imagef(out, (int2)(x, get_global_id(0)), (float4)(value));
}

// CHECK-LABEL: kernel solid(
// CHECK-NEXT: writes out at out*((G2*out.128 + G1)*out.64 + G0) + k0, 1 bytes, k0 < out, if 0 <= G2 and G2 < out.192 and 0 <= G1 and G1 < out.128 and 0 <= G0 and G0 < out.64
kernel void solid(write_only image3d_t out, float value) {
  write_imagef(out, (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0), (float4)(value));
}

// Layers are rows of a strip's, slices of a picture's array.
// CHECK-LABEL: kernel layers(
// CHECK-DAG: writes line at line*G0 + k0, 1 bytes, k0 < line, if 0 <= G0 and G0 < line.64
// CHECK-DAG: writes strips at strips*((strips.128 - 1)*strips.64 + G0) + k0
// CHECK-DAG: writes album at album*(((album.192 - 1)*album.128 + 3)*album.64 + G0) + k0
kernel void layers(write_only image1d_t line, write_only image1d_array_t strips, write_only image2d_array_t album,
                   float value) {
  const int x = get_global_id(0);
  write_imagef(line, x, (float4)(value));
  write_imagef(strips, (int2)(x, get_image_array_size(strips) - 1), (float4)(value));
  write_imagef(album, (int4)(x, 3, get_image_array_size(album) - 1, 0), (float4)(value));
}

void put(write_only image2d_t to, int2 at, float4 value) {
  write_imagef(to, at, value);
}

// CHECK-LABEL: kernel sometimes(
// CHECK-DAG: may write out at out*(G1*out.64 + G0) + k0, 1 bytes, k0 < out, if 0 <= G1 and G1 < out.128 and 0 <= G0 and G0 < out.64
kernel void sometimes(read_only image2d_t in, write_only image2d_t out) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  float4 value = read_imagef(in, edge, p);
  if (value.x > 0.5f)
    put(out, p, value);
}

// CHECK-LABEL: kernel placed(
// CHECK: may write out anywhere: coordinates of `out` that are read from a buffer
kernel void placed(global const int* row, write_only image2d_t out, float value) {
  write_imagef(out, (int2)(get_global_id(0), row[get_global_id(1)]), (float4)(value));
}

// CHECK-LABEL: kernel computed(
// CHECK: may write out anywhere:
kernel void computed(read_only image2d_t in, write_only image2d_t out) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(out, convert_int2(read_imagef(in, edge, p).xy), (float4)(1));
}
