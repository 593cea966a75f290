// Poisson's equation by successive over-relaxation in place: points are coloured as on a
// chessboard, and those of one colour have neighbours of the other alone.
kernel void relax(uint side, uint colour, float omega, float square, global const float *f,
                  global float *u) {
  const uint y = get_global_id(1) + 1;
  const uint x = 2 * get_global_id(0) + 1 + (y + 1 + colour) % 2;
  if (x >= side - 1 || y >= side - 1)
    return;
  const uint i = y * side + x;
  const float mean = 0.25f * (u[i - 1] + u[i + 1] + u[i - side] + u[i + side] - square * f[i]);
  u[i] += omega * (mean - u[i]);
}
