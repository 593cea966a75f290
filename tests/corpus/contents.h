// What buffers hold in kernels' tests, by a name: the same everywhere.
#pragma once

#include <cstdint>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::corpus {

using Bytes = std::vector<unsigned char>;

inline std::uint64_t number(const std::string& text) {
  // Products keep sizes readable: 64*64*4.
  std::uint64_t product = 1;
  std::istringstream factors(text);
  for (std::string factor; std::getline(factors, factor, '*');)
    product *= std::stoull(factor, nullptr, 0);
  return product;
}

/// splitmix64: the same everywhere.
class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

private:
  std::uint64_t state_;
};

template <class T, class Next> void fillWith(Bytes& bytes, Next next) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value = static_cast<T>(next(i / sizeof(T)));
    std::memcpy(bytes.data() + i, &value, sizeof value);
  }
}

/// `kind` is random, zero, float, double, ramp, below:N, short-below:N, permutation or rising:N.
inline Bytes contents(const std::string& kind, std::size_t size, std::uint64_t seed) {
  Bytes bytes(size, 0);
  Random random(seed);
  auto colon = kind.find(':');
  std::string name = kind.substr(0, colon);
  std::uint64_t limit = colon == std::string::npos ? 1 : number(kind.substr(colon + 1));
  if (name == "random")
    fillWith<std::uint8_t>(bytes, [&](std::size_t) { return random(); });
  else if (name == "float")
    fillWith<float>(bytes, [&](std::size_t) { return random.unit() * 2 - 1; });
  else if (name == "double")
    fillWith<double>(bytes, [&](std::size_t) { return random.unit() * 2 - 1; });
  else if (name == "ramp")
    fillWith<std::uint32_t>(bytes, [](std::size_t i) { return i; });
  else if (name == "below")
    fillWith<std::uint32_t>(bytes, [&](std::size_t) { return random() % limit; });
  else if (name == "short-below")
    fillWith<std::uint16_t>(bytes, [&](std::size_t) { return random() % limit; });
  else if (name == "permutation") {
    std::vector<std::uint32_t> order(size / 4);
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<std::uint32_t>(i);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random() % i]);
    fillWith<std::uint32_t>(bytes, [&](std::size_t i) { return order[i]; });
  } else if (name == "rising") {
    std::uint64_t sum = 0;
    fillWith<std::uint32_t>(bytes, [&](std::size_t) {
      auto before = sum;
      sum += random() % limit;
      return before;
    });
  } else if (name != "zero")
    throw std::runtime_error("contents of kind " + kind);
  return bytes;
}

} // namespace libsplit::corpus
