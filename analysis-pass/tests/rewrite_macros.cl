// The functions that a part gets wrong, behind the program's own macros.
// RUN: grep -v '^//' %s | %splitc - --emit=source -- '-DCMD_LINE=get_num_groups(0)' > %t.cl
// RUN: %recompile12 -DCMD_LINE='get_num_groups(0)' < %t.cl
// RUN: %FileCheck %s < %t.cl

// CHECK: {{^}}#define GROUP get_group_id(0)
#define GROUP get_group_id(0)
// CHECK: {{^}}#define SIZE(d) get_global_size(d)
#define SIZE(d) get_global_size(d)
#define CALL(f, x) f(x)

// CHECK: {{^}}int helper(int x, ulong16 libsplit_part) { return x + GROUP + SIZE(1); }
int helper(int x) { return x + GROUP + SIZE(1); }

// A call in a macro's body is edited there, once.
// CHECK: {{^}}#define HELP(x) helper((x) + 1, libsplit_part)
#define HELP(x) helper((x) + 1)

// CHECK: {{^}}kernel void uses(global int* a, ulong16 libsplit_part) { a[HELP(0)] = HELP(1) + CMD_LINE; }
kernel void uses(global int* a) { a[HELP(0)] = HELP(1) + CMD_LINE; }

// Definitions out of one macro all take the parameter, whether they need it or not.
// CHECK: {{^}}#define DEFINE(name, value) kernel void name(global int* a, ulong16 libsplit_part) { a[0] = value; }
#define DEFINE(name, value) kernel void name(global int* a) { a[0] = value; }
DEFINE(one, GROUP)
DEFINE(two, 2)

// A built-in whose name is a macro argument.
// CHECK: {{^}}kernel void called(global int* a, ulong16 libsplit_part) { a[0] = CALL(get_group_id, 0); }
kernel void called(global int* a) { a[0] = CALL(get_group_id, 0); }
