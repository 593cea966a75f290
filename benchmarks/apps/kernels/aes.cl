// AES-128 in counter mode, one block per work-item. Words hold a column each, its first byte on top.

uint swapBytes(uint x) {
  return rotate(x & 0x00FF00FFu, 24u) | rotate(x & 0xFF00FF00u, 8u);
}

// One column of SubBytes, ShiftRows and MixColumns. `table` holds (2s, s, s, 3s) for each byte.
uint mixed(constant const uint *table, uint a, uint b, uint c, uint d) {
  return table[a >> 24] ^ rotate(table[b >> 16 & 255], 24u) ^ rotate(table[c >> 8 & 255], 16u) ^
         rotate(table[d & 255], 8u);
}

// The same without MixColumns, for the last round.
uint substituted(constant const uint *table, uint a, uint b, uint c, uint d) {
  return (table[a >> 24] << 16 & 0xFF000000u) | (table[b >> 16 & 255] << 8 & 0x00FF0000u) |
         (table[c >> 8 & 255] & 0x0000FF00u) | (table[d & 255] >> 8 & 0x000000FFu);
}

uint4 encrypt(constant const uint *table, constant const uint *key, uint4 s) {
  s ^= (uint4)(key[0], key[1], key[2], key[3]);
  for (int round = 4; round < 40; round += 4) {
    const uint4 roundKey = (uint4)(key[round], key[round + 1], key[round + 2], key[round + 3]);
    s = roundKey ^ (uint4)(mixed(table, s.x, s.y, s.z, s.w), mixed(table, s.y, s.z, s.w, s.x),
                           mixed(table, s.z, s.w, s.x, s.y), mixed(table, s.w, s.x, s.y, s.z));
  }
  return (uint4)(key[40], key[41], key[42], key[43]) ^
         (uint4)(substituted(table, s.x, s.y, s.z, s.w), substituted(table, s.y, s.z, s.w, s.x),
                 substituted(table, s.z, s.w, s.x, s.y), substituted(table, s.w, s.x, s.y, s.z));
}

// Block i of the stream is encrypted by counter `high`:`low` + i.
kernel void aes_ctr(constant const uint *table, constant const uint *key, ulong high, ulong low,
                    global const uint4 *in, global uint4 *out) {
  const size_t id = get_global_id(0);
  const ulong sum = low + id;
  const ulong carried = high + (sum < low ? 1 : 0);
  const uint4 counter = (uint4)(carried >> 32, (uint)carried, sum >> 32, (uint)sum);
  const uint4 stream = encrypt(table, key, counter);
  out[id] = in[id] ^ (uint4)(swapBytes(stream.x), swapBytes(stream.y), swapBytes(stream.z),
                             swapBytes(stream.w));
}
