// Reference counts, as drivers tell them once they have come to rest.
#pragma once

#include "tests/samples/sample.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>

namespace sample {

template <class Query, class Handle> cl_uint count(Query query, Handle handle, cl_uint name) {
  cl_uint references = 0;
  check(query(handle, name, sizeof references, &references, nullptr), "a reference count");
  return references;
}

/// The least that each of several counts, an array, is for a while: when drivers have let go of
/// what their commands held, which PoCL's do a little after the end.
template <class Read> auto settled(const Read& read) {
  constexpr int times = 40;
  auto least = read();
  for (int i = 0; i < times; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    const auto counts = read();
    for (std::size_t each = 0; each < least.size(); ++each)
      least[each] = std::min(least[each], counts[each]);
  }
  return least;
}

} // namespace sample
