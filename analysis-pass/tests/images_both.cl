// RUN: %splitc --emit=accesses %s -- -cl-std=CL2.0 | %FileCheck %s

// CHECK-LABEL: kernel both(
// CHECK-NEXT: line [[#@LINE+1]]: can't be split: image parameter `image` is read and written
kernel void both(read_write image2d_t image) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  write_imagef(image, p, 2 * read_imagef(image, p));
}
