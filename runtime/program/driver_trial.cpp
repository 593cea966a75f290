#include "runtime/program/driver_trial.h"

#include "runtime/core/child_process.h"
#include "runtime/core/log.h"
#include "runtime/device/compile_order.h"
#include "runtime/device/machine.h"
#include "runtime/program/analyzer.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <vector>

namespace libsplit::runtime {

std::string splitrunOf(const Options& options) {
  namespace fs = std::filesystem;
  const fs::path splitc = options.splitc.empty() ? defaultSplitc() : options.splitc;
  const fs::path splitrun = splitc.parent_path() / "splitrun";
  std::error_code error;
  return fs::exists(splitrun, error) ? splitrun.string() : std::string();
}

/// Who waits for the analysis has his way at once.
DriverTrial::DriverTrial(const Dispatch& cl, const Options& options, const DiskCache& cache,
                         const std::atomic<bool>& ending)
    : cl_(cl), cache_(cache), ending_(ending),
      splitrun_(options.waitAnalysis ? std::string() : splitrunOf(options)) {}

/// Null if it is not to be tried.
DriverTrial::Address* DriverTrial::addressOf(cl_device_id device) {
  const auto [entry, isNew] = addresses_.try_emplace(device);
  std::optional<Address>& address = entry->second;
  if (!isNew || !keepsWhatItCompiles(cl_, device))
    return address ? &*address : nullptr;
  const auto own = property<cl_platform_id>(cl_.clGetDeviceInfo, device, CL_DEVICE_PLATFORM);
  cl_uint count = 0;
  cl_.clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  cl_.clGetPlatformIDs(count, platforms.data(), nullptr);
  const auto platform = std::ranges::find(platforms, own);
  count = 0;
  cl_.clGetDeviceIDs(own, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  std::vector<cl_device_id> devices(count);
  cl_.clGetDeviceIDs(own, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
  const auto found = std::ranges::find(devices, device);
  if (platform == platforms.end() || found == devices.end())
    return nullptr;
  address = {static_cast<unsigned>(platform - platforms.begin()),
             static_cast<unsigned>(found - devices.begin()),
             stringProperty(cl_.clGetDeviceInfo, device, CL_DEVICE_NAME) + '\n' +
                 stringProperty(cl_.clGetDeviceInfo, device, CL_DRIVER_VERSION)};
  return &*address;
}

namespace {

/// Whether the end of a child reaches who started it: not where the program ignores these, or may
/// wait for any in a handler.
bool hearsOfItsChildren() {
  struct sigaction now{};
  return ::sigaction(SIGCHLD, nullptr, &now) == 0 && (now.sa_flags & SA_NOCLDWAIT) == 0 &&
         (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
}

} // namespace

bool DriverTrial::allows(cl_device_id device) {
  if (keepsWhatItCompiles(cl_, device) && !hearsOfItsChildren()) {
    writeLogOnce(LogLevel::Info,
                 "PoCL's devices take no part: the program does something else about "
                 "SIGCHLD than usual, and PoCL waits for a linker");
    return false;
  }
  Address* address = splitrun_.empty() ? nullptr : addressOf(device);
  if (address && !address->isUsable) {
    if (tryOut(*address, emptyProgram, "") != Outcome::Survived)
      return giveUp(*address);
    address->isUsable = true;
  }
  return !address || (*address->isUsable && !ending_);
}

bool DriverTrial::allows(cl_device_id device, const std::string& text, const std::string& options) {
  Address* address = splitrun_.empty() ? nullptr : addressOf(device);
  if (!address)
    return true;
  if (!address->isUsable.value_or(true))
    return false;
  const std::string name = hashOf({text, options, address->driver}) + ".built";
  if (cache_.read(name))
    return true;
  const Outcome outcome = tryOut(*address, text, options);
  if (outcome == Outcome::GaveUp)
    return giveUp(*address);
  if (ending_) // a build in this process can't be broken off
    return false;
  if (outcome == Outcome::Survived)
    cache_.write(name, wasCompiled);
  return outcome == Outcome::Survived;
}

/// Survived, also if nobody can tell.
DriverTrial::Outcome DriverTrial::tryOut(const Address& address, const std::string& text,
                                         const std::string& options) const {
  CompileOrder order;
  order.platform = address.platform;
  order.device = address.device;
  order.text = text;
  order.options = options;
  const ChildResult child = runChild({splitrun_, "--compile-ahead"}, serialize({&order, 1}),
                                     patienceWithCompiling, &ending_, {}, Parent::Nobody);
  // Drivers may print something.
  if (child.output.ends_with(driverGaveUp))
    return Outcome::GaveUp;
  const bool isTold = child.output.ends_with(allCompiled) || child.output.ends_with(notCompiled);
  if (isTold || !child.succeeded) // it was not started, or takes long
    return Outcome::Survived;
  log(LogLevel::Info, "device ", address.platform, '.', address.device,
      " ends the process that has it build a program");
  return Outcome::Died;
}

bool DriverTrial::giveUp(Address& address) const {
  address.isUsable = false;
  writeLogOnce(LogLevel::Warn, "device " + std::to_string(address.platform) + '.' +
                                   std::to_string(address.device) +
                                   " takes no part: its driver ends the process in which it is to "
                                   "compile (is the disk of its cache full, or a linker missing?)");
  return false;
}

} // namespace libsplit::runtime
