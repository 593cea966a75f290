#include "tools/hosts.h"

#include "runtime/core/disk_cache.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace libsplit::tools {

namespace {

namespace fs = std::filesystem;
using runtime::hashOf;

template <typename Number> bool readNumber(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end && !text.empty();
}

RemoteDevice parseHost(const std::string& text) {
  RemoteDevice device;
  std::string server = text;
  if (const auto slash = text.find('/'); slash != std::string::npos) {
    if (!readNumber(text.substr(slash + 1), device.device))
      throw std::invalid_argument("`" + text + "` has no number behind `/`");
    server.resize(slash);
  }
  constexpr std::size_t longestName = 253; // of the domain name system; the driver has room for it
  const auto colon = server.find(':');
  device.host = server.substr(0, colon);
  if (colon == std::string::npos || !readNumber(server.substr(colon + 1), device.port) ||
      device.port == 0 || device.port > 65533) // the next two are the server's as well
    throw std::invalid_argument("`" + text + "` is not HOST:PORT or HOST:PORT/DEVICE");
  if (device.host.empty() || device.host.size() > longestName ||
      device.host.find_first_of(" #") != std::string::npos)
    throw std::invalid_argument("`" + text + "` names no host");
  return device;
}

/// Why no connection to one of the addresses is made in time; empty if one is.
std::string tryPort(const std::string& host, unsigned port, std::chrono::milliseconds patience) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error)
    return ::gai_strerror(error);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  std::string why;
  for (const addrinfo* each = found; each; each = each->ai_next) {
    const int fd = ::socket(each->ai_family, each->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
      return std::strerror(errno);
    int status = ::connect(fd, each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
    if (status == EINPROGRESS) {
      pollfd waiting{fd, POLLOUT, 0};
      socklen_t size = sizeof status;
      if (::poll(&waiting, 1, static_cast<int>(patience.count())) != 1 ||
          ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &status, &size) != 0)
        status = ETIMEDOUT;
    }
    ::close(fd);
    if (status == 0)
      return {};
    why = std::strerror(status);
  }
  return why;
}

std::string firstLine(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string valueOf(const char* variable) {
  const char* value = ::getenv(variable);
  return value ? value : "";
}

/// As the loader lists it.
std::vector<std::string> listed(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename());
  return names;
}

/// Puts a file that names `driver` into `folder`, so that it is listed before all others, or behind
/// them. File systems list new files first, or last, or by a hash of the name: so another name may
/// do where one does not. The name, or empty.
std::string place(const fs::path& folder, const std::string& driver, bool first) {
  constexpr unsigned manyNames = 500; // for a hash, as many as there are drivers would do
  for (unsigned attempt = 0; attempt < manyNames; ++attempt) {
    const std::string name = "driver-" + std::to_string(attempt) + ".icd";
    if (fs::exists(folder / name))
      continue;
    std::ofstream(folder / name) << driver << "\n";
    const std::vector<std::string> names = listed(folder);
    if (!names.empty() && (first ? names.front() : names.back()) == name)
      return name;
    fs::remove(folder / name);
  }
  return {};
}

bool holds(const fs::path& folder, std::span<const std::string> drivers) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return false;
  std::vector<std::string> found;
  for (const std::string& name : listed(folder))
    found.push_back(firstLine(folder / name));
  return std::ranges::equal(found, drivers);
}

bool fill(const fs::path& folder, std::span<const std::string> drivers, bool lastFirst) {
  for (const std::string& name : listed(folder))
    fs::remove(folder / name);
  for (std::size_t i = 0; i < drivers.size(); ++i)
    if (place(folder, drivers[lastFirst ? drivers.size() - 1 - i : i], lastFirst).empty())
      return false;
  return holds(folder, drivers);
}

} // namespace

std::vector<RemoteDevice> parseHosts(const std::string& text) {
  std::vector<RemoteDevice> devices;
  std::istringstream stream(text);
  for (std::string each; std::getline(stream, each, ',');) {
    devices.push_back(parseHost(each));
    if (std::ranges::count(devices, devices.back()) > 1)
      throw std::invalid_argument("`" + each + "` is named twice");
  }
  if (devices.empty() || text.ends_with(','))
    throw std::invalid_argument("`" + text + "` is no list of hosts");
  return devices;
}

std::vector<std::string> silentServers(std::span<const RemoteDevice> devices,
                                       std::chrono::milliseconds patience) {
  std::vector<std::string> servers;
  std::vector<std::array<std::string, 2>> failures(devices.size());
  {
    std::vector<std::jthread> attempts;
    for (std::size_t i = 0; i < devices.size(); ++i)
      for (unsigned next : {0U, 1U})
        attempts.emplace_back([&, i, next] {
          failures[i][next] = tryPort(devices[i].host, devices[i].port + next, patience);
        });
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string& why = failures[i][0].empty() ? failures[i][1] : failures[i][0];
    const std::string line = devices[i].server() + " (" + why + ")";
    if (!why.empty() && std::ranges::find(servers, line) == servers.end())
      servers.push_back(line);
  }
  return servers;
}

std::vector<std::string> installedDrivers() {
  fs::path folder = valueOf("OPENCL_VENDOR_PATH");
  if (folder.empty())
    folder = "/etc/OpenCL/vendors";
  const fs::path chosen = valueOf("OCL_ICD_VENDORS");
  std::error_code error;
  if (fs::is_directory(chosen, error)) {
    folder = chosen;
  } else if (chosen.extension() == ".icd") {
    const bool isPlainName = chosen == chosen.filename() && fs::exists(folder / chosen, error);
    return {firstLine(isPlainName ? folder / chosen : chosen)};
  } else if (!chosen.empty()) {
    return {chosen};
  }
  std::vector<std::string> drivers;
  if (fs::is_directory(folder, error))
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".icd")
        drivers.push_back(firstLine(entry.path()));
  std::erase(drivers, "");
  return drivers;
}

fs::path vendorsFolder(const fs::path& place, std::span<const std::string> drivers) {
  std::string all;
  for (const std::string& driver : drivers)
    all += driver + "\n";
  const fs::path folder = place / ("vendors-" + hashOf(all));
  if (holds(folder, drivers))
    return folder;
  fs::create_directories(place);
  std::string made = (place / "making-XXXXXX").string();
  if (!::mkdtemp(made.data()))
    throw std::runtime_error("can't make a folder in " + place.string() + ": " +
                             std::strerror(errno));
  const bool isFilled = fill(made, drivers, false) || fill(made, drivers, true);
  std::error_code error;
  if (isFilled && !holds(folder, drivers)) { // another run may have been faster
    fs::remove_all(folder, error);
    fs::rename(made, folder, error);
  }
  fs::remove_all(made);
  if (!holds(folder, drivers))
    throw std::runtime_error("can't put drivers in order in " + place.string());
  return folder;
}

std::vector<std::pair<std::string, std::string>>
remoteVariables(std::span<const RemoteDevice> devices, const std::string& present) {
  std::string names = present.empty() ? "pthread" : present; // else the installed PoCL has none
  std::istringstream stream(names);
  unsigned number = 0;
  for (std::string each; stream >> each;)
    number += each == "remote";
  std::vector<std::pair<std::string, std::string>> variables;
  for (const RemoteDevice& device : devices) {
    variables.emplace_back("POCL_REMOTE" + std::to_string(number++) + "_PARAMETERS",
                           device.parameters());
    names += " remote";
  }
  variables.emplace_back("POCL_DEVICES", names);
  return variables;
}

} // namespace libsplit::tools
