// The state of the fake OpenCL that all entry points share: platforms, the lock, which objects are
// alive, what goes wrong next, and the engine that runs commands.
//
// One lock guards everything; kernels, transfers and callbacks run without it.
//
// At exit a report may be written (JSON): for each device the names of the calls that concerned it
// and how many commands it began, objects that were never released, and misuse: calls with handles
// of objects that are gone, releases that were one too many, kernels that wrote beyond a buffer.
#pragma once

#include "tests/fake_opencl/engine.h"
#include "tests/fake_opencl/objects.h"

#include <mutex>
#include <optional>
#include <unordered_set>

namespace libsplit::fake {

class Driver {
public:
  explicit Driver(Configuration configuration);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  const Configuration configuration;
  std::mutex mutex;
  std::vector<std::unique_ptr<_cl_platform_id>> platforms;
  std::vector<std::unique_ptr<_cl_device_id>> devices;
  Engine engine;

  template <class Handle> bool isAlive(Handle handle) const {
    return handle && alive_.contains(handle);
  }
  template <class T> T* adopt(std::unique_ptr<T> object) {
    object->dispatch = &dispatchTable();
    object->destroy = [](Object* dead) { delete static_cast<T*>(dead); };
    object->kind = T::kindName;
    alive_.insert(object.get());
    return object.release();
  }
  void forget(Object* object) { alive_.erase(object); }
  void misuse(const std::string& what);
  /// A call that concerns `device`: counted, and what it answers if it is to fail, of which the
  /// device's contexts are to hear.
  std::optional<cl_int> called(const char* name, cl_device_id device);
  /// Calls of the program's functions that wait until the lock is free: those of memory that ended,
  /// and of contexts in which a call failed.
  void callLater(std::function<void()> function) { waiting_.push_back(std::move(function)); }
  void callBack(Lock& lock);
  void writeReport();

  static const cl_icd_dispatch& dispatchTable();

private:
  void tellContextsOf(cl_device_id device, const char* call);

  std::unordered_set<const Object*> alive_;
  std::vector<std::string> misuses_;
  std::vector<std::function<void()>> waiting_;
};

/// The one driver of the process, made with the first call: from $FAKE_OPENCL, or what `configure`
/// was told before.
Driver& driver();
void configure(Configuration configuration);

inline cl_device_id deviceOf(cl_platform_id) {
  return nullptr;
}
cl_device_id deviceOf(cl_device_id device);
cl_device_id deviceOf(cl_context context);
cl_device_id deviceOf(cl_command_queue queue);
cl_device_id deviceOf(cl_mem memory);
cl_device_id deviceOf(cl_program program);
cl_device_id deviceOf(cl_kernel kernel);
cl_device_id deviceOf(cl_event event);

template <class Handle> constexpr cl_int invalidHandle = CL_INVALID_VALUE;
template <> inline constexpr cl_int invalidHandle<cl_platform_id> = CL_INVALID_PLATFORM;
template <> inline constexpr cl_int invalidHandle<cl_device_id> = CL_INVALID_DEVICE;
template <> inline constexpr cl_int invalidHandle<cl_context> = CL_INVALID_CONTEXT;
template <> inline constexpr cl_int invalidHandle<cl_command_queue> = CL_INVALID_COMMAND_QUEUE;
template <> inline constexpr cl_int invalidHandle<cl_mem> = CL_INVALID_MEM_OBJECT;
template <> inline constexpr cl_int invalidHandle<cl_program> = CL_INVALID_PROGRAM;
template <> inline constexpr cl_int invalidHandle<cl_kernel> = CL_INVALID_KERNEL;
template <> inline constexpr cl_int invalidHandle<cl_event> = CL_INVALID_EVENT;

/// The driver's lock; later for calls that the configuration has take their time.
Lock lockFor(const char* call);

/// One call of an entry point: holds the lock, and knows whether it has failed already.
class Call {
public:
  enum class Counted { No, Yes };
  template <class Handle>
  Call(const char* name, Handle handle, Counted counted = Counted::Yes) : lock(lockFor(name)) {
    if (!driver().isAlive(handle)) {
      if (handle)
        driver().misuse(std::string(name) + " with a handle of nothing");
      error = invalidHandle<Handle>;
    } else if (counted == Counted::Yes) {
      error = driver().called(name, deviceOf(handle)).value_or(CL_SUCCESS);
      if (error)
        driver().callBack(lock);
    }
  }
  Lock lock;
  cl_int error = CL_SUCCESS;
};

template <class Handle> cl_int CL_API_CALL retainHandle(Handle handle) {
  Call call("a retain", handle, Call::Counted::No);
  if (!call.error)
    retain(handle);
  return call.error;
}

template <class Handle> cl_int CL_API_CALL releaseHandle(Handle handle) {
  Call call("a release", handle, Call::Counted::No);
  if (!call.error) {
    release(handle);
    driver().callBack(call.lock);
  }
  return call.error;
}

/// For calls that hand out an object: tells `error`, and is null.
inline std::nullptr_t refuse(cl_int* errorRet, cl_int error) {
  if (errorRet)
    *errorRet = error;
  return nullptr;
}

template <class Handle> Handle granted(cl_int* errorRet, Handle handle) {
  if (errorRet)
    *errorRet = CL_SUCCESS;
  return handle;
}

/// Answers a clGet…Info call.
struct Answer {
  std::size_t size;
  void* value;
  std::size_t* sizeRet;

  cl_int bytes(const void* data, std::size_t count) const;
  cl_int text(const std::string& string) const { return bytes(string.c_str(), string.size() + 1); }
  template <class T> cl_int one(const T& answer) const { return bytes(&answer, sizeof answer); }
  template <class T> cl_int all(const std::vector<T>& answer) const {
    return bytes(answer.data(), answer.size() * sizeof(T));
  }
};

/// The entry points of each file, put into the table.
void addObjects(cl_icd_dispatch& table);
void addMemory(cl_icd_dispatch& table);
void addPrograms(cl_icd_dispatch& table);
void addCommands(cl_icd_dispatch& table);
void addEvents(cl_icd_dispatch& table);

} // namespace libsplit::fake
