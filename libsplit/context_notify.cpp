#include "libsplit/context_notify.h"

#include "runtime/core/callback_scope.h"
#include "runtime/core/log.h"
#include "runtime/core/worker.h"
#include "runtime/session/shared.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace libsplit {

struct ContextNotify::All {
  std::mutex mutex;
  std::condition_variable told;
  std::map<std::pair<std::uintptr_t, void*>, std::unique_ptr<ContextNotify>> pairs;
  std::map<cl_context, ContextNotify*> contexts;
  runtime::Worker worker;
};

/// Never destroyed: drivers may call until the very end.
ContextNotify::All& ContextNotify::all() {
  static auto* const only = new All;
  return *only;
}

/// A message that a thread of ours has to tell, as long as this lives.
struct ContextNotify::Untold {
  explicit Untold(ContextNotify& what) : notify(what) {
    const std::lock_guard lock(all().mutex);
    ++notify.untold_;
  }
  ~Untold() {
    const std::lock_guard lock(all().mutex);
    --notify.untold_;
    all().told.notify_all();
  }
  Untold(const Untold&) = delete;
  Untold& operator=(const Untold&) = delete;

  /// Whether the program still has a context that it gave the function for.
  bool isWanted() const {
    const std::lock_guard lock(all().mutex);
    return notify.contexts_ > 0;
  }

  ContextNotify& notify;
};

ContextNotify& ContextNotify::of(Function function, void* data) {
  const std::lock_guard lock(all().mutex);
  auto& found = all().pairs[{reinterpret_cast<std::uintptr_t>(function), data}];
  if (!found)
    found.reset(new ContextNotify(function, data));
  return *found;
}

void ContextNotify::given(cl_context context) {
  const std::lock_guard lock(all().mutex);
  ContextNotify*& of = all().contexts[context];
  if (of) // one by the same handle, which went without libsplit seeing it
    --of->contexts_;
  of = this;
  ++contexts_;
}

void ContextNotify::released(cl_context context) {
  constexpr std::chrono::milliseconds patience(100);
  std::unique_lock lock(all().mutex);
  const auto found = all().contexts.find(context);
  if (found == all().contexts.end())
    return;
  ContextNotify& notify = *found->second;
  all().contexts.erase(found);
  if (notify.contexts_ == 1 && !runtime::CallbackScope::active())
    all().told.wait_for(lock, patience, [&] { return notify.untold_ == 0; });
  --notify.contexts_;
}

void CL_CALLBACK ContextNotify::call(const char* text, const void* info, std::size_t size,
                                     void* self) {
  auto& notify = *static_cast<ContextNotify*>(self);
  if (!runtime::Lock::isHeldHere()) {
    const runtime::CallbackScope scope;
    notify.function_(text, info, size, notify.data_);
    return;
  }
  try {
    const auto* bytes = static_cast<const std::byte*>(info);
    const auto tell = [&notify, untold = std::make_shared<Untold>(notify),
                       words = std::string(text ? text : ""),
                       copied = std::vector(bytes, bytes + (bytes ? size : 0))] {
      const runtime::CallbackScope scope;
      if (untold->isWanted())
        notify.function_(words.c_str(), copied.empty() ? nullptr : copied.data(), copied.size(),
                         notify.data_);
    };
    static_cast<void>(all().worker.post(tell));
  } catch (const std::exception& error) {
    runtime::log(runtime::LogLevel::Error,
                 "what a driver says of an error is lost: ", error.what());
  }
}

} // namespace libsplit
