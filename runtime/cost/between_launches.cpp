#include "runtime/cost/between_launches.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

namespace {

/// Of about as many bytes of the same buffers.
bool areAlike(const std::vector<ProgramCommand>& a, const std::vector<ProgramCommand>& b) {
  return std::ranges::equal(a, b, [](const ProgramCommand& one, const ProgramCommand& other) {
    const auto [less, more] = std::minmax({one.bytes.size(), other.bytes.size()});
    return one.buffer == other.buffer && one.kind == other.kind && more <= 2 * less;
  });
}

} // namespace

void BetweenLaunches::note(const void* buffer, ProgramCommand::Kind kind, ByteRange bytes) {
  if (bytes.empty())
    return;
  auto found = std::ranges::find_if(commands_, [&](const ProgramCommand& each) {
    return each.buffer == buffer && each.kind == kind;
  });
  if (found == commands_.end()) {
    if (commands_.size() < mostCommands)
      commands_.push_back({buffer, kind, ByteSet(bytes)});
    return;
  }
  found->bytes.add(bytes);
  if (found->bytes.ranges().size() > mostRanges)
    found->bytes = ByteSet(found->bytes.hull());
}

std::vector<ProgramCommand> BetweenLaunches::take() {
  return std::exchange(commands_, {});
}

bool UsualCommands::cameWith(std::vector<ProgramCommand> commands) {
  ++launches_;
  const bool isNews = !areAlike(commands, usual_) && areAlike(commands, last_);
  last_ = std::move(commands);
  if (isNews)
    usual_ = last_;
  return isNews;
}

} // namespace libsplit::runtime
