#include "runtime/plan/windows.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

/// Of what is touched, this part is added at each end.
constexpr std::uint64_t slackPart = 8, leastSlackPart = 256;

bool covers(const ByteRange& all, const ByteRange& part) {
  return part.empty() || (all.begin <= part.begin && part.end <= all.end);
}

ByteRange hullOf(const ByteRange& a, const ByteRange& b) {
  if (a.empty() || b.empty())
    return a.empty() ? b : a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

/// With `slack` more at both ends, as far as the buffer goes. Never empty: a kernel's argument has
/// to be something.
ByteRange aligned(const ByteRange& bytes, std::uint64_t slack, std::uint64_t size,
                  std::uint64_t alignment) {
  const std::uint64_t begin = bytes.begin > slack ? bytes.begin - slack : 0;
  const std::uint64_t last = std::min(size, std::max(bytes.end, std::uint64_t{1}));
  const std::uint64_t end = size - last > slack ? last + slack : size;
  const std::uint64_t up = (alignment - end % alignment) % alignment;
  return {begin - begin % alignment, size - end > up ? end + up : size};
}

enum class Plan {
  Whole,      ///< all that lack something become whole
  WithSlack,  ///< … what they held, what is touched, and some slack
  WithLittle, ///< … and hardly any: room for a halo
  Grown,      ///< … the same without slack
  Moved,      ///< … what is touched
  Anew,       ///< all copies hold what is touched
};

ByteRange rangeOf(const CopyWish& wish, Plan plan, std::uint64_t alignment) {
  if (plan != Plan::Anew && wish.has && covers(*wish.has, wish.touched))
    return *wish.has;
  if (plan == Plan::Whole)
    return {0, wish.size};
  const bool grows = plan < Plan::Moved && wish.has;
  const std::uint64_t slack = plan == Plan::WithSlack    ? wish.touched.size() / slackPart
                              : plan == Plan::WithLittle ? wish.touched.size() / leastSlackPart
                                                         : 0;
  const ByteRange window = aligned(wish.touched, slack, wish.size, alignment);
  return grows ? hullOf(*wish.has, window) : window;
}

} // namespace

std::uint64_t leastFor(const CopyWish& wish, std::uint64_t alignment) {
  return aligned(wish.touched, 0, wish.size, alignment).size();
}

std::optional<std::vector<ByteRange>> chooseWindows(std::span<const CopyWish> wishes,
                                                    const WindowLimits& limits) {
  for (const Plan plan :
       {Plan::Whole, Plan::WithSlack, Plan::WithLittle, Plan::Grown, Plan::Moved, Plan::Anew}) {
    std::vector<ByteRange> chosen;
    std::uint64_t left = limits.room;
    bool fits = true;
    for (const CopyWish& wish : wishes) {
      const ByteRange range = rangeOf(wish, plan, limits.alignment);
      const bool isWhole = range.size() == wish.size;
      // What is needed the driver is asked for, whatever it promises.
      const bool isNeeded = isWhole || plan >= Plan::Moved || range == wish.has;
      fits = fits && range.size() <= left && (wish.mayBeWhole || !isWhole) &&
             (isNeeded || range.size() <= limits.largest);
      left -= fits ? range.size() : 0;
      chosen.push_back(range);
    }
    if (fits)
      return chosen;
  }
  return std::nullopt;
}

} // namespace libsplit::runtime
