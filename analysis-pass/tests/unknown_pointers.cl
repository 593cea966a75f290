// Pointers that are found in memory lead anywhere; those that a kernel puts aside for itself do not.
// RUN: %splitc --emit=summary %s | %FileCheck %s

// CHECK: (kernel "follows"
// CHECK: (obstacle unknown-pointer
kernel void follows(global const ulong* places) {
  *(global int*)places[get_global_id(0)] = 1;
}

struct Node { global int* first; };
// CHECK: (kernel "follows_list"
// CHECK: (obstacle unknown-pointer
kernel void follows_list(global const struct Node* nodes) {
  *nodes[get_global_id(0)].first = 1;
}

// CHECK: (kernel "chooses"
// CHECK: (obstacle other
kernel void chooses(global int* a, global int* b, int which) {
  global int* both[2] = {a, b};
  both[(which + get_global_id(0)) & 1][get_global_id(0)] = 1;
}

// CHECK: (kernel "by_address"
// CHECK: (obstacle unknown-pointer
kernel void by_address(global int* a) {
  const ulong address = (ulong)(a + get_global_id(0));
  global char* p = 0;
  p += address;
  *(global int*)p = 1;
}
