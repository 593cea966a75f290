// How fast each device ran each kernel, as a start for launches of which nothing is known yet: of
// the same kernel over another NDRange, of another kernel, or in a later run of the program.
//
// On disk this is one file per cache directory, read when the first kernel gets ready and written
// at exit: the hash of what follows, then one record per kernel and launch key as JSON. A record
// counts only for the machine that it was made on (every device's name, driver and size, in order)
// and for the kernel's own text and build options, so whatever changes makes it void. What is
// damaged is ignored. The file holds at most `capacity` records; the longest unused go.
//
// Not thread-safe, except that read and write of the file may meet those of other processes.
#pragma once

#include "runtime/cost/launch_history.h"
#include "runtime/cost/moving_rate.h"
#include "runtime/cost/shape_search.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// What was measured of one kernel under one launch key.
struct SpeedRecord {
  double items = 0;                   ///< work-items of the launch
  std::vector<double> secondsPerItem; ///< by device; 0: not known
  /// By device, of how fast it is by home: no more than that, as a launch showed; 0: not known.
  std::vector<double> atMost;
  double homeSeconds = 0;            ///< unsplit, on the program's own device; 0: not known
  double splitSeconds = 0;           ///< split; 0: not known
  double secondsPerByte = 0;         ///< that moving between nodes took then; 0: not known
  double secondsPerMove = 0;         ///< … and each move, whatever its size
  std::optional<unsigned> dimension; ///< along which it was cut
  /// Of open local sizes; the keys are without their range.
  std::map<ShapeSearches::Key, ShapeSearch::Known> shapes;
  std::uint64_t launches = 0;    ///< in the last run before this one
  std::uint64_t launchesNow = 0; ///< … in this one
  std::uint64_t used = 0;        ///< order of last use
  /// What launches took before libsplit chose their local size; 0: nobody knows.
  double nativeSeconds = 0;

  /// Pieces on those devices take so many times as long from now on.
  void changePieces(std::span<const std::size_t> devices, double factor);
  /// Seconds that a launch gains by what is known of it; 0: none, as far as one knows.
  double gain() const;
};

class KnownSpeeds {
public:
  static constexpr std::size_t capacity = 1024;

  /// `machine`: identifies devices and drivers, in order. `home`: the program's own device.
  KnownSpeeds(std::string machine, std::size_t devices, std::size_t home);

  /// The record to write measurements to, made on first use. An empty `kernel` can't be told from
  /// others: its record is nobody's.
  std::shared_ptr<SpeedRecord> record(const std::string& kernel, const LaunchKey& key,
                                      double items);

  /// The best guess for a launch: what is known of this very launch, else of the kernel's nearest,
  /// else how the devices compared on other kernels.
  ShareController::Prior prior(const std::string& kernel, const LaunchKey& key, double items) const;

  /// Seconds that a launch of the kernel gained at most by being split; 0: none did, or nobody
  /// knows.
  double gain(const std::string& kernel) const;
  /// Whether any launch of the kernel was measured.
  bool knows(const std::string& kernel) const;
  /// … of which one that takes `shortest` at least may gain, for all that is known: no run had
  /// enough of them to tell.
  bool isOpen(const std::string& kernel, double shortest) const;

  /// What moving between nodes took in the latest launch that anything is known of.
  MovingRate moving() const;

  /// Notes that `record` has just been written to.
  void touch(SpeedRecord& record) {
    record.used = ++uses_;
    changed_ = true;
  }
  /// Something was measured in this run.
  bool changed() const { return changed_; }

  /// Takes the records of a file made by `text`, where they are not known better already.
  void read(const std::string& text);
  /// All records, those of other machines included.
  std::string text() const;

private:
  using Records = std::map<LaunchKey, std::shared_ptr<SpeedRecord>>;

  std::vector<double> relativeSpeeds() const;
  void shrink();

  std::string machine_;
  std::size_t devices_;
  std::size_t home_;
  std::map<std::string, Records> kernels_;
  std::size_t count_ = 0;
  std::uint64_t uses_ = 0;
  bool changed_ = false;
  /// Records of other machines, as they were read: JSON with their order of use.
  std::vector<std::pair<std::uint64_t, std::string>> foreign_;
};

/// Reads `directory`/speeds into `speeds`; nothing happens if there is no such file.
void readSpeeds(const std::string& directory, KnownSpeeds& speeds);
/// Writes it, atomically, with what other processes wrote meanwhile; false if that fails.
bool writeSpeeds(const std::string& directory, KnownSpeeds& speeds);

} // namespace libsplit::runtime
