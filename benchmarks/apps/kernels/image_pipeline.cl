// Outlines in a colour picture, in five stages with integers throughout: grey, smoothed along rows,
// along columns, gradients, and what is left of these where they are greatest across the outline.

kernel void grey(uint width, uint height, global const uchar4 *picture, global uchar *out) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  const uchar4 c = picture[y * width + x];
  out[y * width + x] = (77 * c.x + 150 * c.y + 29 * c.z) >> 8;
}

// Binomial weights, 1 4 6 4 1; edges go on for ever.
kernel void smooth_rows(uint width, uint height, global const uchar *in, global ushort *out) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  global const uchar *row = in + y * width;
  const uint last = width - 1;
  const uint l1 = x < 1 ? 0 : x - 1, l2 = x < 2 ? 0 : x - 2;
  const uint r1 = min(x + 1, last), r2 = min(x + 2, last);
  out[y * width + x] = row[l2] + row[r2] + 4 * (row[l1] + row[r1]) + 6 * row[x];
}

kernel void smooth_columns(uint width, uint height, global const ushort *in, global uchar *out) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  const uint last = height - 1;
  const uint a1 = y < 1 ? 0 : y - 1, a2 = y < 2 ? 0 : y - 2;
  const uint b1 = min(y + 1, last), b2 = min(y + 2, last);
  out[y * width + x] = (in[a2 * width + x] + in[b2 * width + x] +
                        4 * (in[a1 * width + x] + in[b1 * width + x]) + 6 * in[y * width + x]) >>
                       8;
}

// Sobel's operator. The magnitude is the sum of the components; the direction, one of four.
kernel void gradient(uint width, uint height, global const uchar *in, global ushort *magnitude,
                     global uchar *direction) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  int gx = 0, gy = 0;
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    global const uchar *above = in + (y - 1) * width + x, *row = above + width, *below = row + width;
    gx = above[1] + 2 * row[1] + below[1] - above[-1] - 2 * row[-1] - below[-1];
    gy = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1];
  }
  const int ax = abs(gx), ay = abs(gy);
  magnitude[y * width + x] = ax + ay;
  // The tangent of 22.5 degrees is near 2 / 5.
  direction[y * width + x] = 5 * ay < 2 * ax ? 0 : 5 * ax < 2 * ay ? 2 : (gx < 0) == (gy < 0) ? 1 : 3;
}

kernel void outline(uint width, uint height, ushort threshold, global const ushort *magnitude,
                    global const uchar *direction, global uchar *out) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  uchar value = 0;
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    const uint i = y * width + x;
    const ushort self = magnitude[i];
    ushort before, after;
    switch (direction[i]) {
    case 0:
      before = magnitude[i - 1];
      after = magnitude[i + 1];
      break;
    case 1:
      before = magnitude[i - width - 1];
      after = magnitude[i + width + 1];
      break;
    case 2:
      before = magnitude[i - width];
      after = magnitude[i + width];
      break;
    default:
      before = magnitude[i - width + 1];
      after = magnitude[i + width - 1];
    }
    if (self > threshold && self >= before && self > after)
      value = 255;
  }
  out[y * width + x] = value;
}
