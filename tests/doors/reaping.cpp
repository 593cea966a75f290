// Preloaded: a thread that waits for the end of any child, as programs have that keep processes.
// libsplit's own programs have none.
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>

namespace {

[[gnu::constructor]] void reap() {
  if (std::string_view(::program_invocation_short_name).starts_with("split"))
    return;
  std::thread([] {
    for (;;)
      if (::waitpid(-1, nullptr, 0) < 0)
        std::this_thread::sleep_for(std::chrono::microseconds(50)); // there is none
  }).detach();
}

} // namespace
