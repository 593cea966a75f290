// A link between machines where there is none: passes TCP connections on, late and no faster than
// it is told. For ./links, where the kernel has no `tc netem`.
//
//     slow_link RATE DELAY FROM:TO...
//
// listens at each port FROM of 127.0.0.1 and connects to TO there. RATE, bytes a second, is that of
// each direction, which all connections share, as on a cable; DELAY, seconds, is the time from one
// end to the other. Says nothing, and ends when it is killed.
//
// Each direction of a connection has two threads and a queue between them: one reads and works out
// when what it has read is there; the other waits for that and writes. So bytes that are on their
// way keep nobody from sending more. A chunk leaves when the wire is free, occupies it for size /
// RATE, and is there DELAY later: at 1 Gbit/s and 100 us two chunks of 64 KiB that come at once are
// passed on after 0.62 ms and 1.15 ms.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// One direction of the link.
class Wire {
public:
  Wire(double rate, double delay) : rate_(rate), delay_(delay) {}

  /// When so many bytes that are to be sent now have arrived.
  Clock::time_point send(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    freeAt_ = std::max(freeAt_, Clock::now()) +
              std::chrono::ceil<Clock::duration>(Seconds(static_cast<double>(bytes) / rate_));
    return freeAt_ + std::chrono::ceil<Clock::duration>(delay_);
  }

private:
  const double rate_; // bytes a second
  const Seconds delay_;
  std::mutex mutex_;
  Clock::time_point freeAt_;
};

struct Chunk {
  std::vector<char> bytes; // none: the connection's end
  Clock::time_point arrival;
};

/// What is on its way. The reader waits when that is much, as a sender does whose network is full.
class OnTheWay {
public:
  void push(Chunk chunk) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return bytes_ < most; });
    bytes_ += chunk.bytes.size();
    chunks_.push_back(std::move(chunk));
    changed_.notify_all();
  }
  Chunk pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !chunks_.empty(); });
    Chunk chunk = std::move(chunks_.front());
    chunks_.pop_front();
    bytes_ -= chunk.bytes.size();
    changed_.notify_all();
    return chunk;
  }

private:
  static constexpr std::size_t most = 32U << 20U; // more than 100 Gbit/s and 1 ms have on their way
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Chunk> chunks_;
  std::size_t bytes_ = 0;
};

/// Owns a descriptor.
class Socket {
public:
  explicit Socket(int fd) : fd_(fd) {
    const int one = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  }
  ~Socket() { ::close(fd_); }
  Socket(const Socket&) = delete;
  int fd() const { return fd_; }

private:
  int fd_;
};

using SharedSocket = std::shared_ptr<const Socket>;

bool writeAll(int fd, const std::vector<char>& bytes) {
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t some = ::send(fd, bytes.data() + written, bytes.size() - written, MSG_NOSIGNAL);
    if (some <= 0)
      return false;
    written += static_cast<std::size_t>(some);
  }
  return true;
}

/// Two threads that pass on what comes from one side, until either side ends.
void passOn(SharedSocket from, SharedSocket to, Wire& wire) {
  auto way = std::make_shared<OnTheWay>();
  std::thread([from, way, &wire] {
    std::vector<char> room(std::size_t(64) << 10U);
    for (;;) {
      const ssize_t some = ::recv(from->fd(), room.data(), room.size(), 0);
      if (some <= 0)
        break;
      way->push({{room.begin(), room.begin() + some}, wire.send(static_cast<std::size_t>(some))});
    }
    way->push({{}, wire.send(0)});
  }).detach();
  std::thread([from, to, way] {
    for (;;) {
      const Chunk chunk = way->pop();
      std::this_thread::sleep_until(chunk.arrival);
      if (chunk.bytes.empty())
        break;
      if (!writeAll(to->fd(), chunk.bytes)) {
        ::shutdown(from->fd(), SHUT_RD); // the reader may wait for room
        while (!way->pop().bytes.empty()) {
        }
        break;
      }
    }
    ::shutdown(to->fd(), SHUT_WR);
  }).detach();
}

sockaddr_in local(unsigned port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "slow_link: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

void serve(int listener, unsigned port, Wire& there, Wire& back) {
  for (;;) {
    const int accepted = ::accept(listener, nullptr, nullptr);
    if (accepted < 0)
      fail("accept");
    const auto client = std::make_shared<const Socket>(accepted);
    const auto server = std::make_shared<const Socket>(::socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in address = local(port);
    if (::connect(server->fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      continue; // the client's connection ends, as by a server that refuses it
    passOn(client, server, there);
    passOn(server, client, back);
  }
}

int listenAt(unsigned port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const int one = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  const sockaddr_in address = local(port);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, SOMAXCONN) != 0)
    fail("port " + std::to_string(port));
  return listener;
}

} // namespace

int main(int argc, char** argv) {
  const double rate = argc > 3 ? std::strtod(argv[1], nullptr) : 0;
  if (rate <= 0) {
    std::fprintf(stderr, "usage: slow_link RATE DELAY FROM:TO...\n");
    return 2;
  }
  // A cable waits neither for a processor nor for timers that are put together.
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  ::setpriority(PRIO_PROCESS, 0, -10); // if it may
  const double delay = std::strtod(argv[2], nullptr);
  Wire there(rate, delay);
  Wire back(rate, delay);
  std::vector<std::thread> listeners;
  for (int i = 3; i < argc; ++i) {
    unsigned from = 0;
    unsigned to = 0;
    if (std::sscanf(argv[i], "%u:%u", &from, &to) != 2)
      fail(argv[i]);
    listeners.emplace_back(
        [listener = listenAt(from), to, &there, &back] { serve(listener, to, there, back); });
  }
  for (std::thread& listener : listeners)
    listener.join();
}
