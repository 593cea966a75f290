// splitrun: runs a program under libsplit.
//
// Exit status: that of the program, which takes splitrun's place, or for which splitrun waits if it
// is to make a bundle. Where it can't: 127 if there is no such program, 2 for a bad command line, 1
// otherwise.
#include "runtime/core/device_spec.h"
#include "runtime/core/options.h"
#include "runtime/device/machine.h"
#include "tools/bundle.h"
#include "tools/command_line.h"
#include "tools/compile_ahead.h"
#include "tools/hosts.h"

#include <CL/cl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace libsplit::runtime;
using libsplit::tools::badUsage;

namespace {

namespace fs = std::filesystem;

/// libsplit.so that belongs to this splitrun: ../lib of its folder, as built and as installed.
fs::path library() {
  fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const char* relative : {"../lib/libsplit.so", "../lib/x86_64-linux-gnu/libsplit.so",
                               "../lib/aarch64-linux-gnu/libsplit.so", "libsplit.so"})
    if (fs::exists(here / relative))
      return fs::canonical(here / relative);
  return {};
}

/// The OpenCL entry points that listing needs, from the loader itself.
Dispatch loaderTable(void* loader) {
  Dispatch table{};
  auto find = [&](auto& entry, const char* name) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(::dlsym(loader, name));
  };
  find(table.clGetPlatformIDs, "clGetPlatformIDs");
  find(table.clGetPlatformInfo, "clGetPlatformInfo");
  find(table.clGetDeviceIDs, "clGetDeviceIDs");
  find(table.clGetDeviceInfo, "clGetDeviceInfo");
  return table;
}

/// Every device of the system; nothing, with a line on stderr, if there is none.
std::vector<ListedDevice> systemDevices() {
  void* loader = ::dlopen("libOpenCL.so.1", RTLD_NOW);
  if (!loader) {
    std::cerr << "splitrun: no OpenCL loader: " << ::dlerror() << "\n";
    return {};
  }
  std::vector<ListedDevice> devices = listDevices(loaderTable(loader));
  if (devices.empty())
    std::cerr << "splitrun: no OpenCL device found; is a driver installed (/etc/OpenCL/vendors)?\n";
  return devices;
}

int listAll() {
  const std::vector<ListedDevice> devices = systemDevices();
  for (const ListedDevice& device : devices) {
    const char* type = device.type & CL_DEVICE_TYPE_GPU   ? "GPU"
                       : device.type & CL_DEVICE_TYPE_CPU ? "CPU"
                                                          : "accelerator";
    std::cout << device.label << "\t" << type << "\t" << device.computeUnits << " compute units\t"
              << device.name << "\t(" << device.platformName << ")\n";
  }
  return devices.empty() ? 1 : 0;
}

/// False, with a line on stderr, if a device of the list is not there.
bool devicesAreThere(const DeviceSpec& spec) {
  const std::vector<ListedDevice> devices = systemDevices();
  for (const DeviceSpec::Item& item : spec.items) {
    const std::string label = std::to_string(item.platform) + "." + std::to_string(item.device);
    if (std::ranges::find(devices, label, &ListedDevice::label) == devices.end()) {
      if (!devices.empty())
        std::cerr << "splitrun: --devices names " << label
                  << ", which is not there; see splitrun --list-devices\n";
      return false;
    }
  }
  return true;
}

/// `check()`, in a process of its own: drivers leave open files and variables behind. Where it
/// crashes, the program shall show it.
template <typename Check> bool holdsInChild(Check check) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(check() ? 0 : badUsage);
  int status = 0;
  return child < 0 || ::waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
         WEXITSTATUS(status) != badUsage;
}

/// What `tell` says, in a process of its own; nothing if that does not end well in time.
template <typename Tell>
std::optional<std::string> toldByChild(Tell tell, std::chrono::seconds patience) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = tell();
    const bool isWritten =
        ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(isWritten ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd waiting{ends[0], POLLIN, 0};
    std::array<char, 4096> part{};
    if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) != 1)
      break;
    const ssize_t size = ::read(ends[0], part.data(), part.size());
    if (size <= 0)
      break;
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  ::close(ends[0]);
  if (child < 0)
    return std::nullopt;
  if (std::chrono::steady_clock::now() >= end)
    ::kill(child, SIGKILL);
  int status = 0;
  if (::waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return std::nullopt;
  return text;
}

/// The platform of each device, a line each, as the loader finds them with these variables.
std::optional<std::string> platformsWith(const std::map<std::string, std::string>& variables) {
  constexpr std::chrono::seconds patience(20); // a driver's start, with a server far away
  return toldByChild(
      [&] {
        for (const auto& [name, value] : variables)
          ::setenv(name.c_str(), value.c_str(), 1);
        std::string text;
        if (void* loader = ::dlopen("libOpenCL.so.1", RTLD_NOW))
          for (const ListedDevice& device : listDevices(loaderTable(loader)))
            text += device.platformName + "\n";
        return text;
      },
      patience);
}

/// The installed drivers in the order of their platforms.
std::vector<std::string> driversInOrder(const std::string& platforms) {
  std::vector<std::string> drivers = libsplit::tools::installedDrivers();
  if (drivers.size() < 2)
    return drivers;
  std::map<std::string, std::size_t> places;
  for (const std::string& driver : drivers) {
    const std::string own = platformsWith({{"OCL_ICD_VENDORS", driver}}).value_or("");
    places[driver] =
        own.empty() ? std::string::npos : platforms.find(own.substr(0, own.find('\n')));
  }
  std::ranges::stable_sort(drivers, {}, [&](const std::string& driver) { return places[driver]; });
  return drivers;
}

/// Has this process and the command find the devices of other machines behind their own. False,
/// with a line on stderr, if that can't be.
bool addHosts(const std::string& hosts, std::string client) {
  namespace tools = libsplit::tools;
  constexpr std::chrono::milliseconds patience(2000);
  auto refuse = [](const std::string& why) {
    std::cerr << "splitrun: " << why << "\n";
    return false;
  };
  std::vector<tools::RemoteDevice> devices;
  try {
    devices = tools::parseHosts(hosts);
  } catch (const std::invalid_argument& error) {
    return refuse(std::string("bad value of --hosts: ") + error.what());
  }
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  if (client.empty())
    client = here.parent_path() / "lib" / "libsplit-remote" / "libpocl.so.2";
  if (!fs::exists(client))
    return refuse("--hosts needs PoCL's client library, which is not at " + client +
                  "; tools/build_remote makes it");
  const std::vector<std::string> silent = tools::silentServers(devices, patience);
  if (!silent.empty()) {
    std::string all;
    for (const std::string& each : silent)
      all += (all.empty() ? "" : ", ") + each;
    return refuse("no answer from " + all);
  }
  const std::string before = platformsWith({}).value_or("");
  if (before.empty())
    return refuse("this machine has no OpenCL device, which has to be the program's own");
  const char* present = ::getenv("POCL_DEVICES");
  std::map<std::string, std::string> variables;
  try {
    std::vector<std::string> drivers = driversInOrder(before);
    drivers.push_back(fs::canonical(client));
    std::vector<std::string> ignored;
    const std::string cache = parseOptions(processEnvironment(), ignored).cacheDir;
    const fs::path folder = fs::absolute(cache) / "drivers";
    variables["OCL_ICD_VENDORS"] = tools::vendorsFolder(folder, drivers);
  } catch (const std::exception& error) {
    return refuse(error.what());
  }
  variables["OCL_ICD_PLATFORM_SORT"] = "none";
  for (const auto& [name, value] : tools::remoteVariables(devices, present ? present : ""))
    variables[name] = value;
  for (const auto& [name, value] : variables)
    ::setenv(name.c_str(), value.c_str(), 1);
  return true;
}

/// Puts `path` at the end of a variable that holds paths with colons between them.
void addToList(const char* variable, const std::string& path) {
  const char* present = ::getenv(variable);
  const std::string others = present ? present : "";
  ::setenv(variable, (others.empty() ? path : others + ":" + path).c_str(), 1);
}

/// Has the command load the library. False, with a line on stderr, if there is no way.
bool addLibrary(const std::string& path) {
  if (path.find(':') != std::string::npos) {
    std::cerr << "splitrun: neither LD_PRELOAD nor OPENCL_LAYERS can name " << path
              << ", which has a colon in it; install libsplit elsewhere\n";
    return false;
  }
  // A blank ends a path in LD_PRELOAD. The loader's layers know colons alone.
  if (path.find(' ') != std::string::npos)
    addToList("OPENCL_LAYERS", path);
  else // behind the user's own, which see what the program calls, and not what libsplit does
    addToList("LD_PRELOAD", path);
  return true;
}

/// Puts `command` in this process' place. Returns only if that can't be done: the exit status.
int become(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& word : command)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  std::cerr << "splitrun: can't run " << command[0] << ": " << std::strerror(errno) << "\n";
  return 127;
}

std::string readFile(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<libsplit::tools::BundledDevice> bundledDevices() {
  std::vector<libsplit::tools::BundledDevice> result;
  void* loader = ::dlopen("libOpenCL.so.1", RTLD_NOW);
  if (!loader)
    return result;
  const Dispatch cl = loaderTable(loader);
  for (const ListedDevice& device : listDevices(cl)) {
    auto tell = [&](cl_device_info what) {
      char text[1024] = {};
      cl.clGetDeviceInfo(device.id, what, sizeof text - 1, text, nullptr);
      return std::string(text);
    };
    result.push_back({device.label, device.name, device.platformName, tell(CL_DEVICE_VERSION),
                      tell(CL_DRIVER_VERSION), device.computeUnits});
  }
  return result;
}

/// Runs `command` and writes what a report of a bug needs to `path`. The exit status.
int makeBundle(const std::string& path, const std::vector<std::string>& command) {
  std::ofstream file(path);
  if (!file) {
    std::cerr << "splitrun: can't write " << path << "\n";
    return 1;
  }
  libsplit::tools::Bundle bundle;
  bundle.environment = processEnvironment();
  int status = 0;
  const fs::path statistics = path + ".statistics." + std::to_string(::getpid());
  if (!command.empty()) {
    // The terminal's signals are meant for the program.
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGQUIT, SIG_IGN);
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGINT, SIG_DFL);
      ::signal(SIGQUIT, SIG_DFL);
      ::setenv("LIBSPLIT_STATS", fs::absolute(statistics).c_str(), 1);
      ::_exit(become(command));
    }
    if (child < 0 || ::waitpid(child, &status, 0) < 0) {
      std::cerr << "splitrun: can't run " << command[0] << ": " << std::strerror(errno) << "\n";
      return 1;
    }
    bundle.ending = WIFSIGNALED(status)
                        ? "ended by signal " + std::to_string(WTERMSIG(status))
                        : "ended with exit status " + std::to_string(WEXITSTATUS(status));
    bundle.statistics = readFile(statistics);
    std::error_code ignored;
    fs::remove(statistics, ignored);
  }
  bundle.devices = bundledDevices();
  file << toJson(bundle);
  file.close();
  if (!file) {
    std::cerr << "splitrun: can't write " << path << "\n";
    return 1;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// The variables, for man pages.
std::string variablesInManual() {
  std::string text;
  for (const OptionInfo& option : optionTable()) {
    text += "`" + std::string(option.variable) + "`=" + option.values + "::\n" + option.help;
    if (*option.defaultValue)
      text += " (default: " + std::string(option.defaultValue) + ")";
    text += "\n";
  }
  return text;
}

libsplit::tools::Manual manual() {
  return {
      "run a program with its OpenCL kernels split over all devices",
      {{"ENVIRONMENT", "Options set these variables for the command. Those without an option are "
                       "set by hand.\n" +
                           variablesInManual()},
       {"EXIT STATUS",
        "That of the command. Where it can't be run: 127 if there is no such program, 2 for a bad "
        "command line or a device that is not there, 1 otherwise."},
       {"EXAMPLES",
        "What was split, what that gained, and why the rest was not:\n\n"
        "  splitrun --summary -- ./your_program its arguments\n\n"
        "Two devices, one of them a CPU of which two thirds are left to the program:\n\n"
        "  splitrun --devices 0.0,1.0/8+16 -- ./your_program\n\n"
        "With the help of two more machines:\n\n"
        "  splitrun --hosts desk:12100,rack:12100 -- ./your_program\n"}},
      {"splitc(1)", "splittrace(1)", "libsplit(7)"},
      /*runsCommand=*/true};
}

std::string libraryManual() {
  return libsplit::tools::manualPage(
      "libsplit", 7,
      {"splits the kernels of unmodified OpenCL programs over all devices",
       {{"DESCRIPTION", "The library stands between a program and the OpenCL loader. Each kernel "
                        "launch that can be "
                        "split safely is executed by all devices of the machine, each of which "
                        "gets only the bytes that "
                        "it needs; shares are refined from launch to launch. What can't be split "
                        "runs on the device that "
                        "the program chose, the home device, as without libsplit.\n\n"
                        "There are two ways to load it. `splitrun`(1) takes the one that suits.\n"
                        "`LD_PRELOAD`=/path/to/libsplit.so::\nFor any loader.\n"
                        "`OPENCL_LAYERS`=/path/to/libsplit.so::\nFor loaders that know layers, as "
                        "ocl-icd does. Nothing is "
                        "preloaded.\n"},
        {"ENVIRONMENT", variablesInManual()},
        {"FILES",
         "`$XDG_CACHE_HOME/libsplit`, `~/.cache/libsplit`::\nAnalysed kernels, and how fast each "
         "device ran each. It can be removed at any time.\n"}},
       {"splitrun(1)", "splitc(1)", "splittrace(1)"}});
}

std::string footer() {
  std::string text = "Variables, which the options above set for the command:\n";
  for (const OptionInfo& option : optionTable()) {
    text += "\n  " + std::string(option.variable) + "=" + option.values;
    if (*option.defaultValue)
      text += "  (default " + std::string(option.defaultValue) + ")";
    text += "\n      " + std::string(option.help) + "\n";
  }
  return text;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs an unmodified OpenCL program with its kernels split over all devices.",
               "splitrun");
  app.footer(footer());
  bool listDevicesAsked = false, markdown = false;
  std::string bundle;
  app.add_flag("--list-devices", listDevicesAsked, "List all devices with their labels, and exit");
  app.add_flag("--help-markdown", markdown, "Print the table of variables as Markdown, and exit");
  std::string hosts, remoteDriver;
  app.add_option("--hosts", hosts,
                 "Devices of other machines, on which PoCL's pocld runs: a list such as "
                 "`a:12100,b:12100/1`, the device 0 where none is named")
      ->type_name("HOST:PORT/DEVICE,...");
  app.add_option("--remote-driver", remoteDriver,
                 "PoCL's client library for --hosts. Default: `lib/libsplit-remote/libpocl.so.2` "
                 "beside the folder of splitrun, where tools/build_remote puts it")
      ->type_name("FILE");
  auto* bundleOption =
      app.add_option(
             "--bundle", bundle,
             "Run the command, if there is one, and write what a report of a bug needs to FILE: "
             "versions, devices, variables, what became of each kernel's launches; neither "
             "sources nor data")
          ->type_name("FILE");

  const auto& table = optionTable();
  std::vector<std::string> values(table.size());
  std::vector<CLI::Option*> flags(table.size(), nullptr);
  auto isSwitch = [](const OptionInfo& option) { return option.values == std::string("0|1"); };
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!*table[i].flag)
      continue;
    if (isSwitch(table[i])) {
      flags[i] = app.add_flag(table[i].flag, table[i].help);
      continue;
    }
    flags[i] = app.add_option(table[i].flag, values[i], table[i].help)->type_name(table[i].values);
  }
  std::vector<std::string> command;
  app.add_option("command", command, "The program and its arguments, after `--`")
      ->type_name("COMMAND");
  app.prefix_command(false);
  app.positionals_at_end();
  if (argc == 2 && argv[1] == std::string_view("--help-man=libsplit")) {
    std::cout << libraryManual();
    return 0;
  }
  if (argc == 2 && argv[1] == std::string_view("--compile-ahead"))
    libsplit::tools::compileAhead(std::cin);
  if (auto status = libsplit::tools::readCommandLine(app, argc, argv, manual()))
    return *status;

  if (markdown) {
    std::cout << optionsAsMarkdown();
    return 0;
  }
  if (!hosts.empty() && !addHosts(hosts, remoteDriver))
    return badUsage;
  if (listDevicesAsked)
    return listAll();
  if (command.empty() && bundleOption->count() > 0)
    return makeBundle(bundle, command);
  if (command.empty()) {
    std::cerr << "splitrun: no command; see splitrun --help\n";
    return badUsage;
  }
  const fs::path preload = library();
  if (preload.empty()) {
    std::cerr << "splitrun: libsplit.so is not where it was installed\n";
    return 1;
  }
  Options options;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!flags[i] || flags[i]->count() == 0)
      continue;
    std::string value = isSwitch(table[i]) ? "1" : values[i];
    if (!table[i].set(options, value)) {
      std::cerr << "splitrun: bad value `" << value << "` of " << table[i].flag << ", expected "
                << table[i].values << "\n";
      return badUsage;
    }
    ::setenv(table[i].variable, value.c_str(), 1);
  }
  const DeviceSpec spec = parseDeviceSpec(options.devices).value_or(DeviceSpec());
  if (!spec.items.empty() && !holdsInChild([&] { return devicesAreThere(spec); }))
    return badUsage;
  if (!addLibrary(preload))
    return badUsage;

  // Whoever set it by hand knows what he wants.
  ::setenv("LIBSPLIT_PROGRESS", "1", 0);
  return bundleOption->count() > 0 ? makeBundle(bundle, command) : become(std::move(command));
}
