// splitrun: runs a program under libsplit.
#include "runtime/machine.h"
#include "runtime/options.h"

#include <CL/cl.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include <dlfcn.h>
#include <unistd.h>

using namespace libsplit::runtime;

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

int listAll() {
  void* loader = ::dlopen("libOpenCL.so.1", RTLD_NOW);
  if (!loader) {
    std::cerr << "splitrun: no OpenCL loader: " << ::dlerror() << "\n";
    return 1;
  }
  Dispatch table = loaderTable(loader);
  for (const ListedDevice& device : listDevices(table)) {
    const char* type = device.type & CL_DEVICE_TYPE_GPU   ? "GPU"
                       : device.type & CL_DEVICE_TYPE_CPU ? "CPU"
                                                          : "accelerator";
    std::cout << device.label << "\t" << type << "\t" << device.computeUnits << " compute units\t"
              << device.name << "\t(" << device.platformName << ")\n";
  }
  return 0;
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
  app.add_flag("--list-devices", listDevicesAsked, "List all devices with their labels, and exit");
  app.add_flag("--help-markdown", markdown, "Print the table of variables as Markdown, and exit");

  const auto& table = optionTable();
  std::vector<std::string> values(table.size());
  std::vector<CLI::Option*> flags(table.size(), nullptr);
  bool verify = false;
  CLI::Option* verifyFlag = nullptr;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!*table[i].flag)
      continue;
    if (std::string(table[i].values) == "0|1") {
      verifyFlag = flags[i] = app.add_flag(table[i].flag, verify, table[i].help);
      continue;
    }
    flags[i] = app.add_option(table[i].flag, values[i], table[i].help)->type_name(table[i].values);
  }
  std::vector<std::string> command;
  app.add_option("command", command, "The program and its arguments, after `--`")
      ->type_name("COMMAND");
  app.prefix_command(false);
  app.positionals_at_end();
  CLI11_PARSE(app, argc, argv);

  if (markdown) {
    std::cout << optionsAsMarkdown();
    return 0;
  }
  if (listDevicesAsked)
    return listAll();
  if (command.empty()) {
    std::cerr << "splitrun: no command; see splitrun --help\n";
    return 2;
  }
  fs::path preload = library();
  if (preload.empty()) {
    std::cerr << "splitrun: libsplit.so is not where it was installed\n";
    return 1;
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!flags[i] || flags[i]->count() == 0)
      continue;
    std::string value = flags[i] == verifyFlag ? "1" : values[i];
    ::setenv(table[i].variable, value.c_str(), 1);
  }
  std::vector<std::string> complaints;
  parseOptions(processEnvironment(), complaints);
  for (std::size_t i = 0; i < table.size(); ++i)
    for (const std::string& complaint : complaints)
      if (flags[i] && flags[i]->count() > 0 &&
          complaint.find(table[i].variable) != std::string::npos) {
        std::cerr << "splitrun: " << complaint << "\n";
        return 2;
      }
  const char* present = ::getenv("LD_PRELOAD");
  std::string list = preload.string();
  if (present && *present)
    list += ":" + std::string(present);
  ::setenv("LD_PRELOAD", list.c_str(), 1);

  std::vector<char*> arguments;
  for (std::string& word : command)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  std::cerr << "splitrun: can't run " << command[0] << ": " << std::strerror(errno) << "\n";
  return 127;
}
