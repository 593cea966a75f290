// Corners by the segment test (FAST, E. Rosten and T. Drummond, 2005): of the 16 points on a circle
// around a corner, nine in a row are all brighter than it by a threshold, or all darker.

constant int circleX[16] = {0, 1, 2, 3, 3, 3, 2, 1, 0, -1, -2, -3, -3, -3, -2, -1};
constant int circleY[16] = {-3, -3, -2, -1, 0, 1, 2, 3, 3, 3, 2, 1, 0, -1, -2, -3};

// Whether nine neighbouring bits of a ring of 16 are set.
bool hasArc(uint bits) {
  bits |= bits << 16;
  uint runs = bits & (bits >> 1); // of 2
  runs &= runs >> 2;              // of 4
  runs &= runs >> 4;              // of 8
  return (runs & (bits >> 8) & 0xFFFF) != 0;
}

// A corner's score is by how much its circle differs beyond the threshold, 0 where there is none.
kernel void detect(uint width, uint height, int threshold, global const uchar *image,
                   global ushort *scores) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  ushort score = 0;
  if (x >= 3 && x + 3 < width && y >= 3 && y + 3 < height) {
    const int centre = image[y * width + x];
    // Of four points across, an arc of nine covers two neighbours at least.
    const int up = image[(y - 3) * width + x] - centre;
    const int down = image[(y + 3) * width + x] - centre;
    const int left = image[y * width + x - 3] - centre;
    const int right = image[y * width + x + 3] - centre;
    if (max(min(max(up, down), max(left, right)), -max(min(up, down), min(left, right))) >
        threshold) {
      uint brighter = 0, darker = 0;
      int brightness = 0, darkness = 0;
      for (int k = 0; k < 16; ++k) {
        const int difference = image[(y + circleY[k]) * width + x + circleX[k]] - centre;
        if (difference > threshold) {
          brighter |= 1u << k;
          brightness += difference - threshold;
        } else if (difference < -threshold) {
          darker |= 1u << k;
          darkness -= difference + threshold;
        }
      }
      if (hasArc(brighter))
        score = brightness;
      else if (hasArc(darker))
        score = darkness;
    }
  }
  scores[y * width + x] = score;
}

// Keeps a corner only where none of its neighbours scores more.
kernel void thin(uint width, uint height, global const ushort *scores, global uchar *corners) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  const ushort score = scores[y * width + x];
  bool isCorner = score > 0;
  if (isCorner) // not at an edge, then
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        isCorner = isCorner && scores[(y + dy) * width + x + dx] <= score;
  corners[y * width + x] = isCorner;
}
