// Opens libOpenCL at run time and asks dlsym for every function, as hashcat, OpenCV and ffmpeg do.
// DOOR_OPEN_FLAGS says how it is opened.
#include "tests/doors/triple.h"

#include <dlfcn.h>

int main() {
  void* library = dlopen("libOpenCL.so.1", DOOR_OPEN_FLAGS);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 5;
  }
  door::Functions functions{};
#define DOOR_LOOK_UP(name)                                                                         \
  functions.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name));                     \
  if (!functions.name)                                                                             \
    return 6;
  DOOR_FUNCTIONS(DOOR_LOOK_UP)
  return door::triple(functions);
}
