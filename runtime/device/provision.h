// Memory that takes a while to be there: a device's, which drivers allocate only when it is
// touched, or the host's, pinned for copies.
//
// A driver may not come to do it before a callback of the program returns, and that may be waiting
// for the session's lock. So nothing of this happens under the lock: who plans something that needs
// such memory asks for it, gets Provisions for what is not there yet, has them made by another
// thread, and plans anew once they are over. That is also how an error comes before anything has
// been done that would have to be undone.
#pragma once

#include "runtime/core/completion.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// Whether there is memory.
enum class Room {
  There,
  OnItsWay, ///< ask again when the Provision is over
  None,
};

/// Memory that is to be made, once, by any thread that does not hold the session's lock.
class Provision {
public:
  /// `make` returns CL_SUCCESS or an error, and holds all that it uses.
  Provision(const Dispatch& cl, std::function<cl_int()> make)
      : done_(std::make_shared<Completion>(cl)), make_(std::move(make)) {}

  /// Over when it is made, or can't be.
  const CompletionPtr& done() const { return done_; }
  /// True for whoever asks first, under the session's lock, and thereby has to see to it that it is
  /// made.
  bool claim() { return !std::exchange(claimed_, true); }
  /// It can't be made.
  void giveUp() {
    make_ = nullptr;
    done_->finish(CL_OUT_OF_HOST_MEMORY);
  }
  /// Blocks until it is over.
  void make() {
    cl_int status = CL_OUT_OF_HOST_MEMORY;
    try {
      status = make_();
    } catch (...) { // what is not made is not there
    }
    make_ = nullptr;
    done_->finish(status);
  }

private:
  CompletionPtr done_;
  std::function<cl_int()> make_;
  bool claimed_ = false;
};

using Provisions = std::vector<std::shared_ptr<Provision>>;

/// Of something whose provision was asked for; `provision` is null if it takes none.
inline Room roomOf(const std::shared_ptr<Provision>& provision, Provisions& pending) {
  if (!provision || provision->done()->succeeded())
    return Room::There;
  if (provision->done()->over())
    return Room::None;
  pending.push_back(provision);
  return Room::OnItsWay;
}

/// Of memory that is there, and is only to be made faster: it is used as it is if that fails.
inline Room readyRoomOf(const std::shared_ptr<Provision>& provision, Provisions& pending) {
  return provision && provision->done()->over() ? Room::There : roomOf(provision, pending);
}

} // namespace libsplit::runtime
