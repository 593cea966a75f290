// Templates of programs, out of which a seed makes one text:
//
//     a[$(i##i + 1##~i * 2)] = x[@I] + $(1..9);
//
// `$(a##b##~c)` is one of its alternatives, which may hold others; those behind `~` are mutations
// and rarer. `$(1..9)` is a number of that range. `@I` and its like are replaced by what the given
// table says of them, itself a template.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace libsplit::oracle {

/// splitmix64: unlike the standard's distributions, the same with every library.
class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x2545f4914f6cdd1dull + 1) {}
  unsigned below(unsigned n) {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<unsigned>((z ^ (z >> 31)) % n);
  }
  bool oneIn(unsigned n) { return below(n) == 0; }
  const char* of(std::initializer_list<const char*> texts) {
    return *(texts.begin() + below(static_cast<unsigned>(texts.size())));
  }

private:
  std::uint64_t state_;
};

using Names = std::map<std::string, std::string, std::less<>>;

std::string expand(std::string_view text, const Names& names, Random& random);

/// `kernel` with one place changed where that leaves it OpenCL C: a number, an operator or a
/// work-item function, within an index of one of `buffers` or the condition of an `if`.
std::string mutate(const std::string& kernel, const std::set<std::string, std::less<>>& buffers,
                   Random& random);

} // namespace libsplit::oracle
