// The doors. The ICD loader hands a layer every call of the application, however the application
// found the loader: linked, dlopened and dlsymed, deep-bound, from a plugin, from Python. So
// LD_PRELOAD only has to get the loader to load the layer: the preloaded library's constructor adds
// itself to OPENCL_LAYERS, which the loader reads with the first OpenCL call. For loaders that know
// no layers there is a second way in, exports.cpp. A call is seen once, by whichever door.
#include "libsplit/dlopen.h"
#include "libsplit/door.h"
#include "runtime/core/forks.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include <CL/cl_layer.h>
#include <dlfcn.h>
#include <pthread.h>

namespace libsplit {

namespace {

/// Never destroyed either.
runtime::Dispatch* nextTable = nullptr;
runtime::Functions ourTable;
runtime::Session* theSession = nullptr;
bool isStarted = false;
/// Calls come through us: there is a session.
std::atomic<bool> isIntercepting = false;
/// Takes over in the child of a fork: there, theSession has no threads, its locks may be held for
/// ever, and its files are the parent's.
runtime::Session* sessionOfChildren = nullptr;

bool contains(const std::string& list, const std::string& path) {
  return (":" + list + ":").find(":" + path + ":") != std::string::npos;
}

// Runs when the library is preloaded, or later when the loader loads it as a layer.
[[gnu::constructor]] void addToLayers() {
  std::string path = ownPath();
  if (path.empty())
    return;
  constexpr const char* variable = "OPENCL_LAYERS";
  const char* present = ::getenv(variable); // the loader's variable, not an option of libsplit
  std::string layers = present ? present : "";
  if (contains(layers, path))
    return;
  ::setenv(variable, (layers.empty() ? path : layers + ":" + path).c_str(), 1);
}

void finishAtExit() {
  guarded([] {
    session().finish();
    return CL_SUCCESS;
  });
}

// The order at exit. A compiler in a driver has static objects, and those that came into being
// while it compiled are destroyed before any handler that was registered earlier. A build of ours
// that still runs then would find them gone, so `finishAtExit` must come before them all: it has to
// be registered last, when nobody can say any more what a driver will yet register. But the first
// thing that exit does is to destroy the thread_local objects of the thread that called it, and
// what is registered then goes first. So each thread that uses OpenCL has such an object. Its
// destructor can't tell whether the process ends or only the thread, but to register a handler is
// right in both cases. For threads that end the process without ever having used OpenCL the
// preloaded library has an exit of its own, which does the same.

/// Registrations. A thread more than these counts on an earlier one.
constexpr int mostRegistrations = 1024;
std::atomic<int> registrations = 0;

void finishFirst() {
  if (isIntercepting && registrations.fetch_add(1) < mostRegistrations)
    std::atexit(finishAtExit);
}

struct ExitWatch {
  ~ExitWatch() { finishFirst(); }
};

/// Starts the session over `target`, `bytes` of which the loader has; false if that failed. Who
/// `target` is stays: threads of ours and `finishAtExit` call it, also once a plugin is closed that
/// alone had brought a loader.
bool start(const runtime::Functions& target, std::size_t bytes) {
  try {
    nextTable = new runtime::Dispatch;
    std::memcpy(static_cast<runtime::Functions*>(nextTable), &target, bytes);
    std::memcpy(&ourTable, &target, bytes);
    keepLibraryOf(reinterpret_cast<const void*>(target.clGetPlatformIDs));
    std::vector<std::string> complaints;
    runtime::Options options = runtime::parseOptions(runtime::processEnvironment(), complaints);
    isStarted = true;
    for (const std::string& complaint : complaints)
      runtime::writeLogOnce(runtime::LogLevel::Warn, "ignored " + complaint);
    // Not with the references of the parent's, which another thread may be counting right then.
    sessionOfChildren = new runtime::Session(*new runtime::Dispatch(*nextTable));
    theSession = new runtime::Session(*nextTable, std::move(options));
  } catch (const std::exception& error) {
    runtime::log(runtime::LogLevel::Error, "could not start: ", error.what());
    return false;
  }
  isIntercepting = true;
  watchExit();
  finishFirst();
  ::pthread_atfork(runtime::beforeFork, runtime::afterForkInParent, [] {
    runtime::afterForkInChild();
    theSession = sessionOfChildren;
  });
  overrideObjects(ourTable);
  overrideMemory(ourTable);
  overridePrograms(ourTable);
  overrideTransfers(ourTable);
  overrideMaps(ourTable);
  overrideLaunches(ourTable);
  overrideEvents(ourTable);
  overrideExtensions(ourTable);
  overrideReferenceCounts(ourTable);
  if (session().pool().isOn())
    overridePooled(ourTable);
  return true;
}

} // namespace

std::string ownPath() {
  Dl_info info{};
  if (!::dladdr(reinterpret_cast<void*>(&ownPath), &info) || !info.dli_fname)
    return {};
  char* resolved = ::realpath(info.dli_fname, nullptr);
  std::string path = resolved ? resolved : info.dli_fname;
  std::free(resolved);
  return path;
}

const runtime::Dispatch& next() {
  return *nextTable;
}
runtime::Session& session() {
  return *theSession;
}
bool layerIsLoaded() {
  return isStarted;
}
void watchExit() {
  thread_local ExitWatch watch;
  static_cast<void>(watch);
}
void exitIsCalled() {
  finishFirst();
}

const runtime::Functions* startAsOnlyDoor(const runtime::Functions& loader) {
  return start(loader, sizeof loader) ? &ourTable : &loader;
}

} // namespace libsplit

extern "C" [[gnu::visibility("default")]] cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name,
                                                                            std::size_t size,
                                                                            void* value,
                                                                            std::size_t* sizeRet) {
  static constexpr char layerName[] = "libsplit";
  cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  const void* result = nullptr;
  std::size_t resultSize = 0;
  if (name == CL_LAYER_API_VERSION) {
    result = &version;
    resultSize = sizeof version;
  } else if (name == CL_LAYER_NAME) {
    result = layerName;
    resultSize = sizeof layerName;
  } else {
    return CL_INVALID_VALUE;
  }
  if (value && size < resultSize)
    return CL_INVALID_VALUE;
  if (value)
    std::memcpy(value, result, resultSize);
  if (sizeRet)
    *sizeRet = resultSize;
  return CL_SUCCESS;
}

extern "C" [[gnu::visibility("default")]] cl_int CL_API_CALL
clInitLayer(cl_uint entries, const cl_icd_dispatch* target, cl_uint* entriesRet,
            const cl_icd_dispatch** layerRet) {
  using namespace libsplit;
  if (!target || !entriesRet || !layerRet)
    return CL_INVALID_VALUE;
  // A loader of another age has more entries or fewer. Where it has fewer, ours end there too.
  const std::size_t bytes = std::min<std::size_t>(entries * sizeof(void*), sizeof ourTable);
  *entriesRet = static_cast<cl_uint>(bytes / sizeof(void*));
  *layerRet = &ourTable;
  if (isStarted) // a second loader in the process: one session serves, the first loader's
    return CL_SUCCESS;
  keepLibraryOf(__builtin_return_address(0)); // the loader, which other layers may be before
  return start(*target, bytes) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}
