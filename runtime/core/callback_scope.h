// Whether the calling thread is in a callback of the program.
//
// Such a thread may be the driver's only one, which does nothing else before the callback returns.
// What is called there may take libsplit's lock, since nobody holds it while he waits for a driver,
// but it must not wait for long for anything that a driver has yet to do.
#pragma once

namespace libsplit::runtime {

class CallbackScope {
public:
  CallbackScope();
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  static bool active();

private:
  bool before_;
};

} // namespace libsplit::runtime
