// Looks for passwords by their MD5 digests (RFC 1321): words of a dictionary, each with all suffixes
// of two decimal digits. Words lie one after the other and have no more than 32 letters.

uint stepped(uint mixed, uint a, uint b, uint word, uint sine, uint shift) {
  return b + rotate(a + mixed + word + sine, shift);
}

uint4 digest(constant const uint *sines, const uint message[16]) {
  const uint4 start = (uint4)(0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u);
  const uchar shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  uint a = start.x, b = start.y, c = start.z, d = start.w;
  for (uint i = 0; i < 64; ++i) {
    uint mixed, word;
    switch (i / 16) {
    case 0:
      mixed = (b & c) | (~b & d);
      word = i;
      break;
    case 1:
      mixed = (d & b) | (~d & c);
      word = 5 * i + 1;
      break;
    case 2:
      mixed = b ^ c ^ d;
      word = 3 * i + 5;
      break;
    default:
      mixed = c ^ (b | ~d);
      word = 7 * i;
    }
    const uint next = stepped(mixed, a, b, message[word % 16], sines[i], shifts[i / 16][i % 4]);
    a = d;
    d = c;
    c = b;
    b = next;
  }
  return start + (uint4)(a, b, c, d);
}

void put(uint message[16], uint at, uint byte) {
  message[at / 4] |= byte << 8 * (at % 4);
}

// found[t] = 1 + 100 * word + suffix for each target that is met.
kernel void search(constant const uint *sines, global const uchar *letters,
                   global const uint *begin, uint words, uint targets,
                   constant const uint4 *target, global uint *found) {
  const uint id = get_global_id(0);
  if (id >= words)
    return;
  uint word[16];
  for (uint i = 0; i < 16; ++i)
    word[i] = 0;
  const uint first = begin[id], length = begin[id + 1] - first;
  for (uint i = 0; i < length; ++i)
    put(word, i, letters[first + i]);
  put(word, length + 2, 0x80);
  word[14] = 8 * (length + 2);
  for (uint suffix = 0; suffix < 100; ++suffix) {
    uint message[16];
    for (uint i = 0; i < 16; ++i)
      message[i] = word[i];
    put(message, length, '0' + suffix / 10);
    put(message, length + 1, '0' + suffix % 10);
    const uint4 result = digest(sines, message);
    for (uint t = 0; t < targets; ++t)
      if (all(result == target[t]))
        found[t] = 1 + 100 * id + suffix;
  }
}
