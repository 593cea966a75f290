// A valid call of each entry point, and which ones are asked for what.
#include "tests/conformance/explorer.h"

namespace conformance {

namespace {

void CL_CALLBACK contextEnds(cl_context, void*) {
  ++called;
}
void CL_CALLBACK memoryEnds(cl_mem, void*) {
  ++called;
}
void CL_CALLBACK programIsDone(cl_program, void*) {
  ++called;
}
void CL_CALLBACK eventIsOver(cl_event, cl_int, void*) {
  ++called;
}
void CL_CALLBACK notified(const char*, const void*, size_t, void*) {}
void CL_CALLBACK native(void* arguments) {
  auto* values = *static_cast<cl_uint**>(arguments);
  values[3] = 77;
}
constexpr std::size_t bytes = World::items * 4;

} // namespace

// `w` is the world of the call. Arguments are in the order of the entry point.
#define CALL(name, ...)                                                                            \
  e.explore(#name, calls.name,                                                                     \
            []([[maybe_unused]] World& w) { return std::make_tuple(__VA_ARGS__); })
#define MAPS(name, of, ...)                                                                        \
  e.explore(                                                                                       \
      #name, calls.name, []([[maybe_unused]] World& w) { return std::make_tuple(__VA_ARGS__); },   \
      [](World& w, void* at) { w.unmapLater(of, at); })
#define ASK(name, object, first, last, ...)                                                        \
  e.ask(#name,                                                                                     \
        [](World& w, cl_uint what, std::size_t size, void* value, std::size_t* sizeRet) {          \
          static_cast<void>(w);                                                                    \
          return calls.name(object, what, size, value, sizeRet);                                   \
        },                                                                                         \
        first, last, {__VA_ARGS__})

static void platforms(Explorer& e) {
  CALL(clGetPlatformIDs, 1, w.answer<cl_platform_id>(0), w.answer<cl_uint>(1));
  ASK(clGetPlatformInfo, w.common.platform, 0x0900, 0x0908);
  CALL(clGetDeviceIDs, w.common.platform, CL_DEVICE_TYPE_ALL, 2, w.answer<cl_device_id>(0),
       w.answer<cl_uint>(2));
  ASK(clGetDeviceInfo, w.common.device, 0x1000, 0x1080);
  CALL(clRetainDevice, w.common.device);
  CALL(clReleaseDevice, w.common.device);
  CALL(clSetDefaultDeviceCommandQueue, w.common.context, w.common.device, w.queue);
  CALL(clGetDeviceAndHostTimer, w.common.device, w.array<cl_ulong>({0}), w.array<cl_ulong>({0}));
  CALL(clGetHostTimer, w.common.device, w.array<cl_ulong>({0}));
  CALL(clUnloadPlatformCompiler, w.common.platform);
  CALL(clUnloadCompiler);
}

static void contextsAndQueues(Explorer& e) {
  CALL(clCreateContext,
       w.array<cl_context_properties>(
           {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(w.common.platform)}),
       1, w.array<cl_device_id>({w.common.device}), notified, w.host.data(), w.error());
  CALL(clCreateContextFromType,
       w.array<cl_context_properties>(
           {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(w.common.platform)}),
       CL_DEVICE_TYPE_CPU, notified, w.host.data(), w.error());
  CALL(clRetainContext, w.common.context);
  CALL(clReleaseContext, w.common.context); // one of those that clRetainContext left
  ASK(clGetContextInfo, w.common.context, 0x1080, 0x1084, 0x1080);
  CALL(clSetContextDestructorCallback, w.common.context, contextEnds, w.host.data());
  CALL(clCreateCommandQueueWithProperties, w.common.context, w.common.device,
       w.array<cl_queue_properties>({CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE}), w.error());
  CALL(clCreateCommandQueue, w.common.context, w.common.device, CL_QUEUE_PROFILING_ENABLE,
       w.error());
  CALL(clRetainCommandQueue, w.queue);
  CALL(clReleaseCommandQueue,
       (calls.clRetainCommandQueue(w.queue), w.queue)); // the queue is still needed
  ASK(clGetCommandQueueInfo, w.queue, 0x1090, 0x1099);
  CALL(clSetCommandQueueProperty, w.queue, CL_QUEUE_PROFILING_ENABLE, CL_TRUE,
       w.answer<cl_command_queue_properties>(0));
  CALL(clFlush, w.queue);
  CALL(clFinish, w.queue);
}

static void memory(Explorer& e) {
  CALL(clCreateBuffer, w.common.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes,
       w.host.data(), w.error());
  CALL(clCreateBufferWithProperties, w.common.context, w.array<cl_mem_properties>({0}),
       CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, w.host.data(), w.error());
  CALL(clCreateSubBuffer, w.a, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
       w.array<cl_buffer_region>({{1024, 512}}), w.error());
  const auto format = [](World& w) {
    return w.array<cl_image_format>({{CL_RGBA, CL_UNSIGNED_INT8}});
  };
  const auto description = [](World& w) {
    cl_image_desc made{};
    made.image_type = CL_MEM_OBJECT_IMAGE2D;
    made.image_width = made.image_height = 8;
    return w.array<cl_image_desc>({made});
  };
  e.explore("clCreateImage", calls.clCreateImage, [=](World& w) {
    return std::make_tuple(w.common.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, format(w),
                           description(w), w.host.data(), w.error());
  });
  e.explore("clCreateImageWithProperties", calls.clCreateImageWithProperties, [=](World& w) {
    return std::make_tuple(w.common.context, w.array<cl_mem_properties>({0}), CL_MEM_READ_WRITE,
                           format(w), description(w), nullptr, w.error());
  });
  e.explore("clCreateImage2D", calls.clCreateImage2D, [=](World& w) {
    return std::make_tuple(w.common.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, format(w), 8,
                           8, 32, w.host.data(), w.error());
  });
  e.explore("clCreateImage3D", calls.clCreateImage3D, [=](World& w) {
    return std::make_tuple(w.common.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, format(w), 8,
                           8, 2, 32, 256, w.host.data(), w.error());
  });
  CALL(clCreatePipe, w.common.context, CL_MEM_READ_WRITE, 4, 16, nullptr, w.error());
  CALL(clRetainMemObject, w.a);
  CALL(clReleaseMemObject, w.freshBuffer());
  CALL(clGetSupportedImageFormats, w.common.context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 4,
       w.answer<cl_image_format>(0), w.answer<cl_uint>(8));
  ASK(clGetMemObjectInfo, w.a, 0x1100, 0x110b);
  ASK(clGetImageInfo, w.image, 0x1110, 0x111c);
  ASK(clGetPipeInfo, w.a, 0x1120, 0x1122); // no pipe
  CALL(clSetMemObjectDestructorCallback, w.freshBuffer(), memoryEnds, w.host.data());
  CALL(clCreateSampler, w.common.context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, w.error());
  CALL(clCreateSamplerWithProperties, w.common.context,
       w.array<cl_sampler_properties>({CL_SAMPLER_NORMALIZED_COORDS, CL_TRUE}), w.error());
  CALL(clRetainSampler, w.sampler);
  CALL(clReleaseSampler, (calls.clRetainSampler(w.sampler), w.sampler));
  ASK(clGetSamplerInfo, w.sampler, 0x1150, 0x1158);
}

static void programs(Explorer& e) {
  CALL(clCreateProgramWithSource, w.common.context, 1,
       w.array<const char*>({"kernel void k(global int* a) { a[0] = 1; }"}), nullptr, w.error());
  CALL(clCreateProgramWithBinary, w.common.context, 1, w.array<cl_device_id>({w.common.device}),
       w.array<std::size_t>({w.common.binary.size()}),
       w.array<const unsigned char*>({w.common.binary.data()}), w.answer<cl_int>(0), w.error());
  CALL(clCreateProgramWithBuiltInKernels, w.common.context, 1,
       w.array<cl_device_id>({w.common.device}), "none_such", w.error());
  CALL(clCreateProgramWithIL, w.common.context, w.host.data(), 64, w.error());
  CALL(clRetainProgram, w.common.program);
  CALL(clReleaseProgram, w.freshProgram());
  CALL(clBuildProgram, w.freshProgram(), 1, w.array<cl_device_id>({w.common.device}), "-DONE=1",
       programIsDone, w.host.data());
  CALL(clCompileProgram, w.freshProgram(), 1, w.array<cl_device_id>({w.common.device}), "-DTWO=2",
       0, nullptr, nullptr, programIsDone, w.host.data());
  e.explore("clLinkProgram", calls.clLinkProgram, [](World& w) {
    cl_program unit = w.freshProgram();
    calls.clCompileProgram(unit, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr);
    return std::make_tuple(w.common.context, 1, w.array<cl_device_id>({w.common.device}), "", 1,
                           w.array<cl_program>({unit}), programIsDone, w.host.data(), w.error());
  });
  CALL(clSetProgramReleaseCallback, w.freshProgram(), programIsDone, w.host.data());
  CALL(clSetProgramSpecializationConstant, w.freshProgram(), 1, 4, w.host.data());
  // Binaries depend on what the driver has compiled yet.
  ASK(clGetProgramInfo, w.common.program, 0x1160, 0x116b, 0x1160, 0x1165, 0x1166);
  e.ask("clGetProgramBuildInfo",
        [](World& w, cl_uint what, std::size_t size, void* value, std::size_t* sizeRet) {
          return calls.clGetProgramBuildInfo(w.common.program, w.common.device, what, size, value,
                                             sizeRet);
        },
        0x1180, 0x1186, {0x1183});
  CALL(clCreateKernel, w.common.program, "advance", w.error());
  e.explore("clCreateKernelsInProgram", calls.clCreateKernelsInProgram, [](World& w) {
    return std::make_tuple(w.common.program, 2, w.array<cl_kernel>({nullptr, nullptr}),
                           w.answer<cl_uint>(1));
  });
  CALL(clCloneKernel, w.kernel, w.error());
  CALL(clRetainKernel, w.kernel);
  CALL(clReleaseKernel, w.freshKernel());
  CALL(clSetKernelArg, w.kernel, 0, sizeof(cl_mem), &w.b);
  e.explore("clSetKernelArg", calls.clSetKernelArg,
            [](World& w) { return std::make_tuple(w.kernel, 1, 4, w.host.data()); });
  CALL(clSetKernelArgSVMPointer, w.kernel, 0, w.shared);
  CALL(clSetKernelExecInfo, w.kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof(void*),
       w.array<void*>({w.shared}));
  ASK(clGetKernelInfo, w.kernel, 0x1190, 0x1196);
  for (cl_uint argument = 0; argument < 3; ++argument)
    e.ask(
        "clGetKernelArgInfo",
        [=](World& w, cl_uint what, std::size_t size, void* value, std::size_t* sizeRet) {
          return calls.clGetKernelArgInfo(w.kernel, argument, what, size, value, sizeRet);
        },
        0x1196, 0x119b);
  e.ask(
      "clGetKernelWorkGroupInfo",
      [](World& w, cl_uint what, std::size_t size, void* value, std::size_t* sizeRet) {
        return calls.clGetKernelWorkGroupInfo(w.kernel, w.common.device, what, size, value,
                                              sizeRet);
      },
      0x11b0, 0x11b6);
  e.ask(
      "clGetKernelSubGroupInfo",
      [](World& w, cl_uint what, std::size_t size, void* value, std::size_t* sizeRet) {
        return calls.clGetKernelSubGroupInfo(w.kernel, w.common.device, what, 8,
                                             w.array<std::size_t>({64}), size, value, sizeRet);
      },
      0x2033, 0x2034);
}

static void events(Explorer& e) {
  CALL(clWaitForEvents, 1, w.waits());
  // A driver's thread may hold on to an event for a moment longer.
  ASK(clGetEventInfo, w.over, 0x11d0, 0x11d4, CL_EVENT_REFERENCE_COUNT);
  CALL(clCreateUserEvent, w.common.context, w.error());
  CALL(clRetainEvent, w.over);
  CALL(clReleaseEvent, (calls.clRetainEvent(w.over), w.over));
  CALL(clSetUserEventStatus, w.freshUserEvent(), CL_COMPLETE);
  CALL(clSetEventCallback, w.over, CL_COMPLETE, eventIsOver, w.host.data());
  ASK(clGetEventProfilingInfo, w.over, 0x1280, 0x1284, 0x1280, 0x1281, 0x1282, 0x1283, 0x1284);
  CALL(clEnqueueMarker, w.queue, w.event());
  CALL(clEnqueueBarrier, w.queue);
  CALL(clEnqueueWaitForEvents, w.queue, 1, w.waits());
  CALL(clEnqueueMarkerWithWaitList, w.queue, 1, w.waits(), w.event());
  CALL(clEnqueueBarrierWithWaitList, w.queue, 1, w.waits(), w.event());
}

static void transfers(Explorer& e) {
  CALL(clEnqueueReadBuffer, w.queue, w.a, CL_TRUE, 256, 1000, w.host.data() + 8192, 1, w.waits(),
       w.event());
  CALL(clEnqueueReadBuffer, w.queue, w.part, CL_FALSE, 256, 1000, w.host.data() + 8192, 0, nullptr,
       w.event());
  CALL(clEnqueueWriteBuffer, w.queue, w.a, CL_TRUE, 128, 1500, w.host.data(), 1, w.waits(),
       w.event());
  CALL(clEnqueueWriteBuffer, w.queue, w.part, CL_FALSE, 128, 1500, w.host.data(), 0, nullptr,
       nullptr);
  CALL(clEnqueueReadBufferRect, w.queue, w.a, CL_TRUE, w.array<std::size_t>({4, 1, 0}),
       w.array<std::size_t>({8, 2, 0}), w.array<std::size_t>({16, 5, 2}), 64, 640, 32, 320,
       w.host.data() + 8192, 1, w.waits(), w.event());
  CALL(clEnqueueWriteBufferRect, w.queue, w.a, CL_TRUE, w.array<std::size_t>({4, 1, 0}),
       w.array<std::size_t>({8, 2, 0}), w.array<std::size_t>({16, 5, 2}), 64, 640, 32, 320,
       w.host.data(), 1, w.waits(), w.event());
  CALL(clEnqueueCopyBufferRect, w.queue, w.a, w.b, w.array<std::size_t>({4, 1, 0}),
       w.array<std::size_t>({8, 2, 0}), w.array<std::size_t>({16, 5, 2}), 64, 640, 32, 320, 1,
       w.waits(), w.event());
  CALL(clEnqueueFillBuffer, w.queue, w.a, w.host.data() + 5, 4, 64, 2048, 1, w.waits(), w.event());
  CALL(clEnqueueCopyBuffer, w.queue, w.a, w.b, 100, 300, 2000, 1, w.waits(), w.event());
  CALL(clEnqueueCopyBuffer, w.queue, w.part, w.b, 100, 300, 1000, 0, nullptr, nullptr);
  MAPS(clEnqueueMapBuffer, w.a, w.queue, w.a, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 128, 1024, 1,
       w.waits(), w.event(), w.error());
  MAPS(clEnqueueMapBuffer, w.a, w.queue, w.a, CL_FALSE, CL_MAP_READ, 0, 4096, 0, nullptr, w.event(),
       w.error());
  CALL(clEnqueueUnmapMemObject, w.queue, w.a, w.mapped(w.a), 1, w.waits(), w.event());
  CALL(clEnqueueMigrateMemObjects, w.queue, 1, w.array<cl_mem>({w.a}), CL_MIGRATE_MEM_OBJECT_HOST,
       1, w.waits(), w.event());
  CALL(clEnqueueReadImage, w.queue, w.image, CL_TRUE, w.array<std::size_t>({1, 2, 0}),
       w.array<std::size_t>({8, 4, 1}), 64, 0, w.host.data() + 8192, 1, w.waits(), w.event());
  CALL(clEnqueueWriteImage, w.queue, w.image, CL_TRUE, w.array<std::size_t>({1, 2, 0}),
       w.array<std::size_t>({8, 4, 1}), 64, 0, w.host.data() + 99, 1, w.waits(), w.event());
  CALL(clEnqueueFillImage, w.queue, w.image, w.array<cl_uint>({1, 2, 3, 4}),
       w.array<std::size_t>({1, 2, 0}), w.array<std::size_t>({8, 4, 1}), 1, w.waits(), w.event());
  CALL(clEnqueueCopyImage, w.queue, w.image, w.image, w.array<std::size_t>({0, 0, 0}),
       w.array<std::size_t>({8, 8, 0}), w.array<std::size_t>({4, 4, 1}), 1, w.waits(), w.event());
  CALL(clEnqueueCopyImageToBuffer, w.queue, w.image, w.a, w.array<std::size_t>({2, 2, 0}),
       w.array<std::size_t>({8, 8, 1}), 128, 1, w.waits(), w.event());
  CALL(clEnqueueCopyBufferToImage, w.queue, w.a, w.image, 128, w.array<std::size_t>({2, 2, 0}),
       w.array<std::size_t>({8, 8, 1}), 1, w.waits(), w.event());
  MAPS(clEnqueueMapImage, w.image, w.queue, w.image, CL_TRUE, CL_MAP_READ,
       w.array<std::size_t>({0, 0, 0}), w.array<std::size_t>({16, 16, 1}), w.answer<std::size_t>(0),
       w.answer<std::size_t>(1), 1, w.waits(), w.event(), w.error());
}

static void launches(Explorer& e) {
  CALL(clEnqueueNDRangeKernel, w.queue, w.kernel, 1, w.array<std::size_t>({0}),
       w.array<std::size_t>({1024}), w.array<std::size_t>({64}), 1, w.waits(), w.event());
  CALL(clEnqueueNDRangeKernel, w.queue, w.kernel, 1, w.array<std::size_t>({128}),
       w.array<std::size_t>({512}), nullptr, 0, nullptr, nullptr);
  CALL(clEnqueueNDRangeKernel, w.queue, w.kernel, 1, nullptr, w.array<std::size_t>({1000}),
       w.array<std::size_t>({64}), 0, nullptr, w.event()); // does not divide
  CALL(clEnqueueNDRangeKernel, w.queue, w.kernel, 1, nullptr, w.array<std::size_t>({0}), nullptr, 0,
       nullptr, w.event());
  CALL(clEnqueueTask, w.queue, w.kernel, 1, w.waits(), w.event());
  e.explore("clEnqueueNativeKernel", calls.clEnqueueNativeKernel, [](World& w) {
    void** block = w.array<void*>({nullptr});
    return std::make_tuple(w.queue, native, block, sizeof(void*), 1, w.array<cl_mem>({w.a}),
                           w.array<const void*>({block}), 1, w.waits(), w.event());
  });
}

static void sharedMemory(Explorer& e) {
  e.explore(
      "clSVMAlloc", calls.clSVMAlloc,
      [](World& w) { return std::make_tuple(w.common.context, CL_MEM_READ_WRITE, 256, 0); },
      [](World& w, void* made) { calls.clSVMFree(w.common.context, made); });
  CALL(clSVMFree, w.common.context, calls.clSVMAlloc(w.common.context, CL_MEM_READ_WRITE, 64, 0));
  CALL(clEnqueueSVMFree, w.queue, 1,
       w.array<void*>({calls.clSVMAlloc(w.common.context, CL_MEM_READ_WRITE, 64, 0)}), nullptr,
       nullptr, 1, w.waits(), w.event());
  CALL(clEnqueueSVMMemcpy, w.queue, CL_TRUE, w.shared, w.host.data(), 512, 1, w.waits(), w.event());
  CALL(clEnqueueSVMMemFill, w.queue, w.shared, w.host.data(), 4, 256, 1, w.waits(), w.event());
  CALL(clEnqueueSVMMap, w.queue, CL_TRUE, CL_MAP_READ, w.shared, 256, 1, w.waits(), w.event());
  CALL(clEnqueueSVMUnmap, w.queue, w.shared, 1, w.waits(), w.event());
  CALL(clEnqueueSVMMigrateMem, w.queue, 1, w.array<const void*>({w.shared}),
       w.array<std::size_t>({256}), 0, 1, w.waits(), w.event());
}

/// What libsplit answers by splitting nothing any more.
static void steppingAside(Explorer& e) {
  CALL(clCreateSubDevices, w.common.device,
       w.array<cl_device_partition_property>({CL_DEVICE_PARTITION_EQUALLY, 1}), 1,
       w.answer<cl_device_id>(0), w.answer<cl_uint>(2));
  CALL(clGetExtensionFunctionAddress, "clNoSuchFunctionKHR");
  CALL(clGetExtensionFunctionAddressForPlatform, w.common.platform, "clNoSuchFunctionKHR");
}

void exploreAll(Explorer& explorer) {
  platforms(explorer);
  contextsAndQueues(explorer);
  memory(explorer);
  programs(explorer);
  events(explorer);
  transfers(explorer);
  launches(explorer);
  sharedMemory(explorer);
  steppingAside(explorer);
}

} // namespace conformance
