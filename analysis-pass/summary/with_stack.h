// Work that may take more stack than there is.
//
// What a launch touches is worked out on the thread that launches, which is the program's. Most
// have megabytes left; some were made with little more than what their own calls take, and
// coroutines run on memory that their library thought enough. So who needs a lot says so.
#pragma once

#include <cstddef>

namespace libsplit {

/// Does `run(of)`, which takes up to `needed` bytes of stack: on the calling thread if that is
/// known to have as many left, else on one that is made for it, which gets none of the program's
/// signals, and waited for. What it throws is thrown; std::bad_alloc if there is no thread to be
/// had.
void withStack(std::size_t needed, void (*run)(void* of), void* of);
template <class Work> void withStack(std::size_t needed, Work&& work) {
  withStack(needed, [](void* of) { (*static_cast<Work*>(of))(); }, &work);
}

} // namespace libsplit
