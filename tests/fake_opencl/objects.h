// The objects behind the handles of the fake OpenCL. All members are used under the driver's lock,
// unless said otherwise.
#pragma once

#include "runtime/core/opencl.h"
#include "tests/fake_opencl/configuration.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::fake {

/// What every handle points to. The ICD loader wants the dispatch table first, so no virtual
/// functions.
struct Object {
  const cl_icd_dispatch* dispatch = nullptr;
  int references = 1;
  void (*destroy)(Object*) = nullptr; ///< null: lives as long as the driver
  const char* kind = "";
};

void retain(Object* object);
/// Deletes it when it was the last reference.
void release(Object* object);

/// One reference to an object.
template <class Handle> class Keep {
public:
  Keep() = default;
  explicit Keep(Handle handle) : handle_(handle) {
    if (handle_)
      retain(handle_);
  }
  Keep(const Keep& other) : Keep(other.handle_) {}
  Keep(Keep&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Keep& operator=(Keep other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Keep() {
    if (handle_)
      release(handle_);
  }
  Handle get() const { return handle_; }
  Handle operator->() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

private:
  Handle handle_ = nullptr;
};

/// Bytes whose pages the system gives when they are first written.
struct Freed {
  void operator()(std::byte* room) const { std::free(room); }
};
using Room = std::unique_ptr<std::byte[], Freed>;

/// Time on the driver's clock.
using Nanoseconds = std::uint64_t;

/// What a device does one at a time of each kind.
enum class Resource { Kernels, CopiesIn, CopiesOut, None };

struct Command;
class LoadedProgram;

struct KernelArgumentInfo {
  enum class Space { Private, Global, Constant, Local };
  Space space = Space::Private;
  bool isConst = false;
  std::size_t size = 0;
  std::string name, type;
};

struct KernelInfo {
  std::string name;
  std::size_t required[3] = {0, 0, 0};
  std::uint64_t localMemory = 0;
  bool barriers = false;
  bool mayBeUneven = false; ///< the last work-groups may be smaller: OpenCL C 2.0 or later
  void (*entry)(void** arguments) = nullptr;
  std::vector<KernelArgumentInfo> arguments;
};

struct BuildResult {
  cl_build_status status = CL_BUILD_NONE;
  std::string options, log;
  std::shared_ptr<const LoadedProgram> code;
};

struct ArgumentValue {
  bool isSet = false;
  std::vector<std::byte> bytes; ///< of a value
  cl_mem memory = nullptr;      ///< not retained, as the specification has it
  std::size_t localSize = 0;
};

} // namespace libsplit::fake

struct _cl_platform_id : libsplit::fake::Object {
  std::string name;
  std::vector<cl_device_id> devices;
};

struct _cl_device_id : libsplit::fake::Object {
  cl_platform_id platform = nullptr;
  libsplit::fake::DeviceConfiguration configuration;
  unsigned number = 0;          ///< over all platforms
  std::string label;            ///< "P.D"
  std::uint64_t memoryUsed = 0; ///< bytes
  std::uint64_t timed = 0;      ///< commands of profiled queues
  unsigned queues = 0;          ///< that were made
  std::uint64_t mostMemory = 0; ///< … at any one time
  std::uint64_t calls = 0;      ///< that concerned it
  std::uint64_t enqueued = 0;   ///< commands, as far as the engine saw them
  std::uint64_t commands = 0;   ///< that began
  bool lost = false;
  libsplit::fake::Nanoseconds freeAt[3] = {0, 0, 0}; ///< by resource
  // If a report is wanted:
  std::vector<std::string> log;                    ///< names of its calls
  std::map<std::string, std::uint64_t> localSizes; ///< of its launches
  std::vector<cl_command_type> commandLog;         ///< of its commands, as they began
};

struct _cl_context : libsplit::fake::Object {
  static constexpr const char* kindName = "contexts";
  std::vector<cl_device_id> devices;
  std::vector<cl_context_properties> properties;
  void(CL_CALLBACK* notify)(const char*, const void*, std::size_t, void*) = nullptr;
  void* notifyData = nullptr;
};

struct _cl_command_queue : libsplit::fake::Object {
  static constexpr const char* kindName = "queues";
  libsplit::fake::Keep<cl_context> context;
  cl_device_id device = nullptr;
  cl_command_queue_properties properties = 0;
  cl_int failed = CL_SUCCESS; ///< what its first failure was
  std::vector<cl_queue_properties> given;
  std::vector<std::shared_ptr<libsplit::fake::Command>> pending; ///< not over yet, oldest first
  bool inOrder() const { return !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE); }
};

struct _cl_mem : libsplit::fake::Object {
  static constexpr const char* kindName = "memory";
  libsplit::fake::Keep<cl_context> context;
  libsplit::fake::Keep<cl_mem> parent; ///< of a sub-buffer
  std::size_t origin = 0;              ///< in the parent
  std::size_t size = 0;
  cl_mem_flags flags = 0;
  std::byte* storage = nullptr; ///< where kernels find it
  std::byte* window = nullptr;  ///< `storage` on devices in host memory; null until it is opened
  void* hostPointer = nullptr;  ///< CL_MEM_USE_HOST_PTR
  libsplit::fake::Room ownStorage, ownWindow;
  struct Map {
    std::size_t offset = 0, size = 0;
    bool writes = false;
  };
  std::multimap<const void*, Map> maps;
  std::vector<std::pair<void(CL_CALLBACK*)(cl_mem, void*), void*>> atEnd;
  ~_cl_mem();
  /// Where maps show it; made on first use.
  std::byte* openWindow();
};

struct _cl_program : libsplit::fake::Object {
  static constexpr const char* kindName = "programs";
  libsplit::fake::Keep<cl_context> context;
  std::string source;
  bool fromBinary = false;
  std::vector<cl_device_id> devices;
  std::map<cl_device_id, libsplit::fake::BuildResult> builds;
  unsigned kernels = 0; ///< that are alive
  /// Until then the driver still holds some that are not.
  std::chrono::steady_clock::time_point heldUntil;
};

struct _cl_kernel : libsplit::fake::Object {
  static constexpr const char* kindName = "kernels";
  libsplit::fake::Keep<cl_program> program;
  std::shared_ptr<const libsplit::fake::LoadedProgram> code;
  const libsplit::fake::KernelInfo* info = nullptr; ///< in `code`
  std::vector<libsplit::fake::ArgumentValue> arguments;
  bool launched = false;
  ~_cl_kernel();
};

struct _cl_event : libsplit::fake::Object {
  static constexpr const char* kindName = "events";
  libsplit::fake::Keep<cl_context> context;
  libsplit::fake::Keep<cl_command_queue> queue; ///< null for user events
  cl_command_type type = 0;
  cl_int status = CL_QUEUED;
  bool profiled = false;
  libsplit::fake::Nanoseconds times[4] = {0, 0, 0, 0}; ///< QUEUED, SUBMIT, START, END
  struct Callback {
    cl_int at = CL_COMPLETE;
    void(CL_CALLBACK* function)(cl_event, cl_int, void*) = nullptr;
    void* data = nullptr;
  };
  std::vector<Callback> callbacks;
  bool isLocked = false; ///< while it calls back, where drivers do so with a lock of its own
  std::condition_variable ended; ///< so that nobody else wakes up who waits
  bool over() const { return status <= CL_COMPLETE; }
};
