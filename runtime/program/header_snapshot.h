// The files that a program's text may include, as the driver found them.
//
// A driver reads headers while it builds. splitc reads them when its turn comes, and by then the
// application may have written them anew, for its next program. So before a build the names that
// follow `#include` in the text, and in what it includes in turn, are looked up in every folder
// where a compiler may look, without regard to conditions; what is there is hashed, and what is not
// is noted as well, since it would hide another file. An analysis counts if nothing of this has
// changed when it is over, and if it read nothing else.
//
// A name may be computed: `#include HEADER`, or `#include STRING(FOLDER/config.h)` where a macro
// puts the quotes around it. Then whatever stands in quotes may be meant, and what the macro is
// given, with the values of other macros put in.
//
// Worked example. "config.h" in a text built with `-I. -I/opt/inc` stands for ./config.h,
// ./config.h again, and /opt/inc/config.h; a compiler takes the first that is there.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace libsplit::runtime {

class HeaderSnapshot {
public:
  /// Reads files, relative ones from the current folder. `texts`: all that the compiler gets from
  /// memory. Never throws for reasons of the environment.
  HeaderSnapshot(const std::vector<std::string_view>& texts, const std::string& buildOptions);

  /// Adds what another unit of the same program may include.
  void add(const HeaderSnapshot& other);

  /// The folder from which relative names were looked up.
  const std::string& directory() const { return directory_; }
  /// The same for two snapshots that saw the same: part of the key of what was made from it.
  std::string fingerprint() const;
  /// Which file is no longer what it was, or was not there; nothing if all is as it was.
  std::optional<std::string> changed() const;
  /// Which of the files that a compiler included is not among these, or not as it is here.
  std::optional<std::string> differsFrom(const std::vector<IncludedFile>& included) const;

private:
  struct Search;
  static void noteMacro(Search& search, std::string_view definition);
  void scan(Search& search, std::string_view text, const std::string& folder);
  void look(Search& search, const std::string& name, const std::string& folder);

  std::string directory_;
  /// By normal absolute path: the hash of its contents; nothing: it is not there.
  std::map<std::string, std::optional<std::uint64_t>> files_;
  std::string conflict_; ///< a file that two units saw differently
};

} // namespace libsplit::runtime
