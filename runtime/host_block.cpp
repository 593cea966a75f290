#include "runtime/host_block.h"

#include "runtime/log.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

namespace libsplit::runtime {

namespace {

constexpr std::size_t hugePage = std::size_t{1} << 21;
/// What is touched at once, in a millisecond or less: others who map memory wait for it.
constexpr std::size_t touchStep = std::size_t{1} << 22;
/// Blocks up to this size are not worth a look at how much memory is left.
constexpr std::size_t smallBlock = std::size_t{1} << 24;
// As measured on two machines with H200s.
constexpr double secondsPerTouchedByte = 0.17 / (1 << 30);
constexpr double secondsPerPinnedByte = 0.05 / (1 << 30);
constexpr double secondsPerPin = 1e-3;

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// The number in a file that holds one; `unlimited` if there is none ("max", say).
std::size_t numberIn(const char* path) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? number : unlimited;
}

/// What the control group at the root of what is mounted, a container's own, may still take.
std::size_t leftInGroup(const char* limitPath, const char* usedPath) {
  const std::size_t limit = numberIn(limitPath), used = numberIn(usedPath);
  if (limit == unlimited || used == unlimited)
    return unlimited;
  return limit > used ? limit - used : 0;
}

bool isPinned(std::size_t size, bool hasGpu) {
  return hasGpu && size > HostBlock::smallTransfer;
}

void populate(std::byte* begin, std::size_t size) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(begin, size, MADV_POPULATE_WRITE) == 0)
    return;
#endif
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < size; at += page)
    *const_cast<volatile std::byte*>(begin + at) = std::byte{0};
}

} // namespace

std::size_t availableMemory() {
  std::size_t left = unlimited;
  std::ifstream file("/proc/meminfo");
  std::string name;
  for (std::size_t kilobytes = 0; file >> name >> kilobytes; file.ignore(64, '\n'))
    if (name == "MemAvailable:")
      left = kilobytes * 1024;
  left = std::min(left, leftInGroup("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"));
  return std::min(left, leftInGroup("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                    "/sys/fs/cgroup/memory/memory.usage_in_bytes"));
}

std::shared_ptr<HostBlock> HostBlock::reserve(std::size_t size, bool hasGpu,
                                              std::shared_ptr<PromisedMemory> promised) {
  if (size > smallBlock) {
    const std::size_t left = availableMemory(), taken = *promised;
    if (taken > left || size > (left - taken) / 2)
      return nullptr;
  }
  const std::size_t mapped = size < hugePage ? size : size + hugePage;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  return std::shared_ptr<HostBlock>(
      new HostBlock(memory, mapped, size, isPinned(size, hasGpu), std::move(promised)));
}

HostBlock::HostBlock(void* memory, std::size_t mapped, std::size_t size, bool pinned,
                     std::shared_ptr<PromisedMemory> promised)
    : memory_(memory), mapped_(mapped), address_(static_cast<std::byte*>(memory)), size_(size),
      isReady_(!pinned), promised_(pinned ? std::move(promised) : nullptr) {
  if (promised_)
    *promised_ += size_;
  // A copy of the process would share the pages until one of the two writes, and a GPU's copies
  // would then go to the other's.
  if (pinned)
    madvise(memory_, mapped_, MADV_DONTFORK);
  if (mapped == size)
    return;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  address_ += (hugePage - begin % hugePage) % hugePage;
  madvise(address_, size_, MADV_HUGEPAGE); // a wish
}

HostBlock::~HostBlock() {
  if (promised_)
    *promised_ -= size_ - touched_;
  pinned_ = {};
  munmap(memory_, mapped_);
}

bool HostBlock::touchNext() {
  const std::size_t begin = claimed_.fetch_add(touchStep);
  if (begin >= size_)
    return false;
  const std::size_t size = std::min(touchStep, size_ - begin);
  populate(address_ + begin, size);
  if (promised_)
    *promised_ -= size;
  if (touched_.fetch_add(size) + size == size_)
    touched_.notify_all();
  return true;
}

void HostBlock::makeReady(const Dispatch& cl, Machine& machine, cl_context context) {
  if (std::exchange(isReady_, true))
    return;
  while (touchNext()) {
  }
  for (std::size_t seen = touched_; seen < size_; seen = touched_)
    touched_.wait(seen);
  // What one context has pinned serves all.
  for (std::size_t i = 0; i < machine.devices().size(); ++i) {
    if (!machine.devices()[i].isGpu)
      continue;
    cl_int error = CL_SUCCESS;
    pinned_ = Ref<cl_mem>::adopt(cl, cl.clCreateBuffer(machine.contextOf(i, context),
                                                       CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                                       size_, address_, &error));
    if (error != CL_SUCCESS)
      log(LogLevel::Info, "host memory of ", size_, " bytes could not be pinned (error ", error,
          ")");
    return;
  }
}

double HostBlock::secondsToReady(std::size_t size, bool hasGpu) {
  if (!isPinned(size, hasGpu))
    return 0;
  return static_cast<double>(size) * (secondsPerTouchedByte + secondsPerPinnedByte) + secondsPerPin;
}

double HostBlock::secondsToReady() const {
  return isReady_
             ? 0
             : secondsToReady(size_, true) - static_cast<double>(touched_) * secondsPerTouchedByte;
}

std::shared_ptr<HostBlock> HostBlock::allocate(const Dispatch& cl, Machine& machine,
                                               cl_context context, std::size_t size) {
  auto block = reserve(size, machine.hasGpu(), machine.promisedMemory());
  if (block)
    block->makeReady(cl, machine, context);
  return block;
}

} // namespace libsplit::runtime
