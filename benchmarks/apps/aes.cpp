// AES-128 in counter mode over `size` blocks of 16 bytes; every launch encrypts the last one's
// output again, with the next counters.
//
// The kernel uses tables of 32-bit words. What it is checked against is the standard's own,
// bytewise formulation, which in turn must give the vector of FIPS-197, appendix C.1. The device
// must give that vector too, and the counter-mode vector of NIST SP 800-38A, appendix F.5.1.
#include "kernels/aes.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace {

using Block = std::array<std::uint8_t, 16>;
using Blocks = std::vector<Block>;
using RoundKeys = std::array<Block, 11>;

constexpr Block block(std::uint64_t high, std::uint64_t low) {
  Block bytes{};
  for (unsigned i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
  }
  return bytes;
}

constexpr std::uint8_t timesX(std::uint8_t a) {
  return static_cast<std::uint8_t>(a << 1 ^ (a & 0x80 ? 0x1B : 0));
}

constexpr std::uint8_t product(std::uint8_t a, std::uint8_t b) {
  std::uint8_t result = 0;
  for (; b; b >>= 1, a = timesX(a))
    if (b & 1)
      result ^= a;
  return result;
}

/// FIPS-197, 5.1.1: the inverse in GF(2^8), then an affine map.
constexpr std::array<std::uint8_t, 256> makeSbox() {
  std::array<std::uint8_t, 256> sbox{};
  for (unsigned value = 0; value < 256; ++value) {
    const auto a = static_cast<std::uint8_t>(value);
    std::uint8_t inverse = 1; // a^254
    for (unsigned i = 0; i < 254; ++i)
      inverse = product(inverse, a);
    sbox[value] =
        static_cast<std::uint8_t>(inverse ^ std::rotl(inverse, 1) ^ std::rotl(inverse, 2) ^
                                  std::rotl(inverse, 3) ^ std::rotl(inverse, 4) ^ 0x63);
  }
  return sbox;
}

const std::array<std::uint8_t, 256> sbox = makeSbox();

/// FIPS-197, 5.2.
RoundKeys expandKey(const Block& key) {
  RoundKeys keys{key};
  std::uint8_t roundConstant = 1;
  for (unsigned round = 1; round < 11; ++round) {
    const Block& last = keys[round - 1];
    Block& next = keys[round];
    for (unsigned i = 0; i < 4; ++i)
      next[i] = last[i] ^ sbox[last[12 + (i + 1) % 4]];
    next[0] ^= roundConstant;
    roundConstant = timesX(roundConstant);
    for (unsigned i = 4; i < 16; ++i)
      next[i] = last[i] ^ next[i - 4];
  }
  return keys;
}

/// FIPS-197, 5.1, byte by byte.
Block encrypt(const RoundKeys& keys, Block state) {
  auto addKey = [&](unsigned round) {
    for (unsigned i = 0; i < 16; ++i)
      state[i] ^= keys[round][i];
  };
  addKey(0);
  for (unsigned round = 1; round < 11; ++round) {
    Block shifted{};
    for (unsigned column = 0; column < 4; ++column)
      for (unsigned row = 0; row < 4; ++row)
        shifted[4 * column + row] = sbox[state[4 * ((column + row) % 4) + row]];
    state = shifted;
    for (unsigned c = 0; round < 10 && c < 16; c += 4) {
      const std::array<std::uint8_t, 4> a{shifted[c], shifted[c + 1], shifted[c + 2],
                                          shifted[c + 3]};
      for (unsigned row = 0; row < 4; ++row)
        state[c + row] =
            static_cast<std::uint8_t>(product(a[row], 2) ^ product(a[(row + 1) % 4], 3) ^
                                      a[(row + 2) % 4] ^ a[(row + 3) % 4]);
    }
    addKey(round);
  }
  return state;
}

/// A column as the kernel sees it.
cl_uint word(const std::uint8_t* bytes) {
  return static_cast<cl_uint>(bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
}

class Cipher {
public:
  Cipher(sample::Sample& s, cl_command_queue queue, const Block& key)
      : sample_(s), queue_(queue), keys_(expandKey(key)), program_(s.program(sample::aesSource)),
        kernel_(sample::kernel(program_, "aes_ctr")) {
    std::vector<cl_uint> table, keyWords;
    for (std::uint8_t byte : sbox) {
      const std::uint8_t entry[] = {product(byte, 2), byte, byte, product(byte, 3)};
      table.push_back(word(entry));
    }
    for (const Block& roundKey : keys_)
      for (unsigned column = 0; column < 16; column += 4)
        keyWords.push_back(word(&roundKey[column]));
    const cl_mem_flags input = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    table_ = s.buffer(input, table.size() * sizeof(cl_uint), table.data());
    keyBuffer_ = s.buffer(input, keyWords.size() * sizeof(cl_uint), keyWords.data());
  }

  const RoundKeys& keys() const { return keys_; }

  void enqueue(cl_ulong high, cl_ulong low, const sample::Memory& in, const sample::Memory& out,
               std::size_t blocks) {
    sample::setArguments(kernel_, table_, keyBuffer_, high, low, in, out);
    sample::launch(queue_, kernel_, {blocks}, {std::min<std::size_t>(blocks, 64)});
  }

  Blocks encrypted(cl_ulong high, cl_ulong low, Blocks blocks) {
    const std::size_t bytes = blocks.size() * sizeof(Block);
    const auto in = sample_.buffer(CL_MEM_COPY_HOST_PTR, bytes, blocks.data());
    const auto out = sample_.buffer(CL_MEM_WRITE_ONLY, bytes);
    enqueue(high, low, in, out, blocks.size());
    sample::read(queue_, out, blocks);
    return blocks;
  }

private:
  sample::Sample& sample_;
  cl_command_queue queue_;
  RoundKeys keys_;
  sample::Program program_;
  sample::Kernel kernel_;
  sample::Memory table_, keyBuffer_;
};

void checkVectors(sample::Sample& s, cl_command_queue queue) {
  // FIPS-197, C.1. In counter mode an empty block shows the encrypted counter.
  const Block key = block(0x0001020304050607, 0x08090a0b0c0d0e0f);
  const Block expected = block(0x69c4e0d86a7b0430, 0xd8cdb78070b4c55a);
  Cipher fips(s, queue, key);
  sample::require(encrypt(fips.keys(), block(0x0011223344556677, 0x8899aabbccddeeff)) == expected,
                  "the host's AES does not give the vector of FIPS-197");
  const Blocks result = fips.encrypted(0x0011223344556677, 0x8899aabbccddeeff, Blocks(1));
  sample::require(result[0] == expected, "the device does not give the vector of FIPS-197");

  // SP 800-38A, F.5.1.
  Cipher counter(s, queue, block(0x2b7e151628aed2a6, 0xabf7158809cf4f3c));
  const Blocks plain = {
      block(0x6bc1bee22e409f96, 0xe93d7e117393172a), block(0xae2d8a571e03ac9c, 0x9eb76fac45af8e51),
      block(0x30c81c46a35ce411, 0xe5fbc1191a0a52ef), block(0xf69f2445df4f9b17, 0xad2b417be66c3710)};
  const Blocks cipher = {
      block(0x874d6191b620e326, 0x1bef6864990db6ce), block(0x9806f66b7970fdff, 0x8617187bb9fffdff),
      block(0x5ae4df3edbd5d35e, 0x5b4f09020db03eab), block(0x1e031dda2fbe03d1, 0x792170a0f3009cee)};
  sample::require(counter.encrypted(0xf0f1f2f3f4f5f6f7, 0xf8f9fafbfcfdfeff, plain) == cipher,
                  "the device does not give the vectors of SP 800-38A");
}

void aes(sample::Sample& s) {
  const std::size_t blocks = sample::roundUp(std::max<std::size_t>(s.options().size, 64), 64);
  const auto queue = s.queue();
  checkVectors(s, queue);

  Blocks plain(blocks), result(blocks);
  sample::inParallel(blocks, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      plain[i] = block(sample::randomBits(i, 1), sample::randomBits(i, 2));
  });
  auto in = s.buffer(CL_MEM_COPY_HOST_PTR, blocks * sizeof(Block), plain.data());
  auto out = s.buffer(CL_MEM_READ_WRITE, blocks * sizeof(Block));
  Cipher cipher(s, queue, block(sample::randomBits(0, 3), sample::randomBits(1, 3)));
  // Just below a carry into the counter's upper half.
  const cl_ulong high = sample::randomBits(2, 3), low = ~cl_ulong{0} - blocks / 2;
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    s.timed(queue, [&] { cipher.enqueue(high + 2 * i, low, in, out, blocks); });
    std::swap(in, out);
  }
  sample::read(queue, in, result);

  s.verify([&] {
    for (std::size_t probe = 0; probe < std::min<std::size_t>(blocks, 4096); ++probe) {
      const std::size_t at = blocks <= 4096 ? probe : sample::randomBits(probe) % blocks;
      Block expected = plain[at];
      for (unsigned i = 0; i < s.options().iterations; ++i) {
        const cl_ulong sum = low + at;
        const Block stream = encrypt(cipher.keys(), block(high + 2 * i + (sum < low ? 1 : 0), sum));
        for (unsigned k = 0; k < 16; ++k)
          expected[k] ^= stream[k];
      }
      sample::require(result[at] == expected, "block " + std::to_string(at) + " is wrong");
    }
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 20, .iterations = 5}, aes);
}
