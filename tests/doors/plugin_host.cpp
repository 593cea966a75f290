// Loads the plugin named on the command line for itself alone (RTLD_LOCAL), runs it, and closes it,
// with which a loader goes that nobody else has.
#include <cstdio>
#include <dlfcn.h>

int main(int argc, char** argv) {
  void* plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!plugin) {
    std::fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: plugin_host PLUGIN");
    return 5;
  }
  auto run = reinterpret_cast<int (*)()>(dlsym(plugin, "runPlugin"));
  const int code = run ? run() : 6;
  dlclose(plugin);
  return code;
}
