// Which bytes of a buffer will be wanted on another node once they are written, told from where
// they went before. Pure.
//
// Iterations exchange the same halo again and again: what a node lacked for the last launch that
// read the buffer it will lack for the next one. Sent as soon as it is written, it travels while
// the rest of the launch computes and the program prepares its next call, and the next launch finds
// nothing to wait for.
//
// A route is a set of bytes that went from one node to another. It repeats if its bytes are written
// as often between one use and the next as between the two before, the last time all of them by the
// node that they come from. Once a route has repeated it is used ahead, as soon as they have been
// written that often. If what was sent so is overwritten before anybody wanted it, it was in vain,
// and the route has to repeat twice as often as before until it is tried again: a program whose
// rhythm was mistaken loses ever less by it.
//
// Bytes that mostly arrive too late are to be computed before all else (urgency.h): they depart.
//
// Worked example: a stencil in two buffers, A and B, halves on nodes 1 and 2. Step 1 reads A: row 5
// goes from 2 to 1. Step 2 writes A, step 3 reads it: row 5 goes again, so the route has repeated
// once. Step 4 writes A, and row 5 is sent ahead; step 5 finds it there.
#pragma once

#include "analysis-pass/summary/byte_set.h"
#include "runtime/plan/directory.h"
#include "runtime/plan/urgency.h"

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

namespace libsplit::runtime {

/// Of one buffer. Not thread-safe.
class Forecast {
public:
  /// `node` is about to use `bytes`, before anything is moved for it. `isOnItsWay`: whether some of
  /// the bytes that it is given, which were sent ahead, have not arrived yet.
  void wanted(NodeId node, const ByteSet& bytes,
              const std::function<bool(const ByteSet&)>& isOnItsWay);
  /// It lacked those of `move`.
  void moved(const Move& move);
  /// `node` alone has `bytes` now.
  void wrote(NodeId node, const ByteSet& bytes);
  /// Bytes that are to be sent ahead when `node` has written them next, and as early as can be.
  ByteSet departing(NodeId node) const;
  /// Whether there are any, of any node.
  bool mayDepart() const;
  /// What to send ahead, once: it was just written, and will be wanted.
  std::vector<Move> due();

private:
  /// How bytes that were written or wanted meet a route's.
  struct Meeting {
    ByteSet bytes;
    bool isAny = false; ///< some of the route's are among them
    bool isAll = false; ///< all are, but for small gaps, with which rows travel as one
  };
  struct Route {
    Move move;
    unsigned writes = 0;    ///< since its bytes were last wanted
    unsigned rhythm = 1;    ///< writes between the two uses before that
    unsigned repeated = 0;  ///< in a row
    unsigned enough = 1;    ///< repetitions after which it is used ahead
    bool isReady = false;   ///< the last write was of all its bytes, where they come from
    bool sentAhead = false; ///< and not wanted since
    Urgency urgency{};
    /// The last ones: launches repeat, and to go through thousands of rows each time takes long.
    std::array<Meeting, 4> meetings{};
    std::size_t oldest = 0;

    const Meeting& meet(const ByteSet& bytes);
    bool departs() const {
      return writes + 1 == rhythm && repeated >= enough && urgency.isUrgent();
    }
    bool isDue() const { return writes == rhythm && isReady && repeated >= enough && !sentAhead; }
  };
  static constexpr std::size_t mostRoutes = 16;

  static void repeat(Route& route);
  static void miss(Route& route);

  std::vector<Route> routes_; ///< the one wanted last comes last
};

} // namespace libsplit::runtime
