// What the overrides share: the session, the next layer, and a barrier that no exception passes.
#pragma once

#include "runtime/core/log.h"
#include "runtime/core/thread.h"
#include "runtime/session/session.h"

#include <exception>

namespace libsplit {

/// The next layer's table. Valid from clInitLayer on.
const runtime::Dispatch& next();
/// The one session of the process. Valid from clInitLayer on; never destroyed, since drivers and
/// the application's own exit handlers may call until the very end.
runtime::Session& session();

/// Whether a loader has loaded us as its layer.
bool layerIsLoaded();
/// Has the session finish first if the calling thread ends the process.
void watchExit();
/// … which it is about to do.
void exitIsCalled();
/// Starts the session over `loader`'s own functions, for want of a layer; the table that
/// applications shall call, or `loader` itself if the session could not be started.
const runtime::Functions* startAsOnlyDoor(const runtime::Functions& loader);

/// The overrides of one family of calls each; they replace entries of the table.
void overrideObjects(runtime::Functions& table);
void overrideMemory(runtime::Functions& table);
void overridePrograms(runtime::Functions& table);
void overrideTransfers(runtime::Functions& table);
void overrideMaps(runtime::Functions& table);
void overrideLaunches(runtime::Functions& table);
void overrideEvents(runtime::Functions& table);
void overrideExtensions(runtime::Functions& table);
/// After those whose queries it puts right.
void overrideReferenceCounts(runtime::Functions& table);
/// With LIBSPLIT_POOL_MEMORY, after the others.
void overridePooled(runtime::Functions& table);

/// Stands for the extension function clCreateProgramWithILKHR of every driver.
cl_program CL_API_CALL createProgramWithIlKhr(cl_context context, const void* il, size_t length,
                                              cl_int* error);

/// Hands a status to an optional errcode_ret.
inline void report(cl_int* target, cl_int status) {
  if (target)
    *target = status;
}

/// Whether a driver that answers so had no memory for an object.
inline bool lacksMemory(cl_int status) {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES;
}

/// Runs bookkeeping that follows a native call. It must not throw into the application: what can't
/// be tracked any more is not touched any more either.
///
/// Neither this nor `guarded` is noexcept: a thread that is cancelled (pthread_cancel) while it is
/// in the driver, as natively, unwinds through them. While libsplit has something pending, it is
/// cancelled only afterwards.
template <class Body> void tracked(Body&& body) {
  try {
    const runtime::Uncancelled whilePending(!session().isQuiet());
    watchExit();
    if (session().active())
      body();
  } catch (const std::exception& error) {
    runtime::log(runtime::LogLevel::Error, "internal error: ", error.what());
  }
}

/// Answers the status of a retain, which those of the session's `objects` count if it succeeded.
template <class Objects, class Handle>
cl_int retained(cl_int status, Objects& (runtime::Session::*objects)(), Handle handle) {
  if (status == CL_SUCCESS)
    tracked([&] { (session().*objects)().retained(handle); });
  return status;
}

/// Runs a command; an exception becomes an error code.
template <class Body> cl_int guarded(Body&& body) {
  try {
    const runtime::Uncancelled whilePending(!session().isQuiet());
    watchExit();
    return body();
  } catch (const std::exception& error) {
    runtime::log(runtime::LogLevel::Error, "internal error: ", error.what());
    return CL_OUT_OF_HOST_MEMORY;
  }
}

} // namespace libsplit
