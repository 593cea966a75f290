// What stands at places that data name is changed. That no two work-items have the same place only
// the data say.

// One colour of a mesh: its elements have no node in common.
kernel void assemble(global int* force, global const int* nodes, global const int* x,
                     global const int* colour, int first, int count) {
  const int i = get_global_id(0);
  if (i >= count)
    return;
  const int e = colour[first + i];
  const int a = nodes[3 * e], b = nodes[3 * e + 1], c = nodes[3 * e + 2];
  const int load = x[a] + x[b] - x[c];
  force[a] += load;
  force[b] += 2 * load;
  force[c] -= load;
}

// Particles in another order than they are stored in.
kernel void push(global int4* place, global int4* speed, global const int* order, int drag) {
  const int k = order[get_global_id(0)];
  speed[k] -= speed[k] / drag;
  place[k] += speed[k];
}

// Some are not there.
kernel void raise(global int* most, global const int* to, global const int* x) {
  const int i = get_global_id(0);
  const int k = to[i];
  if (k >= 0)
    most[k] = max(most[k], x[i]);
}

// Rows of a matrix, each by a work-item.
kernel void scale_rows(global int* matrix, global const int* order, int columns) {
  const int row = order[get_global_id(0)];
  for (int k = 0; k < columns; ++k)
    matrix[row * columns + k] ^= k + row;
}

// Keys that are wrapped into a table.
kernel void drop(global int* table, global const int* key, int mask) {
  const int i = get_global_id(0);
  table[key[i] & mask] += i;
}
