// What moving bytes between memory nodes takes, as far as launches have shown it: so much for each
// move, however small, and so much for each byte. Pure.
//
//     seconds = moves * perMove + bytes * perByte
//
// Both come from one least-squares fit of all that was seen, of which the latest counts most. Each
// reading counts by how far it is off in proportion, so that a halo says as much as a whole buffer,
// and one that a busy machine held up says little. What the readings leave open, since all moves
// were large, or all small, follows what was thought before, the guesses or what an earlier run
// knew: by the one factor that both seem to have been off.
//
// Worked example: halos of 64 KiB take 25 us, blocks of 64 MiB 2.7 ms. 20 us for each move and 40
// ps for each byte explain both; 25 us / 64 KiB alone would say that a block takes 26 ms.
#pragma once

#include <algorithm>
#include <cstdint>

namespace libsplit::runtime {

class MovingRate {
public:
  /// So many moves, of so many bytes together, took so long, one after the other.
  void note(std::uint64_t moves, std::uint64_t bytes, double seconds) {
    if (moves == 0 || bytes == 0 || !(seconds > 0))
      return;
    // In parts of what it took, as was thought before.
    const double move = static_cast<double>(moves) * perMoveBefore_ / seconds;
    const double byte = static_cast<double>(bytes) * perByteBefore_ / seconds;
    moveMove_ = kept * moveMove_ + move * move;
    moveByte_ = kept * moveByte_ + move * byte;
    byteByte_ = kept * byteByte_ + byte * byte;
    move_ = kept * move_ + move;
    byte_ = kept * byte_ + byte;
    constexpr std::uint64_t few = 4096; // a move of that is no witness of what bytes take
    isKnown_ = isKnown_ || bytes >= few * moves;
    solve();
  }
  /// As earlier runs knew it, or a probe found it, in seconds; 0: they did not.
  void begin(double perByte, double perMove) {
    isKnown_ = perByte > 0;
    perByteBefore_ = perByte_ = perByte > 0 ? perByte : guessedPerByte;
    perMoveBefore_ = perMove_ = perMove > 0 ? perMove : guessedPerMove;
  }
  bool isKnown() const { return isKnown_; }
  /// Seconds for a byte; 0: nothing tells yet.
  double perByte() const { return isKnown_ ? perByte_ : 0; }
  /// … and a guess until something does.
  double perByteOrGuess() const { return perByte_; }
  /// … between the program's memory and its own device, which others' links say nothing of if they
  /// are slower than a bus.
  double perByteToHome() const { return std::min(perByte_, guessedPerByte); }
  /// Seconds for a move, whatever its size.
  double perMove() const { return perMove_; }
  /// What one move of so many bytes may take.
  double seconds(std::uint64_t bytes) const {
    return bytes == 0 ? 0 : perMove_ + static_cast<double>(bytes) * perByte_;
  }

private:
  static constexpr double guessedPerByte = 1e-10; ///< of a bus
  static constexpr double guessedPerMove = 20e-6; ///< of a driver
  static constexpr double kept = 0.9;             ///< of what was seen, at each reading
  static constexpr double believed = 0.01; ///< what was thought before counts so much of readings

  /// The factors by which both are to be taken so that the parts add up to one, at the least sum of
  /// squares.
  void solve() {
    // Without what was thought before there is no answer where all readings are alike.
    const double weight = believed * (moveMove_ + byteByte_);
    const double both = weight * (move_ + byte_) / (moveMove_ + 2 * moveByte_ + byteByte_);
    const double mm = moveMove_ + weight, mb = moveByte_, bb = byteByte_ + weight;
    const double m = move_ + both, b = byte_ + both;
    const double determinant = mm * bb - mb * mb;
    double moveFactor = (m * bb - b * mb) / determinant;
    double byteFactor = (b * mm - m * mb) / determinant;
    if (moveFactor < 0) { // nothing takes less than no time
      moveFactor = 0;
      byteFactor = b / bb;
    } else if (byteFactor < 0) {
      byteFactor = 0;
      moveFactor = m / mm;
    }
    perMove_ = moveFactor * perMoveBefore_;
    perByte_ = byteFactor * perByteBefore_;
  }

  double perMoveBefore_ = guessedPerMove, perByteBefore_ = guessedPerByte;
  double perMove_ = guessedPerMove, perByte_ = guessedPerByte;
  bool isKnown_ = false;
  double moveMove_ = 0, moveByte_ = 0, byteByte_ = 0, move_ = 0, byte_ = 0; ///< normal equations
};

} // namespace libsplit::runtime
