// The door for loaders that know no layers, such as the one that NVIDIA's CUDA toolkit brings: the
// preloaded library exports OpenCL's own names, so a program that links libOpenCL calls us first.
//
// With a loader that knows layers the exported functions only pass the call on to it, and it comes
// back through the layer: a call is intercepted once, whichever way it came. Which of the two it is
// shows with the first call, when the loader has had its chance to load the layer.
#include "libsplit/dlopen.h"
#include "libsplit/door.h"

#include <mutex>
#include <type_traits>

#include <dlfcn.h>

namespace libsplit {

namespace {

runtime::Functions loaderTable;
const runtime::Functions* entryTable = &loaderTable;
thread_local bool isStarting = false;

/// The loader behind us: the one that the program opened, the next one in its own link order, or,
/// where nothing links it (a plugin that was loaded locally does not count), the system's.
void* findInLoader(const char* name) {
  if (void* opened = loaderThatWasOpened())
    return ::dlsym(opened, name);
  if (void* found = ::dlsym(RTLD_NEXT, name))
    return found;
  static void* const loader = openLibrary("libOpenCL.so.1");
  return loader ? ::dlsym(loader, name) : nullptr;
}

void fillLoaderTable() {
#define OPENCL_API(result, name, parameters, arguments)                                            \
  loaderTable.name = reinterpret_cast<decltype(loaderTable.name)>(findInLoader(#name));
#include "libsplit/api.inc"
#undef OPENCL_API
}

void start() {
  fillLoaderTable();
  cl_uint platforms = 0;
  if (loaderTable.clGetPlatformIDs)
    loaderTable.clGetPlatformIDs(0, nullptr, &platforms);
  if (!layerIsLoaded())
    entryTable = startAsOnlyDoor(loaderTable);
}

const runtime::Functions& entries() {
  // A driver that calls OpenCL by name while it is being loaded gets the loader.
  if (isStarting)
    return loaderTable;
  static std::once_flag once;
  std::call_once(once, [] {
    isStarting = true;
    start();
    isStarting = false;
  });
  return *entryTable;
}

/// What a function answers that the loader does not have.
template <class Result> Result missing() {
  if constexpr (std::is_same_v<Result, cl_int>)
    return CL_INVALID_OPERATION;
  else if constexpr (!std::is_void_v<Result>)
    return Result{};
}

} // namespace

} // namespace libsplit

#define OPENCL_API(result, name, parameters, arguments)                                            \
  extern "C" [[gnu::visibility("default")]] result CL_API_CALL name parameters {                   \
    auto function = libsplit::entries().name;                                                      \
    return function ? function arguments : libsplit::missing<result>();                            \
  }
#include "libsplit/api.inc"
#undef OPENCL_API

/// exit, also as the program's own libraries call it: see layer.cpp.
extern "C" [[gnu::visibility("default")]] void exit(int status) noexcept {
  using Exit = void (*)(int);
  libsplit::exitIsCalled();
  void* next = ::dlsym(RTLD_NEXT, "exit");
  if (!next)
    next = ::dlsym(libsplit::openLibrary("libc.so.6"), "exit");
  reinterpret_cast<Exit>(next)(status);
  __builtin_unreachable();
}
