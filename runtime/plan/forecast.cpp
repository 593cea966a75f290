#include "runtime/plan/forecast.h"

#include "runtime/plan/set_memo.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

/// Whether the one ends before the other begins.
bool areApart(const ByteSet& a, const ByteSet& b) {
  const ByteRange first = a.hull(), second = b.hull();
  return first.end <= second.begin || second.end <= first.begin;
}

} // namespace

const Forecast::Meeting& Forecast::Route::meet(const ByteSet& bytes) {
  const auto known = std::ranges::find_if(
      meetings, [&](const Meeting& each) { return SetMemo::areSame(each.bytes, bytes); });
  if (known != meetings.end())
    return *known;
  Meeting& made = meetings[oldest];
  oldest = (oldest + 1) % meetings.size();
  made = {bytes, bytes.intersects(move.bytes), bytes.contains(move.bytes)};
  if (made.isAny && !made.isAll)
    made.isAll = fillGapsToMove(intersect(bytes, move.bytes), move.bytes).contains(move.bytes);
  return made;
}

/// Its bytes are wanted.
void Forecast::repeat(Route& route) {
  route.repeated = route.writes == route.rhythm && route.isReady ? route.repeated + 1 : 0;
  route.rhythm = std::max(route.writes, 1U);
  route.writes = 0;
  route.isReady = false;
  route.sentAhead = false;
}

/// What was sent ahead was sent in vain.
void Forecast::miss(Route& route) {
  constexpr unsigned most = 1U << 16;
  route.enough = std::min(2 * route.enough, most);
  route.repeated = 0;
  route.sentAhead = false;
}

void Forecast::wanted(NodeId node, const ByteSet& bytes,
                      const std::function<bool(const ByteSet&)>& isOnItsWay) {
  for (Route& route : routes_)
    if (route.sentAhead && route.move.to == node && route.meet(bytes).isAll) {
      route.urgency.wanted([&] { return isOnItsWay(route.move.bytes); });
      repeat(route);
    }
}

void Forecast::moved(const Move& move) {
  const auto known = std::ranges::find(routes_, move, &Route::move);
  if (known != routes_.end()) {
    repeat(*known);
    std::rotate(known, known + 1, routes_.end());
    return;
  }
  if (routes_.size() == mostRoutes)
    routes_.erase(routes_.begin());
  routes_.push_back({move});
}

void Forecast::wrote(NodeId node, const ByteSet& bytes) {
  for (Route& route : routes_) {
    if (areApart(bytes, route.move.bytes))
      continue; // as most are where many nodes share a buffer
    const Meeting& meeting = route.meet(bytes);
    if (!meeting.isAny)
      continue;
    if (route.sentAhead)
      miss(route);
    ++route.writes;
    route.isReady = node == route.move.from && meeting.isAll;
    if (route.writes > route.rhythm)
      route.repeated = 0;
  }
}

std::vector<Move> Forecast::due() {
  std::vector<Move> moves;
  for (Route& route : routes_)
    if (route.isDue()) {
      route.sentAhead = true;
      moves.push_back(route.move);
    }
  return moves;
}

bool Forecast::mayDepart() const {
  return std::ranges::any_of(routes_, &Route::departs);
}

ByteSet Forecast::departing(NodeId node) const {
  ByteSet bytes;
  for (const Route& route : routes_)
    if (route.move.from == node && route.departs())
      bytes.uniteWith(route.move.bytes);
  return bytes;
}

} // namespace libsplit::runtime
