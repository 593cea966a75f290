// Programs and kernels as objects.
#include "libsplit/destructor_callback.h"
#include "libsplit/door.h"
#include "libsplit/program_turns.h"
#include "runtime/core/callback_scope.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace libsplit {

namespace {

/// While libsplit is at work. Never destroyed: programs may call until the very end.
ProgramTurns* turns() {
  static auto* const all = new (std::nothrow) ProgramTurns;
  return session().active() ? all : nullptr;
}

std::string joined(cl_uint count, const char** strings, const size_t* lengths) {
  std::string text;
  for (cl_uint i = 0; i < count; ++i)
    text.append(strings[i], lengths && lengths[i] ? lengths[i] : std::strlen(strings[i]));
  return text;
}

void opaque(cl_program program, cl_context context, const char* why) {
  if (program)
    tracked([&] { session().programs().created(program, context, std::nullopt, why); });
}

void ilProgramCreated(cl_program program, cl_context context, const void* il, size_t length) {
  if (program)
    tracked([&] {
      session().programs().created(program, context,
                                   std::string(static_cast<const char*>(il), length), "");
    });
}

cl_program CL_API_CALL createWithSource(cl_context context, cl_uint count, const char** strings,
                                        const size_t* lengths, cl_int* error) {
  cl_int status = CL_SUCCESS;
  cl_program program = next().clCreateProgramWithSource(context, count, strings, lengths, &status);
  report(error, status);
  if (program)
    tracked([&] {
      session().programs().created(program, context, joined(count, strings, lengths), "");
    });
  return program;
}

cl_program CL_API_CALL createWithBinary(cl_context context, cl_uint count,
                                        const cl_device_id* devices, const size_t* lengths,
                                        const unsigned char** binaries, cl_int* binaryStatus,
                                        cl_int* error) {
  cl_int status = CL_SUCCESS;
  cl_program program = next().clCreateProgramWithBinary(context, count, devices, lengths, binaries,
                                                        binaryStatus, &status);
  if (program)
    tracked([&] {
      std::vector<runtime::BinaryUse> uses;
      for (cl_uint i = 0; i < count; ++i)
        uses.push_back({devices[i], {reinterpret_cast<const char*>(binaries[i]), lengths[i]}});
      // Asked of what the driver takes: its own errors come first.
      const std::vector<bool> refused = session().programs().refused(uses);
      if (std::ranges::find(refused, true) == refused.end()) {
        session().programs().createdFrom(program, context, uses);
        return;
      }
      for (cl_uint i = 0; i < count && binaryStatus; ++i)
        binaryStatus[i] = refused[i] ? CL_INVALID_BINARY : CL_SUCCESS;
      next().clReleaseProgram(std::exchange(program, nullptr));
      status = CL_INVALID_BINARY;
    });
  report(error, status);
  return program;
}

cl_program CL_API_CALL createWithIl(cl_context context, const void* il, size_t length,
                                    cl_int* error) {
  cl_int status = CL_SUCCESS;
  cl_program program = next().clCreateProgramWithIL(context, il, length, &status);
  report(error, status);
  ilProgramCreated(program, context, il, length);
  return program;
}

cl_int CL_API_CALL setSpecializationConstant(cl_program program, cl_uint id, size_t size,
                                             const void* value) {
  tracked([&] {
    session().programs().becameOpaque(program,
                                      "the program has specialization constants that were set");
  });
  return next().clSetProgramSpecializationConstant(program, id, size, value);
}

cl_program CL_API_CALL createWithBuiltIns(cl_context context, cl_uint count,
                                          const cl_device_id* devices, const char* names,
                                          cl_int* error) {
  cl_int status = CL_SUCCESS;
  cl_program program =
      next().clCreateProgramWithBuiltInKernels(context, count, devices, names, &status);
  report(error, status);
  opaque(program, context, "it is a built-in kernel of the device");
  return program;
}

/// A callback of the program for the end of a build, a compilation or a link.
struct Notify {
  using Function = void(CL_CALLBACK*)(cl_program, void*);
  Function function;
  void* data;

  void operator()(cl_program program) const {
    const runtime::CallbackScope scope;
    function(program, data);
  }
};

/// The program's callback for the end of a build that may be asked for several times. Some drivers
/// call it for what they refuse as well, but the program hears of the last time alone.
class LastNotified {
public:
  explicit LastNotified(const Notify& notify) : notify_(notify) {}

  /// The driver is asked once more.
  void ask() {
    const std::lock_guard lock(mutex_);
    isDue_ = false;
  }
  /// It is not asked again. Whether the program was told by now, or never will be.
  bool settle(cl_program program, cl_int status) {
    std::unique_lock lock(mutex_);
    isSettled_ = true;
    const bool isDue = isDue_;
    lock.unlock();
    if (isDue)
      notify_(program);
    return isDue || status != CL_SUCCESS;
  }
  /// For the driver, with a LastNotified that is deleted once the program was told.
  static void CL_CALLBACK ended(cl_program program, void* data) {
    auto* self = static_cast<LastNotified*>(data);
    std::unique_lock lock(self->mutex_);
    self->isDue_ = true;
    if (!self->isSettled_)
      return; // in the call, or before that returned
    lock.unlock();
    self->notify_(program);
    delete self;
  }

private:
  const Notify notify_;
  std::mutex mutex_;
  bool isDue_ = false, isSettled_ = false;
};

/// What the driver says to `build`, a function of a callback and its data. Some hold the kernel of
/// a launch a moment longer than its event says, PoCL among them, and refuse meanwhile. A program
/// that waits for the event does not see that; libsplit, which asks how far the event is, does.
template <class Call>
cl_int onceLetGo(bool mayBeHeld, cl_program program, const Notify& notify, const Call& build) {
  std::unique_ptr<LastNotified> last;
  if (notify.function)
    last.reset(new (std::nothrow) LastNotified(notify));
  if (!last && (!mayBeHeld || notify.function))
    return build(notify.function, notify.data);
  using Milliseconds = std::chrono::duration<double, std::milli>;
  constexpr Milliseconds longEnough(runtime::longestHeld);
  Milliseconds pause(0.05), waited(0);
  cl_int status = CL_SUCCESS;
  for (;;) {
    status = last ? build(&LastNotified::ended, last.get()) : build(nullptr, notify.data);
    if (!mayBeHeld || status != CL_INVALID_OPERATION || waited >= longEnough)
      break;
    std::this_thread::sleep_for(pause);
    waited += pause;
    pause *= 2;
    if (last)
      last->ask();
  }
  if (last && !last->settle(program, status))
    static_cast<void>(last.release()); // the driver will call it
  if (mayBeHeld && status == CL_INVALID_OPERATION)
    tracked([&] { session().programs().refusedForGood(program); });
  return status;
}

cl_int CL_API_CALL compile(cl_program program, cl_uint count, const cl_device_id* devices,
                           const char* options, cl_uint headerCount, const cl_program* headers,
                           const char** headerNames, void(CL_CALLBACK* notify)(cl_program, void*),
                           void* data) {
  // Before the compilation: with its callback, the application may release the headers.
  runtime::SourceUnits before;
  bool mayBeHeld = false;
  tracked([&] {
    mayBeHeld = session().programs().givesUpKernels(program);
    std::vector<runtime::HeaderUse> uses;
    for (cl_uint i = 0; i < headerCount && headers && headerNames; ++i)
      uses.push_back({headerNames[i] ? headerNames[i] : "", headers[i]});
    before = session().programs().compiling(program, {devices, devices + (devices ? count : 0)},
                                            options, uses);
  });
  const auto attempt = [&](Notify::Function told, void* with) {
    const ProgramTurns::Turn turn(mayBeHeld ? turns() : nullptr, program, ProgramTurns::Act::Build);
    return next().clCompileProgram(program, count, devices, options, headerCount, headers,
                                   headerNames, told, with);
  };
  const cl_int status = onceLetGo(mayBeHeld, program, {notify, data}, attempt);
  tracked([&] { session().programs().compiled(program, std::move(before), status); });
  return status;
}

/// What came of a link, of which the session is told once: when the call returns, or in the
/// callback that tells the program, where it may make kernels.
class KnownOnce {
public:
  KnownOnce(cl_context context, std::map<cl_device_id, runtime::LinkedUnits> parts)
      : context_(context), parts_(std::move(parts)) {}
  void note(cl_program program) {
    std::call_once(
        once_, [&] { tracked([&] { session().programs().linked(program, context_, parts_); }); });
  }

private:
  std::once_flag once_;
  cl_context context_;
  std::map<cl_device_id, runtime::LinkedUnits> parts_;
};

struct LinkCallback {
  std::shared_ptr<KnownOnce> known;
  Notify notify;

  static void CL_CALLBACK call(cl_program program, void* self) {
    const std::unique_ptr<LinkCallback> callback(static_cast<LinkCallback*>(self));
    if (program)
      callback->known->note(program);
    callback->notify(program);
  }
};

cl_program CL_API_CALL link(cl_context context, cl_uint deviceCount, const cl_device_id* devices,
                            const char* options, cl_uint count, const cl_program* programs,
                            void(CL_CALLBACK* notify)(cl_program, void*), void* data,
                            cl_int* error) {
  // Before the link: with its callback, the application may release what went into it.
  std::shared_ptr<KnownOnce> known;
  LinkCallback* last = nullptr; // which deletes itself; if the driver never calls, nobody does
  tracked([&] {
    known = std::make_shared<KnownOnce>(
        context,
        session().programs().partsOfLink(context, {devices, devices + (devices ? deviceCount : 0)},
                                         options, {programs, programs ? count : 0}));
    if (notify)
      last = new LinkCallback{known, {notify, data}};
  });
  cl_int status = CL_SUCCESS;
  cl_program program =
      next().clLinkProgram(context, deviceCount, devices, options, count, programs,
                           last ? LinkCallback::call : notify, last ? last : data, &status);
  report(error, status);
  if (program && known)
    known->note(program);
  return program;
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id* devices,
                         const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                         void* data) {
  std::shared_ptr<runtime::Build> before;
  bool mayBeHeld = false;
  tracked([&] {
    mayBeHeld = session().programs().givesUpKernels(program);
    before =
        session().programs().building(program, {devices, devices + (devices ? count : 0)}, options);
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto attempt = [&](Notify::Function told, void* with) {
    const ProgramTurns::Turn turn(mayBeHeld ? turns() : nullptr, program, ProgramTurns::Act::Build);
    return next().clBuildProgram(program, count, devices, options, told, with);
  };
  const cl_int status = onceLetGo(mayBeHeld, program, {notify, data}, attempt);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  tracked([&] { session().programs().built(program, before, status, took.count()); });
  return status;
}

cl_int CL_API_CALL programInfo(cl_program program, cl_program_info name, size_t size, void* value,
                               size_t* sizeRet) {
  if (name == CL_PROGRAM_BINARIES || name == CL_PROGRAM_BINARY_SIZES)
    tracked([&] { session().programs().readingBinaries(program); });
  const cl_int status = next().clGetProgramInfo(program, name, size, value, sizeRet);
  if (status == CL_SUCCESS && name == CL_PROGRAM_BINARIES && value)
    tracked([&] {
      session().programs().binariesRead(program, {static_cast<const unsigned char* const*>(value),
                                                  size / sizeof(unsigned char*)});
    });
  return status;
}

cl_int CL_API_CALL retainProgram(cl_program program) {
  return retained(next().clRetainProgram(program), &runtime::Session::programs, program);
}

cl_int CL_API_CALL setProgramCallback(cl_program program,
                                      void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  return DestructorCallback<cl_program>::give(notify, data, [=](auto* own, void* with) {
    return next().clSetProgramReleaseCallback(program, own, with);
  });
}

cl_int CL_API_CALL releaseProgram(cl_program program) {
  tracked([&] { session().programs().released(program); });
  return next().clReleaseProgram(program);
}

cl_kernel CL_API_CALL createKernel(cl_program program, const char* name, cl_int* error) {
  const ProgramTurns::Turn turn(turns(), program, ProgramTurns::Act::MakeKernels);
  cl_int status = CL_SUCCESS;
  cl_kernel kernel = next().clCreateKernel(program, name, &status);
  report(error, status);
  if (kernel)
    tracked([&] { session().kernels().created(kernel, program); });
  return kernel;
}

cl_int CL_API_CALL createKernels(cl_program program, cl_uint count, cl_kernel* kernels,
                                 cl_uint* countRet) {
  const ProgramTurns::Turn turn(turns(), program, ProgramTurns::Act::MakeKernels);
  cl_uint own = 0;
  cl_uint& made = countRet ? *countRet : own;
  cl_int status = next().clCreateKernelsInProgram(program, count, kernels, &made);
  if (status == CL_SUCCESS && kernels)
    tracked([&] {
      for (cl_uint i = 0; i < made && i < count; ++i)
        session().kernels().created(kernels[i], program);
    });
  return status;
}

cl_kernel CL_API_CALL cloneKernel(cl_kernel original, cl_int* error) {
  cl_int status = CL_SUCCESS;
  cl_kernel clone = next().clCloneKernel(original, &status);
  report(error, status);
  if (clone)
    tracked([&] { session().kernels().cloned(clone, original); });
  return clone;
}

cl_int CL_API_CALL retainKernel(cl_kernel kernel) {
  return retained(next().clRetainKernel(kernel), &runtime::Session::kernels, kernel);
}

cl_int CL_API_CALL releaseKernel(cl_kernel kernel) {
  tracked([&] { session().kernels().released(kernel); });
  return next().clReleaseKernel(kernel);
}

cl_int CL_API_CALL setKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  cl_int status = next().clSetKernelArg(kernel, index, size, value);
  if (status == CL_SUCCESS)
    tracked([&] { session().kernels().argumentSet(kernel, index, size, value); });
  return status;
}

} // namespace

cl_program CL_API_CALL createProgramWithIlKhr(cl_context context, const void* il, size_t length,
                                              cl_int* error) {
  cl_program program = nullptr;
  const cl_int status = guarded([&] {
    const auto devices =
        runtime::arrayProperty<cl_device_id>(next().clGetContextInfo, context, CL_CONTEXT_DEVICES);
    const auto create =
        devices.empty() ? nullptr : runtime::createProgramWithIlKhr(next(), devices[0]);
    cl_int answer = CL_INVALID_CONTEXT;
    if (create)
      program = create(context, il, length, &answer);
    return answer;
  });
  report(error, status);
  ilProgramCreated(program, context, il, length);
  return program;
}

void overridePrograms(runtime::Functions& table) {
  table.clCreateProgramWithSource = createWithSource;
  table.clCreateProgramWithBinary = createWithBinary;
  table.clCreateProgramWithIL = createWithIl;
  table.clSetProgramSpecializationConstant = setSpecializationConstant;
  table.clCreateProgramWithBuiltInKernels = createWithBuiltIns;
  table.clCompileProgram = compile;
  table.clLinkProgram = link;
  table.clBuildProgram = build;
  table.clGetProgramInfo = programInfo;
  table.clRetainProgram = retainProgram;
  table.clReleaseProgram = releaseProgram;
  table.clSetProgramReleaseCallback = setProgramCallback;
  table.clCreateKernel = createKernel;
  table.clCreateKernelsInProgram = createKernels;
  table.clCloneKernel = cloneKernel;
  table.clRetainKernel = retainKernel;
  table.clReleaseKernel = releaseKernel;
  table.clSetKernelArg = setKernelArg;
}

} // namespace libsplit
