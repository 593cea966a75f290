// The program's forks, and libsplit's own threads.
//
// The child of a fork has one thread, the one that forked, and every lock that another held then is
// held for ever. Natively nobody is with the driver when a program forks whose work is done; but
// one of libsplit's threads may be: it builds for a helper, or lets go of what the program has
// released. If the child uses OpenCL, it would wait for the driver's lock without end. So a fork
// waits until those threads have come out, for a moment at most, and keeps them out until it is
// over:
//
//   own thread         Unforked: builds ----|          | waits in Unforked's constructor | builds
//   ... program's thread        fork: before() waits ------| fork | after()
#pragma once

namespace libsplit::runtime {

/// While one lives, the calling thread is at work that no fork should come upon; waits first if one
/// is on its way. May be nested. Not taken under a lock that others at such work take.
class Unforked {
public:
  Unforked();
  ~Unforked();
  Unforked(const Unforked&) = delete;
  Unforked& operator=(const Unforked&) = delete;
};

/// While one lives, the calling thread waits for something without holding anything of a driver's,
/// so forks may come although it is in an `Unforked`. Else of no effect.
class Forkable {
public:
  Forkable();
  ~Forkable();
  Forkable(const Forkable&) = delete;
  Forkable& operator=(const Forkable&) = delete;

private:
  const unsigned depth_; ///< of its `Unforked`s
};

/// Handlers for pthread_atfork. `beforeFork` gives up after a second: a driver may be at one call
/// for as long as a kernel runs.
void beforeFork();
void afterForkInParent();
void afterForkInChild();

} // namespace libsplit::runtime
