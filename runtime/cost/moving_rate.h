// How fast bytes move between memory nodes, as far as launches have shown it.
#pragma once

#include <cstdint>

namespace libsplit::runtime {

class MovingRate {
public:
  /// So many bytes took so long. Few tell of the driver's own time rather than of the bus.
  void note(std::uint64_t bytes, double seconds) {
    constexpr std::uint64_t few = 4096;
    if (bytes < few || !(seconds > 0))
      return;
    const double each = seconds / static_cast<double>(bytes);
    perByte_ = perByte_ > 0 ? 0.9 * perByte_ + 0.1 * each : each;
  }
  /// As earlier runs knew it, in seconds for a byte; 0: they did not.
  void begin(double perByte) { perByte_ = perByte; }
  /// Smoothed, in seconds; 0: none did yet.
  double perByte() const { return perByte_; }
  /// What so many bytes may take; a guess, until some did.
  double seconds(std::uint64_t bytes) const {
    constexpr double guessed = 1e-10; // of a bus
    return static_cast<double>(bytes) * (perByte_ > 0 ? perByte_ : guessed);
  }

private:
  double perByte_ = 0;
};

} // namespace libsplit::runtime
