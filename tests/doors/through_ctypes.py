"""The program of triple.h in Python, by ctypes. Standard library only."""

import ctypes
import sys
from ctypes import byref, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

LAUNCHES = 5
N = 1 << 14
SOURCE = b"""kernel void triple(global int* data) {
  size_t i = get_global_id(0);
  data[i] = data[i] * 3;
}
"""
DEVICE_TYPE_ALL = c_uint64(0xFFFFFFFF)
MEM_COPY_HOST_PTR = c_uint64(1 << 5)

cl = ctypes.CDLL("libOpenCL.so.1")
for creator in ("clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource", "clCreateKernel",
                "clCreateBuffer"):
    getattr(cl, creator).restype = c_void_p


def check(code):
    if code != 0:
        sys.exit(f"OpenCL error {code}")


def created(name, *arguments):
    error = c_int32()
    handle = c_void_p(getattr(cl, name)(*arguments, byref(error)))
    check(error.value)
    return handle


platform, device = c_void_p(), c_void_p()
check(cl.clGetPlatformIDs(1, byref(platform), None))
check(cl.clGetDeviceIDs(platform, DEVICE_TYPE_ALL, 1, byref(device), None))
context = created("clCreateContext", None, 1, byref(device), None, None)
queue = created("clCreateCommandQueue", context, device, c_uint64(0))
text = ctypes.c_char_p(SOURCE)
program = created("clCreateProgramWithSource", context, 1, byref(text), None)
check(cl.clBuildProgram(program, 1, byref(device), b"", None, None))
kernel = created("clCreateKernel", program, b"triple")
values = (c_int32 * N)(*(i % 100 for i in range(N)))
data = created("clCreateBuffer", context, MEM_COPY_HOST_PTR, c_size_t(ctypes.sizeof(values)), values)
check(cl.clSetKernelArg(kernel, c_uint32(0), c_size_t(ctypes.sizeof(data)), byref(data)))
for _ in range(LAUNCHES):
    check(cl.clEnqueueNDRangeKernel(queue, kernel, 1, None, byref(c_size_t(N)), None, 0, None, None))
check(cl.clEnqueueReadBuffer(queue, data, c_uint32(1), c_size_t(0), c_size_t(ctypes.sizeof(values)), values,
                             0, None, None))
for release, handle in (("MemObject", data), ("Kernel", kernel), ("Program", program),
                        ("CommandQueue", queue), ("Context", context)):
    check(getattr(cl, "clRelease" + release)(handle))
if any(value != i % 100 * 243 for i, value in enumerate(values)):
    sys.exit("wrong result")
