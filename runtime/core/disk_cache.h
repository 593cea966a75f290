// Texts on disk that only save work: they may vanish, be damaged or be from another process at any
// time.
//
// An entry is a file with the hash of its text in the first line, then the text: whoever finds it
// damaged sees so. It is put in place by renaming, so readers see all of it or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace libsplit::runtime {

/// 32 hexadecimal digits (XXH3 128), for names of entries.
std::string hashOf(std::string_view bytes);
/// One hash of several texts, which can't run into each other.
std::string hashOf(const std::vector<std::string>& parts);
/// Of a file's contents, as `IncludedFile::hash`.
std::uint64_t hashOfContents(std::string_view text);
/// The same of the file by its name; nothing if it can't be read.
std::optional<std::uint64_t> hashOfFile(const std::string& path);

/// The file's contents; nothing if it can't be read. Never throws for reasons of the environment.
std::optional<std::string> readFile(const std::string& path);
/// Puts `text` in the file's place, so that readers see all of it or the old one. False on failure.
bool replaceFile(const std::string& path, const std::string& text);

/// Thread-safe, and safe between processes. Never throws for reasons of the environment.
class DiskCache {
public:
  /// An empty directory's name: nothing is kept.
  explicit DiskCache(std::string directory) : directory_(std::move(directory)) {}

  std::optional<std::string> read(const std::string& name) const;
  void write(const std::string& name, const std::string& text) const;

  struct Limits {
    std::size_t entries = 4096;
    std::uint64_t bytes = std::uint64_t{256} << 20;
  };
  /// Deletes what has not been read or written for longest, until the rest is within the limits.
  /// Files that are no entries are left alone.
  void trim(const Limits& limits) const;

private:
  std::string pathOf(const std::string& name) const { return directory_ + "/" + name; }
  std::string directory_;
};

} // namespace libsplit::runtime
