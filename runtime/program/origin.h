// What a program was made from, and which binary came from what.
//
// An application that keeps CL_PROGRAM_BINARIES and later creates its program from them gives
// libsplit nothing to analyse, and nothing that another device could run. But libsplit was there
// when the binary was made. So it notes under the binary's hash where it came from, in memory and
// on disk, and looks it up when the binary comes back: the home device runs the binary, the other
// devices what is built from the text that it came from.
//
// The text is kept as it was then, with its includes in place: the files may have changed since,
// and the binary has not. A binary counts only for a device that tells its compiler the same macros
// as the one that it was made for.
#pragma once

#include "runtime/core/disk_cache.h"
#include "runtime/program/analyzer.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace libsplit::runtime {

/// What users are told, once, of a program whose kernels can't be split for that.
inline constexpr const char* foreignBinary =
    "kernels run unsplit, since their program was made from a binary that libsplit has not seen "
    "being built: empty the program's own cache of binaries once, or set LIBSPLIT_REBUILD=1";

/// A program as text from which it can be built again.
struct Origin {
  std::string text;    ///< OpenCL C, IL or PoCL's binary; program_kind.h tells which
  std::string options; ///< of its build
  /// Files that it includes stand in the text; any that it still names would be read too late.
  bool isFlat = false;
  /// For a binary: what its compiler knew of the device. Nothing: whatever the device says today.
  std::optional<DeviceMacros> madeFor;
  /// What its build could read beside the text; null: nothing.
  std::shared_ptr<const HeaderSnapshot> headers = nullptr;
};

/// Whether building the text may read files, as far as can be said without a preprocessor.
bool mayReadFiles(const Origin& origin);
/// What the text's build can read now; null: nothing.
std::shared_ptr<const HeaderSnapshot> headersOf(const std::vector<std::string_view>& texts,
                                                const std::string& options);

class BinaryOrigins {
public:
  explicit BinaryOrigins(const DiskCache& disk) : disk_(disk) {}

  /// Where the binary with this hash came from, for as long as this process lives.
  void note(const std::string& binary, std::shared_ptr<const Origin> origin);
  /// The same, for later processes; `origin` is flat and says what it was made for.
  void keep(const std::string& binary, const Origin& origin) const;
  /// Null if it is not known.
  std::shared_ptr<const Origin> find(const std::string& binary) const;

private:
  static constexpr std::size_t maxNoted = 256;

  const DiskCache& disk_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Origin>> noted_;
  std::deque<std::string> order_; ///< of `noted_`, oldest first
};

} // namespace libsplit::runtime
