// Objects that come and go with each launch, and whose memory stays.
//
// What is noted of a launch fills some objects and a dozen lists. To allocate all that, and to give
// it back, perhaps in another thread, takes a good part of what a launch takes of the host. So the
// places of those that nobody holds any more wait for the next ones, and so does what their lists
// had allocated. A place has room for the counts of a shared pointer, too.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace libsplit::runtime {

/// Of one kind of objects. If these have lists whose memory is to stay, they name them, in the
/// order in which they are cleared: `lists()`, a tuple of references. Any thread. What was taken
/// may outlive this.
template <class T> class Spares {
public:
  /// `most`: that are kept.
  explicit Spares(std::size_t most = 256) : store_(std::make_shared<Store>(most)) {}

  /// A new one, made with these.
  template <class... With> std::shared_ptr<T> take(With&&... with) {
    std::unique_ptr<Place> place = store_->take();
    place->mayBeUsed(true);
    T* const object = std::construct_at(place->object(), std::forward<With>(with)...);
    if constexpr (Place::hasLists)
      object->lists() = std::move(place->lists);
    place->store = store_;
    Place* const taken = place.release();
    return std::shared_ptr<T>(object, Ends{taken}, Counts<T>(taken));
  }

private:
  class Store;
  template <class... List> static std::tuple<List...> valuesOf(const std::tuple<List&...>& lists);

  struct Place {
    static constexpr bool hasLists = requires(T& of) { of.lists(); };
    static auto emptyLists() {
      if constexpr (hasLists)
        return decltype(valuesOf(std::declval<T&>().lists()))();
      else
        return std::tuple();
    }

    decltype(emptyLists()) lists; ///< while it is not taken
    std::shared_ptr<Store> store; ///< … while it is
    alignas(T) std::array<std::byte, sizeof(T)> room;
    alignas(std::max_align_t) std::array<std::byte, 64> counts; ///< of who holds the object

    T* object() { return reinterpret_cast<T*>(room.data()); }
    /// A sanitizer is to see who uses an object that is gone.
    void mayBeUsed([[maybe_unused]] bool is) {
#ifdef __SANITIZE_ADDRESS__
      if (is)
        ASAN_UNPOISON_MEMORY_REGION(room.data(), room.size());
      else
        ASAN_POISON_MEMORY_REGION(room.data(), room.size());
#endif
    }
  };

  class Store {
  public:
    explicit Store(std::size_t most) : most_(most) { spares_.reserve(most); }
    std::unique_ptr<Place> take() {
      {
        const std::lock_guard lock(mutex_);
        if (!spares_.empty()) {
          std::unique_ptr<Place> spare = std::move(spares_.back());
          spares_.pop_back();
          return spare;
        }
      }
      return std::make_unique<Place>();
    }
    void give(std::unique_ptr<Place> place) noexcept {
      const std::lock_guard lock(mutex_);
      if (spares_.size() < most_)
        spares_.push_back(std::move(place));
    }

  private:
    const std::size_t most_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Place>> spares_;
  };

  /// Nobody holds the object any more.
  struct Ends {
    Place* place;
    void operator()(T* object) const noexcept {
      if constexpr (Place::hasLists)
        std::apply(
            [&](auto&... each) {
              (each.clear(), ...);
              place->lists = {std::move(each)...};
            },
            object->lists());
      std::destroy_at(object);
      place->mayBeUsed(false);
    }
  };

  /// Where the counts are; when these go as well, the place is free.
  template <class U> struct Counts {
    using value_type = U;
    explicit Counts(Place* in) : place(in) {}
    template <class V> Counts(const Counts<V>& other) : place(other.place) {}
    U* allocate(std::size_t) {
      static_assert(sizeof(U) <= sizeof place->counts && alignof(U) <= alignof(std::max_align_t));
      return reinterpret_cast<U*>(place->counts.data());
    }
    void deallocate(U*, std::size_t) noexcept {
      const std::shared_ptr<Store> store = std::move(place->store); // it may be the last to need it
      store->give(std::unique_ptr<Place>(place));
    }
    template <class V> bool operator==(const Counts<V>& other) const {
      return place == other.place;
    }
    Place* place;
  };

  std::shared_ptr<Store> store_;
};

} // namespace libsplit::runtime
