// Reference counts, as drivers tell them once they have come to rest.
#pragma once

#include "tests/samples/sample.h"

#include <chrono>
#include <cstddef>
#include <thread>

namespace sample {

template <class Query, class Handle> cl_uint count(Query query, Handle handle, cl_uint name) {
  cl_uint references = 0;
  check(query(handle, name, sizeof references, &references, nullptr), "a reference count");
  return references;
}

/// The least that each of several counts, an array, is until none has been less for a while: when
/// drivers have let go of what their commands held, which PoCL's do a little after the end.
template <class Read> auto settled(const Read& read) {
  constexpr int longEnough = 100; // looks
  auto least = read();
  for (int same = 0; same < longEnough; ++same) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    const auto counts = read();
    for (std::size_t each = 0; each < least.size(); ++each)
      if (counts[each] < least[each]) {
        least[each] = counts[each];
        same = 0;
      }
  }
  return least;
}

} // namespace sample
