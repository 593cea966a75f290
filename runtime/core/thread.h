// Threads of libsplit's own in a process that is not its own.
#pragma once

#include <functional>
#include <thread>

namespace libsplit::runtime {

/// A thread with all signals blocked but those that it raises itself, so that the application's
/// handlers run on its own threads. Throws std::system_error if the system has none to give.
std::thread startThread(std::function<void()> body);
/// The same, of a thread that nobody joins. False: there is none to be had, and nothing was done.
[[nodiscard]] bool startDetached(std::function<void()> body);

} // namespace libsplit::runtime
