// Looks for 16 passwords by their MD5 digests among `size` words with a hundred suffixes each,
// `iterations` times. All the work is arithmetic on words of uneven length; what is written, and by
// whom, depends on what is found.
#include "kernels/md5_search.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace {

constexpr std::size_t groupSize = 64, targets = 16;

std::array<cl_uint, 64> makeSines() {
  std::array<cl_uint, 64> sines{};
  for (std::size_t i = 0; i < 64; ++i)
    sines[i] = static_cast<cl_uint>(std::fabs(std::sin(static_cast<double>(i + 1))) * 0x1p32);
  return sines;
}

const std::array<cl_uint, 64> sines = makeSines();

/// RFC 1321, for messages that fit into one block.
cl_uint4 digest(const std::string& message) {
  std::array<cl_uint, 16> block{};
  const std::string padded = message + '\x80';
  for (std::size_t i = 0; i < padded.size(); ++i)
    block[i / 4] |= cl_uint{static_cast<unsigned char>(padded[i])} << 8 * (i % 4);
  block[14] = static_cast<cl_uint>(8 * message.size());
  constexpr std::array<int, 16> shifts = {7, 12, 17, 22, 5, 9,  14, 20,
                                          4, 11, 16, 23, 6, 10, 15, 21};
  const std::array<cl_uint, 4> start = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};
  auto [a, b, c, d] = start;
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned round = i / 16;
    const std::array<cl_uint, 4> mixed = {(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d,
                                          c ^ (b | ~d)};
    const std::array<unsigned, 4> word = {i, 5 * i + 1, 3 * i + 5, 7 * i};
    const cl_uint sum = a + mixed[round] + block[word[round] % 16] + sines[i];
    a = std::exchange(
        d, std::exchange(c, std::exchange(b, b + std::rotl(sum, shifts[4 * round + i % 4]))));
  }
  return {{start[0] + a, start[1] + b, start[2] + c, start[3] + d}};
}

void md5Search(sample::Sample& s) {
  const cl_uint4 known = digest("abc"); // RFC 1321, A.5
  sample::require(known.s[0] == 0x98500190 && known.s[3] == 0x727fe128,
                  "the host's MD5 does not give the vector of RFC 1321");
  const std::size_t words = std::max<std::size_t>(s.options().size, targets);
  std::vector<cl_uchar> letters;
  std::vector<cl_uint> begin{0}, expected;
  for (std::size_t word = 0; word < words; ++word) {
    const std::size_t length = 4 + s.randomBits(word, 1) % 12;
    for (std::size_t i = 0; i < length; ++i)
      letters.push_back(static_cast<cl_uchar>('a' + s.randomBits(letters.size(), 2) % 26));
    begin.push_back(static_cast<cl_uint>(letters.size()));
  }
  std::vector<cl_uint4> target;
  for (std::size_t t = 0; t < targets; ++t) {
    const std::size_t word = t * words / targets + s.randomBits(t, 3) % (words / targets);
    const std::size_t suffix = s.randomBits(t, 4) % 100;
    const std::string text(letters.begin() + begin[word], letters.begin() + begin[word + 1]);
    target.push_back(digest(text + std::to_string(suffix / 10) + std::to_string(suffix % 10)));
    expected.push_back(static_cast<cl_uint>(1 + 100 * word + suffix));
  }
  target.back() = {{1, 2, 3, 4}}; // nobody's
  expected.back() = 0;

  const auto queue = s.queue();
  const auto program = s.program(sample::md5SearchSource);
  const auto kernel = sample::kernel(program, "search");
  const auto sineBuffer = s.copyOf(std::vector<cl_uint>(sines.begin(), sines.end()));
  const auto letterBuffer = s.copyOf(letters, CL_MEM_READ_ONLY);
  const auto beginBuffer = s.copyOf(begin, CL_MEM_READ_ONLY);
  const auto targetBuffer = s.copyOf(target, CL_MEM_READ_ONLY);
  const auto foundBuffer = s.array<cl_uint>(targets);
  const std::vector<cl_uint> nothing(targets);
  std::vector<cl_uint> found(targets);
  sample::setArguments(kernel, sineBuffer, letterBuffer, beginBuffer, static_cast<cl_uint>(words),
                       cl_uint{targets}, targetBuffer, foundBuffer);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    s.timed([&] {
      sample::write(queue, foundBuffer, nothing);
      sample::launch(queue, kernel, {sample::roundUp(words, groupSize)}, {groupSize});
      sample::read(queue, foundBuffer, found);
    });
    s.verify([&] { sample::require(found == expected, "other passwords were found"); });
    s.output(found);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 17, .iterations = 5}, md5Search);
}
