#include "tests/fake_opencl/driver.h"

#include "tests/fake_opencl/host_functions.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <thread>
#include <tuple>
#include <type_traits>

namespace libsplit::fake {

namespace {

std::optional<Configuration> configured;
Driver* theDriver = nullptr;

Configuration fromEnvironment() {
  const char* text = std::getenv("FAKE_OPENCL");
  try {
    return parseConfiguration(text ? text : "{}");
  } catch (const std::exception& error) {
    std::cerr << "fake_opencl: FAKE_OPENCL: " << error.what() << "\n";
    std::_Exit(125);
  }
}

/// What an entry point answers that the fake OpenCL does not have.
template <class Result> Result missing() {
  if constexpr (std::is_same_v<Result, cl_int>)
    return CL_INVALID_OPERATION;
  else if constexpr (!std::is_void_v<Result>)
    return Result{};
}

// A call that hands out an object tells its error by its last argument.
template <class... Arguments> void tellMissing(Arguments... arguments) {
  if constexpr (sizeof...(arguments) > 0) {
    auto last = std::get<sizeof...(arguments) - 1>(std::tuple(arguments...));
    if constexpr (std::is_same_v<decltype(last), cl_int*>)
      if (last)
        *last = CL_INVALID_OPERATION;
  }
}

cl_icd_dispatch makeTable() {
  cl_icd_dispatch table{};
#define OPENCL_API(result, name, parameters, arguments)                                            \
  table.name = [] parameters -> result {                                                           \
    tellMissing arguments;                                                                         \
    return missing<result>();                                                                      \
  };
#include "libsplit/api.inc"
#undef OPENCL_API
  addObjects(table);
  addMemory(table);
  addPrograms(table);
  addCommands(table);
  addEvents(table);
  return table;
}

struct ReportAtExit {
  ~ReportAtExit() {
    if (theDriver)
      theDriver->writeReport();
  }
} reportAtExit;

} // namespace

void retain(Object* object) {
  ++object->references;
}

void release(Object* object) {
  if (--object->references > 0)
    return;
  driver().forget(object);
  object->destroy(object);
}

Driver::Driver(Configuration wanted) : configuration(std::move(wanted)), engine(*this) {
  unsigned number = 0;
  for (const PlatformConfiguration& each : configuration.platforms) {
    auto platform = std::make_unique<_cl_platform_id>();
    platform->dispatch = &dispatchTable();
    platform->name = each.name;
    for (std::size_t d = 0; d < each.devices.size(); ++d) {
      auto device = std::make_unique<_cl_device_id>();
      device->dispatch = &dispatchTable();
      device->platform = platform.get();
      device->configuration = each.devices[d];
      device->number = number++;
      device->label = std::to_string(platforms.size()) + "." + std::to_string(d);
      platform->devices.push_back(device.get());
      alive_.insert(device.get());
      devices.push_back(std::move(device));
    }
    alive_.insert(platform.get());
    platforms.push_back(std::move(platform));
  }
}

Driver::~Driver() = default;

const cl_icd_dispatch& Driver::dispatchTable() {
  static const cl_icd_dispatch table = makeTable();
  return table;
}

void Driver::misuse(const std::string& what) {
  misuses_.push_back(what);
  std::cerr << "fake_opencl: misuse: " << what << std::endl;
}

std::optional<cl_int> Driver::called(const char* name, cl_device_id device) {
  if (!device)
    return std::nullopt;
  ++device->calls;
  if (!configuration.report.empty())
    device->log.emplace_back(name);
  for (const Mishap& mishap : configuration.script)
    if (mishap.kind == Mishap::Kind::FailCall && mishap.device == device->number &&
        mishap.number == device->calls) {
      tellContextsOf(device, name);
      return mishap.error;
    }
  return std::nullopt;
}

void Driver::tellContextsOf(cl_device_id device, const char* call) {
  for (const Object* each : alive_) {
    if (each->kind != _cl_context::kindName)
      continue;
    const auto& context = *static_cast<const _cl_context*>(each);
    if (context.notify && std::ranges::find(context.devices, device) != context.devices.end())
      callLater([notify = context.notify, data = context.notifyData, text = std::string(call)] {
        notify((text + " failed").c_str(), nullptr, 0, data);
      });
  }
}

void Driver::callBack(Lock& lock) {
  const auto functions = std::exchange(waiting_, {});
  if (functions.empty())
    return;
  lock.unlock();
  for (const auto& function : functions)
    function();
  lock.lock();
}

void Driver::writeReport() {
  std::lock_guard lock(mutex);
  if (configuration.report.empty())
    return;
  nlohmann::json report;
  for (const auto& device : devices)
    report["devices"][device->label] = {{"calls", device->log},
                                        {"commands", device->commands},
                                        {"command_types", device->commandLog},
                                        {"local_sizes", device->localSizes},
                                        {"timed_commands", device->timed},
                                        {"most_memory", device->mostMemory}};
  std::map<std::string, unsigned> left;
  for (const Object* object : alive_)
    if (object->destroy)
      ++left[object->kind];
  report["left"] = left;
  report["misuse"] = misuses_;
  std::ofstream(configuration.report) << report.dump(1) << "\n";
}

Driver& driver() {
  static std::once_flag once;
  // Never destroyed: programs call drivers until their very end.
  std::call_once(once, [] {
    theDriver = new Driver(configured ? std::move(*configured) : fromEnvironment());
  });
  return *theDriver;
}

Lock lockFor(const char* call) {
  const auto& slow = driver().configuration.slowCalls;
  if (const auto found = slow.find(call); found != slow.end())
    std::this_thread::sleep_for(std::chrono::microseconds(found->second));
  return Lock(driver().mutex);
}

void configure(Configuration configuration) {
  configured = std::move(configuration);
}

cl_device_id deviceOf(cl_device_id device) {
  return device;
}
cl_device_id deviceOf(cl_context context) {
  return context->devices.front();
}
cl_device_id deviceOf(cl_command_queue queue) {
  return queue->device;
}
cl_device_id deviceOf(cl_mem memory) {
  return deviceOf(memory->context.get());
}
cl_device_id deviceOf(cl_program program) {
  return deviceOf(program->context.get());
}
cl_device_id deviceOf(cl_kernel kernel) {
  return deviceOf(kernel->program.get());
}
cl_device_id deviceOf(cl_event event) {
  return event->queue ? event->queue->device : deviceOf(event->context.get());
}

cl_int Answer::bytes(const void* data, std::size_t count) const {
  if (value && size < count)
    return CL_INVALID_VALUE;
  if (value && count > 0)
    std::memcpy(value, data, count);
  if (sizeRet)
    *sizeRet = count;
  return CL_SUCCESS;
}

} // namespace libsplit::fake
