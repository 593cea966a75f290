// What is known of the bytes in a buffer.
#pragma once

#include "analysis-pass/summary/byte_set.h"
#include "runtime/plan/extremes.h"

#include <cstdint>
#include <map>
#include <memory>

namespace libsplit::runtime {

/// Integers that a kernel loads from a buffer, to find what it reads or writes by them.
struct LoadedElements {
  unsigned parameter = 0;
  unsigned width = 32; ///< bits
  bool isSigned = true;
  auto operator<=>(const LoadedElements&) const = default;
};

/// What is known of a buffer's bytes at one version of its directory. Session's lock held.
struct KnownContents {
  std::uint64_t version = 0;
  ByteSet onHost; ///< in the host's memory for good: nothing in flight writes them
  std::map<ElementLayout, std::shared_ptr<const Extremes>> tables;
};

} // namespace libsplit::runtime
