// What splitc tells people: regions in the terms of the source, rungs, and why not the first.
// RUN: %splitc %s | %FileCheck %s --strict-whitespace

// A stencil. Variables that hold an id are called by their names.
// CHECK:      kernel stencil(float* a, float* b, int w, int h)
// CHECK-NEXT: {{^}}  line [[#@LINE+10]]  reads   a  bytes [4*(y*w + x - w), +4), if 0 < y and y < h - 1{{$}}
// CHECK-NEXT: {{^}}  line [[#@LINE+9]]  reads   a  bytes [4*(y*w + x + w), +4), if 0 < y and y < h - 1{{$}}
// CHECK-NEXT: {{^}}  line [[#@LINE+8]]  writes  b  bytes [4*(y*w + x), +4), if 0 < y and y < h - 1{{$}}
// CHECK-NEXT: {{^}}  where x = get_global_id(0), y = get_global_id(1){{$}}
// CHECK-NEXT: {{^}}  split at 256x256/16x16, w = 256, h = 256: dimension 0, rung 1 (disjoint writes, all certain){{$}}
// CHECK-EMPTY:
kernel void stencil(global const float* a, global float* b, int w, int h) {
  int x = get_global_id(0);
  int y = get_global_id(1);
  if (y > 0 && y < h - 1)
    b[y * w + x] = a[(y - 1) * w + x] + a[(y + 1) * w + x];
}

// A column split: the loop's variable, and how far apart its bytes are.
// CHECK-LABEL: kernel columns(
// CHECK-NEXT: line [[#@LINE+7]]  writes  a  bytes [4*(row*width + column), +4), row = 0..rows - 1, stride 4*width{{$}}
// CHECK-NEXT: where column = get_global_id(0)
// CHECK-NEXT: split at 4096/64, rows = 4096, width = 4096: dimension 0, rung 1
// CHECK-EMPTY:
kernel void columns(global float* a, int rows, int width) {
  int column = get_global_id(0);
  for (int row = 0; row < rows; ++row)
    a[row * width + column] = row;
}

// Lattice-Boltzmann, one plane for each direction.
// CHECK-LABEL: kernel collide(
// CHECK-NEXT: line [[#@LINE+10]]  reads   g  bytes [4*(q*N + id), +4), q = 0..18, stride 4*N, if id < N{{$}}
// CHECK-NEXT: line [[#@LINE+11]]  writes  f  bytes [4*(q*N + id), +4), q = 1..18, stride 4*N, if id < N{{$}}
// CHECK-NEXT: where id = get_global_id(0)
// CHECK-NEXT: split at {{.*}} rung 1
kernel void collide(global float* f, global const float* g, int N) {
  int id = get_global_id(0);
  if (id >= N)
    return;
  float density = 0;
  for (int q = 0; q < 19; ++q)
    density += g[q * N + id];
  for (int q = 1; q < 19; ++q)
    f[q * N + id] = density * q;
}

// Places that are found by places.
// CHECK-LABEL: kernel nested(
// CHECK: what `order`, `column` hold is looked at before the launch
// CHECK-NEXT: line [[#@LINE+5]]: an inspection finds out where each work-group goes; places of their own give rung 2{{$}}
// CHECK-NEXT: line [[#@LINE+5]]: an inspection finds out where each work-group goes{{$}}
// CHECK-NEXT: split at
kernel void nested(global int* out, global const int* order, global const int* column, global const int* x) {
  int i = get_global_id(0);
  out[column[order[i]]] =
      x[column[order[i + 1]]];
}

// CSR: what decides the regions is looked at before the launch.
// CHECK-LABEL: kernel spmv(
// CHECK-NEXT: line [[#@LINE+14]]  reads   row     bytes [4*i, +4), if i < n{{$}}
// CHECK-NEXT: line [[#@LINE+13]]  reads   row     bytes [4*(i + 1), +4), if i < n{{$}}
// CHECK-DAG:  line [[#@LINE+13]]  reads   column  bytes [4*j, +4), j = row[i]..row[i + 1] - 1, if i < n{{$}}
// CHECK-DAG:  line [[#@LINE+12]]  reads   value   bytes [4*j, +4), j = row[i]..row[i + 1] - 1, if i < n{{$}}
// CHECK-DAG:  line [[#@LINE+11]]  reads   x       bytes [4*column[j], +4), j = row[i]..row[i + 1] - 1, if i < n{{$}}
// CHECK:      line [[#@LINE+11]]  writes  y       bytes [4*i, +4), if i < n{{$}}
// CHECK-NEXT: where i = get_global_id(0)
// CHECK-NEXT: what `row`, `column` hold is looked at before the launch
kernel void spmv(global const int* row, global const int* column, global const float* value,
                 global const float* x, global float* y, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float sum = 0;
  for (int j = row[i]; j < row[i + 1]; ++j)
    sum += value[j] * x[column[j]];
  y[i] = sum;
}

// CHECK-LABEL: kernel triangle(
// CHECK-NEXT: line [[#@LINE+6]]  writes  a  bytes [4*(i*n + j), +4), j = 0..i{{$}}
// CHECK-NEXT: where i = get_global_id(0)
// CHECK-NEXT: split at {{.*}} rung 1
kernel void triangle(global float* a, int n) {
  int i = get_global_id(0);
  for (int j = 0; j <= i; ++j)
    a[i * n + j] = 0;
}

// CHECK-LABEL: kernel scatter(
// CHECK-NEXT: line [[#@LINE+8]]  reads      at  bytes [4*i, +4){{$}}
// CHECK-NEXT: line [[#@LINE+7]]  reads      a   bytes [4*i, +4){{$}}
// CHECK-NEXT: line [[#@LINE+7]]  may write  a   anywhere: value loaded from `a` (line [[#@LINE+6]]){{$}}
// CHECK-NEXT: where i = get_global_id(0)
// CHECK-NEXT: split at {{.*}} rung 3 (overlapping or unknown writes, merged by difference){{$}}
// CHECK-NEXT: not rung 1: line [[#@LINE+4]] may write anywhere in `a`: value loaded from `a` (line [[#@LINE+3]]){{$}}
kernel void scatter(global int* a, global const int* at) {
  int i = get_global_id(0);
  int place = at[i] * a[i];
  a[place] = 1;
}

// CHECK-LABEL: kernel histogram(
// CHECK-NEXT: line [[#@LINE+6]]  reads    data  bytes [4*i, +4){{$}}
// CHECK-NEXT: line [[#@LINE+5]]  updates  bins  bytes [4*(data[i] & 255), +4) by add{{$}}
// CHECK:      rung 4 (atomic updates, merged by their operation){{$}}
// CHECK-NEXT: not rung 1: line [[#@LINE+3]] may update the same bytes of `bins` on several devices{{$}}
kernel void histogram(global uint* bins, global const uint* data) {
  int i = get_global_id(0);
  atomic_inc(&bins[data[i] & 255]);
}

// CHECK-LABEL: kernel masked(
// CHECK-NEXT: line [[#@LINE+8]]  reads      mask  bytes [4*i, +4){{$}}
// CHECK-NEXT: line [[#@LINE+8]]  may write  a     bytes [4*i, +4){{$}}
// CHECK-NEXT: where i = get_global_id(0)
// CHECK-NEXT: split at {{.*}} rung 2
// CHECK-NEXT: not rung 1: line [[#@LINE+5]] may leave `a` as it was: condition on what `mask` holds (line [[#@LINE+4]]){{$}}
// CHECK-EMPTY:
kernel void masked(global float* a, global const int* mask) {
  int i = get_global_id(0);
  if (mask[i] > 0)
    a[i] = 1;
}

// Not a single write is to blame.
// CHECK-LABEL: kernel mirrored(
// CHECK: not rung 1: together, several devices may write the same bytes of `a` (line [[#@LINE+3]], line [[#@LINE+4]])
kernel void mirrored(global float* a) {
  int i = get_global_id(0);
  a[i] = 1;
  a[4095 - i] = 2;
}

// CHECK-LABEL: kernel waits(
// CHECK: has barriers: not split if the launch leaves the size of work-groups open, and arguments share a buffer that it writes
kernel void waits(global float* a) {
  a[get_global_id(0)] = 1;
  barrier(CLK_GLOBAL_MEM_FENCE);
}

// Steps and downward loops; group ids of the whole launch.
// CHECK-LABEL: kernel tiles(
// CHECK-NEXT: line [[#@LINE+7]]  reads   a  bytes [4*(get_group_id(0)*n + j), +4), j = get_local_id(0)..n - 1 step get_local_size(0), stride 4*get_local_size(0){{$}}
// CHECK-NEXT: line [[#@LINE+9]]  writes  a  bytes [4*(get_group_id(0)*n + j), +4), j = n - get_local_id(0) - 1..0 step -64, stride -256{{$}}
// CHECK-NEXT: depends on its work-groups: not split if the launch leaves their size open
// CHECK-NEXT: runs rewritten: it asks for group ids or sizes of the whole launch
// CHECK-NEXT: split at {{.*}} rung 1
kernel void tiles(global float* a, local float* t, int n) {
  for (int j = get_local_id(0); j < n; j += get_local_size(0))
    t[j] = a[get_group_id(0) * n + j];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = n - 1 - (int)get_local_id(0); j >= 0; j -= 64)
    a[get_group_id(0) * n + j] = t[j];
}

// A 1-D id taken apart, vectors of arguments, loops that data may end.
// CHECK-LABEL: kernel folded(
// CHECK-NEXT: line [[#@LINE+8]]  writes     a  bytes [4*(y*w + ((x + 1) % w)), +4){{$}}
// CHECK-NEXT: line [[#@LINE+9]]  reads      b  bytes [8*(i*v.y + j) + 4, +4), j = 0..at most 7, stride 8{{$}}
// CHECK-NEXT: line [[#@LINE+10]]  may write  b  bytes [8*(i*v.y + j), +4), j = 0..at most 7, stride 8{{$}}
// CHECK-NEXT: where i = get_global_id(0), x = i % w, y = i / w{{$}}
kernel void folded(global float* a, global int* b, int w, int4 v) {
  int i = get_global_id(0);
  int x = i % w;
  int y = i / w;
  a[y * w + (x + 1) % w] = 0;
  for (int j = 0; j < 8; ++j) {
    if (b[2 * (i * v.y + j) + 1] == 7)
      break;
    b[2 * (i * v.y + j)] = j;
  }
}

// Members of structs.
typedef struct { int2 size; struct { int first; int steps[3]; } part; } Plan;
// CHECK-LABEL: kernel planned(
// CHECK-NEXT: line [[#@LINE+3]]  writes  a  bytes [4*(i*p.size.y + p.part.first + p.part.steps[2]), +4), if i < p.size.x{{$}}
kernel void planned(global float* a, Plan p) {
  int i = get_global_id(0);
  if (i < p.size.x) a[i * p.size.y + p.part.first + p.part.steps[2]] = 1;
}

// CHECK-LABEL: kernel tells(
// CHECK-NEXT: line [[#@LINE+3]]  can't be split: printf
// CHECK: not split: printf (line [[#@LINE+2]])
kernel void tells(global int* a) {
  printf("%d", a[0]);
}
