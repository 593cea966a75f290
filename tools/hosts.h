// Devices of other machines, by PoCL's remote driver: what `splitrun --hosts` sets up.
//
// libsplit speaks to no network. PoCL's client library, as tools/build_remote makes it, is a driver
// like others, whose devices are those that a `pocld` serves on another machine. It has to be found
// by the OpenCL loader, beside the drivers that are there anyway and behind them: a program takes
// the first platform, and home must stay home. Loaders take a folder of drivers in the order in
// which the file system lists it; so the folder is made in such a way that the order is right.
//
// Worked example: two servers a and b, one driver installed. The folder holds copies of
// /etc/OpenCL/vendors/pocl.icd and, listed behind it, of a file that names the client library.
// OCL_ICD_VENDORS=<the folder>, OCL_ICD_PLATFORM_SORT=none, POCL_DEVICES="pthread remote remote",
// POCL_REMOTE0_PARAMETERS=a:12100/0, POCL_REMOTE1_PARAMETERS=b:12100/0. The installed PoCL reads
// POCL_DEVICES, too, and ignores what it does not know.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::tools {

/// One device behind a pocld.
struct RemoteDevice {
  std::string host; ///< name or IPv4 address
  std::uint16_t port = 0;
  unsigned device = 0; ///< as that machine's OpenCL counts them over all platforms

  std::string server() const { return host + ":" + std::to_string(port); }
  std::string parameters() const { return server() + "/" + std::to_string(device); }
  bool operator==(const RemoteDevice&) const = default;
};

/// "a:12100,b:12100/1". Throws std::invalid_argument, which says what is wrong with it.
std::vector<RemoteDevice> parseHosts(const std::string& text);

/// "a:12100 (Connection refused)" for each server that does not accept a connection to its port and
/// the next one, which the driver needs both, within `patience`. All are tried at once.
std::vector<std::string> silentServers(std::span<const RemoteDevice> devices,
                                       std::chrono::milliseconds patience);

/// The drivers that the loader finds now, by the variables that it reads: what an .icd file has as
/// its first line. In no order.
std::vector<std::string> installedDrivers();

/// A folder below `place` that lists an .icd file for each of `drivers` in that order; one made
/// earlier for the same is used again. Throws std::runtime_error if there is no way.
std::filesystem::path vendorsFolder(const std::filesystem::path& place,
                                    std::span<const std::string> drivers);

/// The variables that the client library reads. `present`: POCL_DEVICES as it is, or empty; remote
/// devices that it names already keep their numbers.
std::vector<std::pair<std::string, std::string>>
remoteVariables(std::span<const RemoteDevice> devices, const std::string& present);

} // namespace libsplit::tools
