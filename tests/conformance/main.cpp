// conformance --state native|split [--platform NUMBER] [--only NAME,...] [--without NAME,...]
//     [--skip CALL;...]
//
// Calls every entry point of OpenCL; explorer.h tells the rest. Compiled twice: linked with
// libOpenCL, and opening it (CONFORMANCE_OPENS).
#include "tests/conformance/explorer.h"

#include <dlfcn.h>

#include <cstring>
#include <exception>
#include <iostream>
#include <sstream>

namespace conformance {

Calls calls;

namespace {

void findCalls() {
#ifdef CONFORMANCE_OPENS
  void* library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw std::runtime_error(::dlerror());
#define OPENCL_API(result, name, parameters, arguments)                                            \
  calls.name = reinterpret_cast<decltype(calls.name)>(::dlsym(library, #name));
#else
#define OPENCL_API(result, name, parameters, arguments) calls.name = ::name;
#endif
#include "libsplit/api.inc"
#undef OPENCL_API
}

std::set<std::string> parts(const std::string& text, char separator) {
  std::set<std::string> result;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    result.insert(part);
  return result;
}

} // namespace
} // namespace conformance

int main(int count, char** arguments) {
  using namespace conformance;
  bool split = false;
  unsigned platform = 0;
  std::set<std::string> only, without, skip;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i], value = arguments[i + 1];
    if (name == "--state")
      split = value == "split";
    else if (name == "--platform")
      platform = static_cast<unsigned>(std::stoul(value));
    else if (name == "--only")
      only = parts(value, ',');
    else if (name == "--without")
      without = parts(value, ',');
    else if (name == "--skip")
      skip = parts(value, ';');
  }
  try {
    findCalls();
    static Common common(platform); // its objects live until the end
    Explorer explorer(common, split, only, without, skip);
    exploreAll(explorer);
  } catch (const std::exception& error) {
    std::cerr << arguments[0] << ": " << error.what() << "\n";
    return 1;
  }
  return 0;
}
