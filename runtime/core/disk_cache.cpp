#include "runtime/core/disk_cache.h"

#include "runtime/core/log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <unistd.h>

namespace libsplit::runtime {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t hashDigits = 32;

/// "0123…ef.summary", also with the ending of an unfinished one.
bool isEntry(const std::string& name) {
  return name.size() > hashDigits && name[hashDigits] == '.' &&
         name.find_first_not_of("0123456789abcdef") == hashDigits;
}

} // namespace

std::string hashOf(std::string_view bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  char text[hashDigits + 1];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

std::string hashOf(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts)
    text += std::to_string(part.size()) + ' ' + part + '\n';
  return hashOf(text);
}

std::uint64_t hashOfContents(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

std::optional<std::uint64_t> hashOfFile(const std::string& path) {
  auto text = readFile(path);
  if (!text)
    return std::nullopt;
  return hashOfContents(*text);
}

std::optional<std::string> readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  // Unlike the buffer's iterators, read() does not throw where the path is a folder's.
  char block[1 << 14];
  while (file.read(block, sizeof block) || file.gcount() > 0)
    text.append(block, static_cast<std::size_t>(file.gcount()));
  if (!file.eof())
    return std::nullopt;
  return text;
}

bool replaceFile(const std::string& path, const std::string& text) {
  const std::string temporary =
      path + "." + std::to_string(::getpid()) + "." + std::to_string(::gettid());
  std::error_code error;
  {
    std::ofstream file(temporary, std::ios::binary);
    file << text;
    file.close();
    if (!file.fail()) {
      fs::rename(temporary, path, error);
      if (!error)
        return true;
    }
  }
  fs::remove(temporary, error);
  return false;
}

std::optional<std::string> DiskCache::read(const std::string& name) const {
  if (directory_.empty())
    return std::nullopt;
  auto entry = readFile(pathOf(name));
  if (!entry)
    return std::nullopt;
  std::string text = entry->size() > hashDigits ? entry->substr(hashDigits + 1) : std::string();
  if (entry->compare(0, hashDigits, hashOf(text)) != 0) {
    writeLogOnce(LogLevel::Warn, "ignored the damaged cache entry " + pathOf(name));
    return std::nullopt;
  }
  std::error_code error;
  fs::last_write_time(pathOf(name), fs::file_time_type::clock::now(), error); // it is of use
  return text;
}

void DiskCache::write(const std::string& name, const std::string& text) const {
  if (directory_.empty())
    return;
  std::error_code error;
  fs::create_directories(directory_, error);
  if (!replaceFile(pathOf(name), hashOf(text) + '\n' + text))
    writeLogOnce(LogLevel::Warn, "can't write to the cache directory " + directory_ +
                                     "; kernels are analysed anew in every run");
}

void DiskCache::trim(const Limits& limits) const {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t bytes;
  };
  std::vector<Entry> entries;
  std::uint64_t bytes = 0;
  std::error_code error;
  if (directory_.empty())
    return;
  for (fs::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    if (!isEntry(at->path().filename().string()))
      continue;
    std::error_code gone;
    Entry entry{at->path(), at->last_write_time(gone), at->file_size(gone)};
    if (gone)
      continue;
    bytes += entry.bytes;
    entries.push_back(std::move(entry));
  }
  if (entries.size() <= limits.entries && bytes <= limits.bytes)
    return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  std::size_t left = entries.size();
  for (const Entry& entry : entries) {
    if (left <= limits.entries && bytes <= limits.bytes)
      return;
    fs::remove(entry.path, error);
    --left;
    bytes -= entry.bytes;
  }
}

} // namespace libsplit::runtime
