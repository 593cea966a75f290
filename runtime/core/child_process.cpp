#include "runtime/core/child_process.h"

#include "runtime/core/forks.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/// As `clone`, which sanitizers take for a fork.
extern "C" int __clone(int (*body)(void*), void* stack, int flags, void* argument, ...); // NOLINT

namespace libsplit::runtime {

namespace {

using Clock = std::chrono::steady_clock;

/// When to give up on a child: when it has used up its time, or at somebody's word. Its time is
/// that of the processor, and that in which it sleeps; while it only waits for its turn, on a
/// machine that others keep busy, none passes.
class Patience {
public:
  Patience(pid_t child, double seconds, const std::atomic<bool>* cancelled)
      : child_(child), seconds_(seconds), cancelled_(cancelled) {}

  /// To be asked often: it also takes the time.
  bool over() {
    if (cancelled_ && *cancelled_)
      return true;
    const Clock::time_point now = Clock::now();
    if (now - asked_ < std::chrono::milliseconds(20))
      return false;
    if (isAsleep())
      asleep_ += std::chrono::duration<double>(now - asked_).count();
    asked_ = now;
    return spent() >= seconds_;
  }
  /// Seconds of its time, so far.
  double spent() const { return processorSeconds() + asleep_; }
  /// How long to sleep before asking again: whoever cancels mostly waits for that, at the end of
  /// the process.
  int milliseconds() {
    constexpr int often = 5;
    const double left = (seconds_ - spent()) * 1e3;
    return left > often ? often : std::max(1, static_cast<int>(std::ceil(left)));
  }

private:
  double processorSeconds() const {
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(child_, &clock) != 0 || ::clock_gettime(clock, &used) != 0)
      return 0; // it has ended
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  }
  /// Whether it waits for something other than the processor or a disk.
  bool isAsleep() const {
    std::ifstream file("/proc/" + std::to_string(child_) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name = text.rfind(')'); // "17 (a name) S 1 …"
    return name == std::string::npos || name + 2 >= text.size() ||
           (text[name + 2] != 'R' && text[name + 2] != 'D');
  }

  pid_t child_;
  double seconds_;
  const std::atomic<bool>* cancelled_;
  Clock::time_point asked_ = Clock::now();
  double asleep_ = 0;
};

/// A file descriptor that closes itself.
class Descriptor {
public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void reset(int fd = -1) {
    if (fd_ >= 0)
      ::close(fd_);
    fd_ = fd;
  }
  int get() const { return fd_; }

private:
  int fd_;
};

std::vector<std::string> childEnvironment() {
  std::vector<std::string> kept;
  for (char** entry = environ; entry && *entry; ++entry) {
    std::string text = *entry;
    if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("OPENCL_LAYERS=") &&
        !text.starts_with("LIBSPLIT_"))
      kept.push_back(std::move(text));
  }
  return kept;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts)
    result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Feeds `input` and collects the output until the child closes its end; false when the time is
/// over.
bool talk(Descriptor& channel, const std::string& input, std::string& output, Patience& patience) {
  std::size_t sent = 0;
  char buffer[65536];
  if (input.empty())
    ::shutdown(channel.get(), SHUT_WR);
  while (true) {
    pollfd poller{channel.get(), POLLIN, 0};
    if (sent < input.size())
      poller.events |= POLLOUT;
    int ready = ::poll(&poller, 1, patience.milliseconds());
    if (patience.over())
      return false;
    if (ready < 0 && errno != EINTR)
      return false;
    if (ready <= 0)
      continue;
    if (poller.revents & POLLOUT) {
      // A socket, not a pipe: MSG_NOSIGNAL spares the process a SIGPIPE if the child dies early.
      // And what the child does not read must not hold up this thread.
      auto count = ::send(channel.get(), input.data() + sent, input.size() - sent,
                          MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0)
        sent += static_cast<std::size_t>(count);
      else if (errno != EINTR && errno != EAGAIN)
        sent = input.size();
      if (sent == input.size())
        ::shutdown(channel.get(), SHUT_WR);
    }
    if (poller.revents & POLLNVAL) // the program has closed what is not its own
      return true;
    if (poller.revents & (POLLIN | POLLHUP | POLLERR)) {
      auto count = ::recv(channel.get(), buffer, sizeof buffer, 0);
      if (count > 0)
        output.append(buffer, static_cast<std::size_t>(count));
      else if (count == 0 || (errno != EINTR && errno != EAGAIN))
        return true;
    }
  }
}

/// Waits for the child's end; false if it still runs when it `givesUp()`. `status` is -1 if
/// somebody else has reaped it (an application that waits for any child).
template <class GivesUp> bool reap(pid_t child, int& status, const GivesUp& givesUp) {
  while (true) {
    pid_t reaped = ::waitpid(child, &status, WNOHANG);
    if (reaped == child)
      return true;
    if (reaped < 0 && errno != EINTR) {
      status = -1;
      return true;
    }
    if (givesUp())
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// What posix_spawn takes and gives.
struct Spawn {
  const char* path = nullptr;
  const posix_spawn_file_actions_t* actions = nullptr;
  const posix_spawnattr_t* attributes = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  pid_t child = -1;
  int error = 0;
};

int spawn(void* what) {
  auto& each = *static_cast<Spawn*>(what);
  each.error = ::posix_spawn(&each.child, each.path, each.actions, each.attributes, each.arguments,
                             each.environment);
  return 0;
}

/// The child of a process that ends at once, and whose end sends no signal, for which
/// `wait` does not look. It works in this process's memory, as of vfork.
void spawnAside(Spawn& what) {
  constexpr std::size_t size = std::size_t{256} << 10;
  const std::unique_ptr<char[]> stack(new char[size]);
  const pid_t between = ::__clone(spawn, stack.get() + size, CLONE_VM | CLONE_VFORK, &what);
  if (between < 0) {
    what.error = errno;
    return;
  }
  while (::waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
}

} // namespace

ChildResult runChild(const std::vector<std::string>& arguments, const std::string& input,
                     double timeoutSeconds, const std::atomic<bool>* cancelled,
                     const std::string& directory, Parent parent) {
  ChildResult result;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    result.failure = std::string("could not be started (") + std::strerror(errno) + ")";
    return result;
  }
  Descriptor ours(ends[0]), theirs(ends[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  if (!directory.empty())
    posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> environment = childEnvironment();
  const std::vector<char*> words = pointers(arguments), variables = pointers(environment);
  Spawn spawned{arguments[0].c_str(), &actions, &attributes, words.data(), variables.data()};
  if (parent == Parent::Nobody)
    spawnAside(spawned);
  else
    spawn(&spawned);
  const pid_t child = spawned.child;
  const int error = spawned.error;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  theirs.reset();
  if (error != 0) {
    result.failure = std::string("could not be started (") + std::strerror(error) + ")";
    return result;
  }

  const Forkable waiting; // a child of the program's meanwhile takes nothing from it
  int status = 0;
  Patience patience(child, timeoutSeconds, cancelled);
  bool inTime = talk(ours, input, result.output, patience) &&
                reap(child, status, [&] { return patience.over(); });
  if (!inTime) {
    result.spent = patience.spent();
    if (parent == Parent::Nobody) // whose number may be another's by now
      ours.reset();
    else
      ::kill(child, SIGKILL);
    const auto deadline = Clock::now() + std::chrono::seconds(5);
    reap(child, status, [&] { return Clock::now() >= deadline; });
    std::string seconds = std::to_string(timeoutSeconds);
    seconds.erase(seconds.find_last_not_of('0') + 1);
    if (seconds.ends_with('.'))
      seconds.pop_back();
    result.failure = "gave no answer in " + seconds + " s";
  } else if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
    result.succeeded = true; // reaped by the application: the output itself must convince
  } else if (WIFSIGNALED(status)) {
    result.failure = "crashed (signal " + std::to_string(WTERMSIG(status)) + ")";
  } else {
    result.failure = "failed (exit status " + std::to_string(WEXITSTATUS(status)) + ")";
  }
  return result;
}

} // namespace libsplit::runtime
