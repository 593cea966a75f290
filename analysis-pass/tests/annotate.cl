// The source with what is known of each line below it.
//
// RUN: %splitc --explain --kernel=talk %s | %FileCheck %s --match-full-lines --strict-whitespace
// RUN: %splitc --explain --kernel=talk --color=always %s | %FileCheck %s --check-prefix=COLOUR
// RUN: not %splitc --explain --kernel=nobody %s 2>&1 | %FileCheck %s --check-prefix=NOBODY
// NOBODY: holds no kernel nobody
//
//
//
kernel void talk(global int* a, int n) {
  int i = get_global_id(0);
  if (i < n)
    a[i] = 3;
  printf("%d\n", a[i]);
}
// COLOUR: {{.\[32m.*}}writes a bytes
// COLOUR: {{.\[1;31m.*}}can't be split: printf
//
//
// CHECK:kernel talk(int* a, int n)
// CHECK-NEXT:   ...
// CHECK-NEXT:10 | kernel void talk(global int* a, int n) {
// CHECK-NEXT:11 |   int i = get_global_id(0);
// CHECK-NEXT:12 |   if (i < n)
// CHECK-NEXT:13 |     a[i] = 3;
// CHECK-NEXT:   |     ^ writes a bytes [4*i, +4), if i < n
// CHECK-NEXT:14 |   printf("%d\n", a[i]);
// CHECK-NEXT:   |   ^ can't be split: printf
// CHECK-NEXT:   |   ^ reads a bytes [4*i, +4)
// CHECK-NEXT:15 | }
