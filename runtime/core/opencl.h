// The OpenCL that the runtime talks to: a dispatch table, handed in, and owning handles.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include "runtime/core/references.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// The functions of a layer, or of the ICD loader itself. Entries that a driver lacks may be null
/// or return an error.
using Functions = cl_icd_dispatch;

/// The next layer, with what libsplit holds of the objects there.
struct Dispatch : Functions {
  Dispatch() : Functions{} {}
  explicit Dispatch(const Functions& functions) : Functions(functions) {}
  Dispatch(const Dispatch& other) : Functions(other) {} // which holds what it holds
  Dispatch& operator=(const Dispatch&) = delete;
  mutable References references;
};

namespace detail {
using Kind = References::Kind;
constexpr Kind kindOf(cl_mem) {
  return Kind::Memory;
}
inline void retain(const Dispatch& cl, cl_mem h) {
  cl.clRetainMemObject(h);
}
inline void release(const Dispatch& cl, cl_mem h) {
  cl.clReleaseMemObject(h);
}
constexpr Kind kindOf(cl_event) {
  return Kind::Event;
}
inline void retain(const Dispatch& cl, cl_event h) {
  cl.clRetainEvent(h);
}
inline void release(const Dispatch& cl, cl_event h) {
  cl.clReleaseEvent(h);
}
constexpr Kind kindOf(cl_kernel) {
  return Kind::Kernel;
}
inline void retain(const Dispatch& cl, cl_kernel h) {
  cl.clRetainKernel(h);
}
inline void release(const Dispatch& cl, cl_kernel h) {
  cl.clReleaseKernel(h);
}
constexpr Kind kindOf(cl_program) {
  return Kind::Program;
}
inline void retain(const Dispatch& cl, cl_program h) {
  cl.clRetainProgram(h);
}
inline void release(const Dispatch& cl, cl_program h) {
  cl.clReleaseProgram(h);
}
constexpr Kind kindOf(cl_context) {
  return Kind::Context;
}
inline void retain(const Dispatch& cl, cl_context h) {
  cl.clRetainContext(h);
}
inline void release(const Dispatch& cl, cl_context h) {
  cl.clReleaseContext(h);
}
constexpr Kind kindOf(cl_command_queue) {
  return Kind::Queue;
}
inline void retain(const Dispatch& cl, cl_command_queue h) {
  cl.clRetainCommandQueue(h);
}
inline void release(const Dispatch& cl, cl_command_queue h) {
  cl.clReleaseCommandQueue(h);
}
constexpr Kind kindOf(cl_sampler) {
  return Kind::Sampler;
}
inline void retain(const Dispatch& cl, cl_sampler h) {
  cl.clRetainSampler(h);
}
inline void release(const Dispatch& cl, cl_sampler h) {
  cl.clReleaseSampler(h);
}
constexpr Kind kindOf(cl_device_id) {
  return Kind::Device;
}
inline void retain(const Dispatch& cl, cl_device_id h) {
  cl.clRetainDevice(h);
}
inline void release(const Dispatch& cl, cl_device_id h) {
  cl.clReleaseDevice(h);
}
} // namespace detail

/// A reference to an OpenCL object. Those to the same object share one of the driver's
/// (references.h), which goes with the last. The dispatch table must outlive it.
template <class Handle> class Ref {
public:
  Ref() = default;
  /// Takes over a reference of the driver's that the caller holds, to what it made. `parent`: out
  /// of a buffer or program of the program's.
  static Ref adopt(const Dispatch& cl, Handle handle, void* parent = nullptr) {
    try {
      if (handle)
        cl.references.adopt(detail::kindOf(handle), handle, parent);
    } catch (...) {
      detail::release(cl, handle);
      throw;
    }
    return Ref(&cl, handle);
  }
  /// Adds a reference.
  static Ref retain(const Dispatch& cl, Handle handle) {
    if (handle)
      cl.references.add(detail::kindOf(handle), handle, [&] { detail::retain(cl, handle); });
    return Ref(&cl, handle);
  }
  Ref(const Ref& other) : Ref(other.handle_ ? retain(*other.cl_, other.handle_) : Ref()) {}
  Ref(Ref&& other) noexcept : cl_(other.cl_), handle_(std::exchange(other.handle_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(cl_, other.cl_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Ref() {
    if (handle_)
      cl_->references.remove(handle_, [this] { detail::release(*cl_, handle_); });
  }
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

private:
  Ref(const Dispatch* cl, Handle handle) : cl_(cl), handle_(handle) {}
  const Dispatch* cl_ = nullptr;
  Handle handle_ = nullptr;
};

/// A scalar property of an object, or `fallback` if the driver does not answer.
template <class T, class Query, class Handle, class Name>
T property(Query query, Handle handle, Name name, T fallback = {}) {
  T value{};
  return query && query(handle, name, sizeof value, &value, nullptr) == CL_SUCCESS ? value
                                                                                   : fallback;
}

/// A string property, without the terminating zero; empty if the driver does not answer.
template <class Query, class Handle, class Name>
std::string stringProperty(Query query, Handle handle, Name name) {
  std::size_t size = 0;
  if (!query || query(handle, name, 0, nullptr, &size) != CL_SUCCESS || size == 0)
    return {};
  std::string text(size, '\0');
  if (query(handle, name, size, text.data(), nullptr) != CL_SUCCESS)
    return {};
  while (!text.empty() && text.back() == '\0')
    text.pop_back();
  return text;
}

/// An array property; empty if the driver does not answer.
template <class T, class Query, class Handle, class Name>
std::vector<T> arrayProperty(Query query, Handle handle, Name name) {
  std::size_t size = 0;
  if (!query || query(handle, name, 0, nullptr, &size) != CL_SUCCESS || size < sizeof(T))
    return {};
  std::vector<T> values(size / sizeof(T));
  if (query(handle, name, values.size() * sizeof(T), values.data(), nullptr) != CL_SUCCESS)
    return {};
  return values;
}

/// Answers an info query the way drivers do.
template <class T>
cl_int answer(const T& result, std::size_t size, void* value, std::size_t* sizeRet) {
  if (value && size < sizeof(T))
    return CL_INVALID_VALUE;
  if (value)
    std::memcpy(value, &result, sizeof(T));
  if (sizeRet)
    *sizeRet = sizeof(T);
  return CL_SUCCESS;
}

/// The driver's clCreateProgramWithILKHR, or null.
inline clCreateProgramWithILKHR_fn createProgramWithIlKhr(const Dispatch& cl, cl_device_id device) {
  auto platform = property<cl_platform_id>(cl.clGetDeviceInfo, device, CL_DEVICE_PLATFORM);
  return reinterpret_cast<clCreateProgramWithILKHR_fn>(
      cl.clGetExtensionFunctionAddressForPlatform(platform, "clCreateProgramWithILKHR"));
}

/// A program of libsplit's own, from `source`, built for `device`; null, with the error, if the
/// driver refuses it.
inline Ref<cl_program> buildProgram(const Dispatch& cl, cl_context context, cl_device_id device,
                                    const std::string& source, cl_int& error,
                                    const std::string& options = {}) {
  const char* text = source.c_str();
  const std::size_t length = source.size();
  error = CL_SUCCESS;
  auto program =
      Ref<cl_program>::adopt(cl, cl.clCreateProgramWithSource(context, 1, &text, &length, &error));
  if (error == CL_SUCCESS)
    error =
        cl.clBuildProgram(program.get(), 1, &device, ("-w " + options).c_str(), nullptr, nullptr);
  return error == CL_SUCCESS ? program : Ref<cl_program>();
}

} // namespace libsplit::runtime
