// Callbacks of the program for when its objects go.
#pragma once

#include "libsplit/door.h"
#include "runtime/core/callback_scope.h"

#include <memory>

namespace libsplit {

/// A callback of the program for when an object goes, which calls the program in a CallbackScope.
template <class Object> struct DestructorCallback {
  using Notify = void(CL_CALLBACK*)(Object object, void* data);
  Notify notify;
  void* data;

  /// Has `set` give it to the driver; it deletes itself when it is called.
  template <class Set> static cl_int give(Notify notify, void* data, const Set& set) {
    return guarded([&] {
      session().callbackGiven();
      if (!notify)
        return set(notify, data);
      auto callback = std::make_unique<DestructorCallback>(notify, data);
      const cl_int status = set(&DestructorCallback::call, callback.get());
      if (status == CL_SUCCESS)
        callback.release();
      return status;
    });
  }
  static void CL_CALLBACK call(Object object, void* self) {
    const std::unique_ptr<DestructorCallback> callback(static_cast<DestructorCallback*>(self));
    const runtime::CallbackScope scope;
    callback->notify(object, callback->data);
  }
};

} // namespace libsplit
