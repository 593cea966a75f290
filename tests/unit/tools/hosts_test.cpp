#include "tools/hosts.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace libsplit::tools {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "hosts-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

/// Two ports that follow each other and accept connections, on this machine alone.
class Listeners {
public:
  Listeners() {
    for (unsigned attempt = 0; attempt < 50 && !(open(0) && open(port_ + 1)); ++attempt)
      close();
  }
  ~Listeners() { close(); }
  std::uint16_t port() const { return port_; }

private:
  bool open(unsigned port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    fds_.push_back(fd);
    if (::bind(fd, any, size) != 0 || ::listen(fd, 4) != 0 || ::getsockname(fd, any, &size) != 0)
      return false;
    if (port == 0)
      port_ = ntohs(address.sin_port);
    return true;
  }
  void close() {
    for (int fd : fds_)
      ::close(fd);
    fds_.clear();
  }
  std::uint16_t port_ = 0;
  std::vector<int> fds_;
};

TEST(Hosts, AreHostPortAndDevice) {
  const std::vector<RemoteDevice> devices = parseHosts("desk:12100,10.0.0.2:12100/3");
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0], (RemoteDevice{"desk", 12100, 0}));
  EXPECT_EQ(devices[1].parameters(), "10.0.0.2:12100/3");
}

TEST(Hosts, WhatIsWrongIsSaid) {
  for (const char* text : {"", "desk", "desk:", ":12100", "desk:0", "desk:65535", "desk:1x",
                           "desk:12100/", "desk:12100/-1", "desk:1,", "desk:1,desk:1", "::1:12100"})
    EXPECT_THROW(parseHosts(text), std::invalid_argument) << text;
  EXPECT_NO_THROW(parseHosts("desk:12100,desk:12100/1"));
}

TEST(Hosts, ThoseThatDoNotAnswerAreNamed) {
  const Listeners listeners;
  ASSERT_NE(listeners.port(), 0);
  const RemoteDevice there{"127.0.0.1", listeners.port(), 0};
  EXPECT_TRUE(silentServers(std::vector{there}, milliseconds(2000)).empty());
  // The port behind: there is a server at the first of its two ports only.
  const RemoteDevice half{"127.0.0.1", static_cast<std::uint16_t>(listeners.port() + 1), 0};
  RemoteDevice second = half;
  second.device = 1;
  const auto silent = silentServers(std::vector{there, half, second}, milliseconds(2000));
  ASSERT_EQ(silent.size(), 1U) << "once for each server";
  EXPECT_TRUE(silent[0].starts_with(half.server() + " (")) << silent[0];
}

TEST(Hosts, DriversAreListedInTheirOrder) {
  const TemporaryFolder place;
  std::vector<std::string> drivers;
  for (unsigned count = 1; count <= 6; ++count) {
    drivers.insert(drivers.begin(), "/some/libdriver" + std::to_string(count) + ".so");
    const fs::path folder = vendorsFolder(place.path(), drivers);
    std::vector<std::string> listed;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      EXPECT_EQ(entry.path().extension(), ".icd");
      std::ifstream file(entry.path());
      std::getline(file, listed.emplace_back());
    }
    EXPECT_EQ(listed, drivers);
    EXPECT_EQ(vendorsFolder(place.path(), drivers), folder) << "it is made once";
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(place.path()), {}), 6) << "nothing else is left";
}

TEST(Hosts, ADamagedFolderIsMadeAnew) {
  const TemporaryFolder place;
  const std::vector<std::string> drivers = {"a", "b"};
  const fs::path foreign = vendorsFolder(place.path(), drivers) / "foreign.icd";
  std::ofstream(foreign) << "c\n";
  vendorsFolder(place.path(), drivers);
  EXPECT_FALSE(fs::exists(foreign));
  EXPECT_THROW(vendorsFolder("/proc/none", drivers), std::exception);
}

TEST(Hosts, InstalledDriversAreThoseOfTheLoader) {
  const TemporaryFolder place;
  std::ofstream(place.path() / "one.icd") << "libone.so\n";
  std::ofstream(place.path() / "two.icd") << "/opt/libtwo.so\n";
  std::ofstream(place.path() / "notes.txt") << "libthree.so\n";
  ::setenv("OCL_ICD_VENDORS", place.path().c_str(), 1);
  const std::vector<std::string> found = installedDrivers();
  EXPECT_EQ(std::set<std::string>(found.begin(), found.end()),
            (std::set<std::string>{"libone.so", "/opt/libtwo.so"}));
  ::setenv("OCL_ICD_VENDORS", (place.path() / "one.icd").c_str(), 1);
  EXPECT_EQ(installedDrivers(), std::vector<std::string>{"libone.so"});
  ::setenv("OCL_ICD_VENDORS", "libfour.so", 1);
  EXPECT_EQ(installedDrivers(), std::vector<std::string>{"libfour.so"});
  ::unsetenv("OCL_ICD_VENDORS");
}

TEST(Hosts, TheInstalledPoclKeepsItsDevices) {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  const std::vector<RemoteDevice> devices = {{"a", 1, 0}, {"b", 2, 3}};
  EXPECT_EQ(remoteVariables(devices, ""), (Variables{{"POCL_REMOTE0_PARAMETERS", "a:1/0"},
                                                     {"POCL_REMOTE1_PARAMETERS", "b:2/3"},
                                                     {"POCL_DEVICES", "pthread remote remote"}}));
  EXPECT_EQ(
      remoteVariables({devices.data(), 1}, "basic remote"),
      (Variables{{"POCL_REMOTE1_PARAMETERS", "a:1/0"}, {"POCL_DEVICES", "basic remote remote"}}));
}

} // namespace
} // namespace libsplit::tools
