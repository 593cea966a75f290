#include "runtime/device/staging_ring.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

namespace {
/// Of what a device copies to and from, for its own good.
constexpr std::size_t alignment = 256;
} // namespace

std::size_t StagingRing::placeFor(std::size_t size) const {
  return next_ + size <= block_->size() ? next_ : 0;
}

bool StagingRing::waitsForNew(std::size_t size) const {
  const std::size_t begin = placeFor(size);
  return std::ranges::any_of(
      users_, [&](const User& user) { return user.isNew && user.lies(begin, begin + size); });
}

void StagingRing::noteIssued() {
  for (User& user : users_)
    user.isNew = false;
}

StagingRing::Part StagingRing::take(std::size_t size, std::vector<CompletionPtr> users) {
  std::erase_if(users_, [](const User& user) {
    return std::ranges::all_of(user.done, [](const CompletionPtr& each) { return each->over(); });
  });
  const std::size_t begin = placeFor(size), end = begin + size;
  Part part{block_->address() + begin, {}};
  std::vector<User> left;
  std::erase_if(users_, [&](User& user) {
    if (!user.lies(begin, end))
      return false;
    part.after.insert(part.after.end(), user.done.begin(), user.done.end());
    // What is not taken of its part stays its.
    for (const auto& [from, to] : {std::pair{user.begin, std::min(user.end, begin)},
                                   std::pair{std::max(user.begin, end), user.end}})
      if (from < to)
        left.push_back({from, to, user.done, user.isNew});
    return true;
  });
  users_.insert(users_.end(), left.begin(), left.end());
  users_.push_back({begin, end, std::move(users)});
  next_ = (end + alignment - 1) / alignment * alignment;
  return part;
}

} // namespace libsplit::runtime
