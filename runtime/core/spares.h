// Objects that come and go with each launch, whose lists keep their memory.
//
// What is noted of a launch fills a dozen lists, and to allocate them and give them back takes a
// good part of what a launch takes of the host. So what nobody holds any more becomes as new, and
// waits for the next one.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// Of a kind that names the lists whose memory is to be kept, as references: `T::lists()`, a tuple;
/// and whose objects are empty at first, so that making one never throws. Any thread. What was
/// taken may outlive this.
template <class T> class Spares {
public:
  static constexpr std::size_t most = 128;

  /// One that is as new, but for its lists' memory.
  std::shared_ptr<T> take() { return {store_->take().release(), GivesBack{store_}}; }

private:
  class Store {
  public:
    Store() { spares_.reserve(most); }
    std::unique_ptr<T> take() {
      {
        const std::lock_guard lock(mutex_);
        if (!spares_.empty()) {
          std::unique_ptr<T> spare = std::move(spares_.back());
          spares_.pop_back();
          return spare;
        }
      }
      return std::make_unique<T>();
    }
    void give(std::unique_ptr<T> object) noexcept {
      renew(*object); // without the lock: what it held may take its time to go
      const std::lock_guard lock(mutex_);
      if (spares_.size() < most)
        spares_.push_back(std::move(object));
    }

  private:
    static void renew(T& object) noexcept {
      auto lists = std::apply(
          [](auto&... each) {
            (each.clear(), ...);
            return std::tuple(std::move(each)...);
          },
          object.lists());
      std::destroy_at(&object);
      std::construct_at(&object);
      object.lists() = std::move(lists);
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<T>> spares_;
  };
  struct GivesBack {
    std::shared_ptr<Store> store;
    void operator()(T* object) const noexcept { store->give(std::unique_ptr<T>(object)); }
  };

  std::shared_ptr<Store> store_ = std::make_shared<Store>();
};

} // namespace libsplit::runtime
