#include "runtime/device/host_block.h"

#include "runtime/core/log.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace libsplit::runtime {

namespace {

constexpr std::size_t hugePage = std::size_t{1} << 21;
/// Blocks up to this size are not worth a look at how much memory is left.
constexpr std::size_t smallBlock = std::size_t{1} << 24;

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// The number in a file that holds one; `unlimited` if there is none ("max", say).
std::size_t numberIn(const char* path) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? number : unlimited;
}

/// The number behind `name` in a file of such lines; 0 if there is none.
std::size_t numberBehind(const char* path, std::string_view name) {
  std::ifstream file(path);
  std::string key;
  for (std::size_t number = 0; file >> key >> number;)
    if (key == name)
      return number;
  return 0;
}

/// What the control group at the root of what is mounted, a container's own, may still take: what
/// files have left in memory makes room when it is asked to.
std::size_t leftInGroup(const char* limitPath, const char* usedPath, const char* statisticsPath,
                        std::string_view reclaimable) {
  const std::size_t limit = numberIn(limitPath), used = numberIn(usedPath);
  if (limit == unlimited || used == unlimited)
    return unlimited;
  const std::size_t kept = used - std::min(used, numberBehind(statisticsPath, reclaimable));
  return limit > kept ? limit - kept : 0;
}

/// Only so that a driver which pins it finds it there. Leaves what it holds.
void populate([[maybe_unused]] std::byte* begin, [[maybe_unused]] std::size_t size) {
#ifdef MADV_POPULATE_WRITE
  madvise(begin, size, MADV_POPULATE_WRITE);
#endif
}

} // namespace

std::size_t availableMemory() {
  std::size_t left = unlimited;
  std::ifstream file("/proc/meminfo");
  std::string name;
  for (std::size_t kilobytes = 0; file >> name >> kilobytes; file.ignore(64, '\n'))
    if (name == "MemAvailable:")
      left = kilobytes * 1024;
  left = std::min(left, leftInGroup("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current",
                                    "/sys/fs/cgroup/memory.stat", "inactive_file"));
  return std::min(left, leftInGroup("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                    "/sys/fs/cgroup/memory/memory.usage_in_bytes",
                                    "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"));
}

std::shared_ptr<HostBlock> HostBlock::reserve(std::size_t size) {
  if (size > smallBlock && size > availableMemory() / 2)
    return nullptr;
  return map(size, 0);
}

std::shared_ptr<HostBlock> HostBlock::promised(std::size_t size) {
  return map(size, MAP_NORESERVE);
}

std::shared_ptr<HostBlock> HostBlock::map(std::size_t size, int flags) {
  const std::size_t mapped = size < hugePage ? size : size + hugePage;
  void* memory =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr
                              : std::shared_ptr<HostBlock>(new HostBlock(memory, mapped, size));
}

HostBlock::HostBlock(void* memory, std::size_t mapped, std::size_t size)
    : memory_(memory), mapped_(mapped), address_(static_cast<std::byte*>(memory)), size_(size) {
  if (mapped == size)
    return;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  address_ += (hugePage - begin % hugePage) % hugePage;
  madvise(address_, size_, MADV_HUGEPAGE); // a wish
}

HostBlock::~HostBlock() {
  pinned_ = {};
  munmap(memory_, mapped_);
}

bool HostBlock::pin(const Dispatch& cl, cl_context context) {
  // A copy of the process would share the pages until one of the two writes, and a GPU's copies
  // would then go to the other's.
  madvise(memory_, mapped_, MADV_DONTFORK);
  populate(address_, size_);
  cl_int error = CL_SUCCESS;
  pinned_ =
      Ref<cl_mem>::adopt(cl, cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                               size_, address_, &error));
  if (error != CL_SUCCESS)
    log(LogLevel::Info, "host memory of ", size_, " bytes could not be pinned (error ", error, ")");
  return error == CL_SUCCESS;
}

} // namespace libsplit::runtime
