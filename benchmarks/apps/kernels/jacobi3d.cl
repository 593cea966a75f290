// One step of a seven-point Jacobi iteration on a cube of `side` points a side; the boundary stays.
kernel void jacobi_cube(uint side, global const float *in, global float *out) {
  const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  const uint last = side - 1, plane = side * side;
  if (x > 0 && x < last && y > 0 && y < last && z > 0 && z < last) {
    const uint i = z * plane + y * side + x;
    // A quotient need not be the same on all devices.
    out[i] = (in[i - plane] + in[i + plane] + in[i - side] + in[i + side] + in[i - 1] + in[i + 1]) *
             0.16666667f;
  }
}
