#include "runtime/trace/trace.h"

#include "runtime/core/log.h"
#include "runtime/core/options.h"
#include "runtime/core/thread.h"

#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <unistd.h>

namespace libsplit::runtime {

namespace {

/// So much is written at once without waiting for the next time.
constexpr std::size_t much = 1 << 20;

/// Right after a write that failed.
void complain() {
  log(LogLevel::Error, "can't write the trace any further: ", std::strerror(errno));
}

} // namespace

HostTime hostNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::unique_ptr<Trace> Trace::open(const std::string& pattern) {
  const std::string path = withProcessId(pattern);
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) {
    log(LogLevel::Error, "can't write the trace to ", path);
    return nullptr;
  }
  return std::make_unique<Trace>(file);
}

Trace::Trace(int file) : file_(file) {
  const record::FileHead head{record::magic, record::version, record::ownByteOrder, hostNow()};
  failed_ = !write(std::as_bytes(std::span(&head, 1)));
  if (failed_)
    complain();
  writer_ = startThread([this] { writeLoop(); });
}

Trace::~Trace() {
  close();
}

void Trace::close() {
  {
    std::lock_guard lock(mutex_);
    if (closing_)
      return;
    closing_ = true;
    changed_.notify_one();
  }
  writer_.join();
  ::close(file_);
}

bool Trace::add(std::span<const std::byte> record) {
  std::lock_guard lock(mutex_);
  if (closing_ || failed_)
    return false;
  if (pending_.size() + record.size() > maxPending) {
    ++dropped_;
    return false;
  }
  pending_.insert(pending_.end(), record.begin(), record.end());
  if (pending_.size() >= much && !awake_) {
    awake_ = true;
    changed_.notify_one();
  }
  return true;
}

std::uint32_t Trace::text(std::string_view text) {
  if (const auto found = texts_.find(text); found != texts_.end())
    return found->second;
  const auto number = static_cast<std::uint32_t>(texts_.size() + 1);
  bytes_.begin(record::Text{{}, number, static_cast<std::uint32_t>(text.size())});
  bytes_.putText(text);
  if (!add(bytes_.finish()))
    return 0;
  texts_.emplace(text, number);
  return number;
}

void Trace::writeLoop() {
  std::vector<std::byte> taken;
  bool last = false, good = !failed_; // nobody else changes it
  while (!last) {
    std::uint64_t dropped = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(200),
                        [&] { return closing_ || pending_.size() >= much; });
      failed_ = !good;
      last = closing_;
      dropped = dropped_;
      awake_ = false;
      taken.clear();
      taken.swap(pending_);
    }
    if (last && dropped > 0) {
      RecordBytes told;
      told.begin(record::Dropped{{}, dropped, hostNow()});
      const auto bytes = told.finish();
      taken.insert(taken.end(), bytes.begin(), bytes.end());
    }
    if (good && !write(taken)) {
      complain();
      good = false;
    }
  }
}

bool Trace::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

} // namespace libsplit::runtime
