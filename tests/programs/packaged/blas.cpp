// CLBlast's routines by its C interface. Writes all results to the file that is given.
#define CL_TARGET_OPENCL_VERSION 120
#include <clblast_c.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace {
cl_context context;
cl_command_queue queue;

cl_mem buffer(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>((i * 37 + seed * 11) % 53) / 53 - 0.4f;
  return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof(float),
                        values.data(), nullptr);
}

void keep(std::ofstream& file, cl_mem from, std::size_t count) {
  std::vector<float> values(count);
  clEnqueueReadBuffer(queue, from, CL_TRUE, 0, count * sizeof(float), values.data(), 0, nullptr,
                      nullptr);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(count * sizeof(float)));
}

void check(int status, const char* routine) {
  std::printf("%s %d\n", routine, status);
}
} // namespace

int main(int, char** arguments) {
  cl_platform_id platform;
  cl_device_id device;
  clGetPlatformIDs(1, &platform, nullptr);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  queue = clCreateCommandQueue(context, device, 0, nullptr);
  std::ofstream file(arguments[1], std::ios::binary);
  const std::size_t n = 5000, m = 130, k = 70, l = 90;
  cl_mem x = buffer(n, 1), y = buffer(n, 2), s = buffer(4, 3);
  cl_mem a = buffer(m * k, 4), b = buffer(k * l, 5), c = buffer(m * l, 6);
  cl_event event = nullptr;
  check(CLBlastSswap(n, x, 0, 1, y, 0, 1, &queue, &event), "swap");
  check(CLBlastSscal(n, 1.5f, x, 0, 1, &queue, &event), "scal");
  check(CLBlastSaxpy(n, 0.5f, x, 0, 1, y, 0, 1, &queue, &event), "axpy");
  keep(file, y, n);
  check(CLBlastSdot(n, s, 0, x, 0, 1, y, 0, 1, &queue, &event), "dot");
  check(CLBlastSnrm2(n, s, 1, x, 0, 1, &queue, &event), "nrm2");
  check(CLBlastSasum(n, s, 2, x, 0, 1, &queue, &event), "asum");
  keep(file, s, 3);
  check(CLBlastSgemv(CLBlastLayoutRowMajor, CLBlastTransposeNo, m, k, 1, a, 0, k, x, 0, 1, 0.5f, y,
                     0, 1, &queue, &event),
        "gemv");
  check(CLBlastSger(CLBlastLayoutRowMajor, m, k, 0.3f, x, 0, 1, y, 0, 1, a, 0, k, &queue, &event),
        "ger");
  keep(file, y, n);
  keep(file, a, m * k);
  check(CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, m, l, k, 1, a,
                     0, k, b, 0, l, 0.5f, c, 0, l, &queue, &event),
        "gemm");
  keep(file, c, m * l);
  check(CLBlastSsyrk(CLBlastLayoutRowMajor, CLBlastTriangleLower, CLBlastTransposeNo, 64, 64, 1, a,
                     0, k, 0.5f, c, 0, l, &queue, &event),
        "syrk");
  check(CLBlastStrsm(CLBlastLayoutRowMajor, CLBlastSideLeft, CLBlastTriangleLower,
                     CLBlastTransposeNo, CLBlastDiagonalUnit, 48, 48, 1, a, 0, k, b, 0, l, &queue,
                     &event),
        "trsm");
  check(CLBlastSomatcopy(CLBlastLayoutRowMajor, CLBlastTransposeYes, m, k, 2, a, 0, k, c, 0, m,
                         &queue, &event),
        "omatcopy");
  keep(file, b, k * l);
  keep(file, c, m * l);
  check(CLBlastSim2col(CLBlastKernelModeCrossCorrelation, 3, 12, 14, 3, 3, 1, 1, 1, 1, 1, 1, x, 0,
                       y, 0, &queue, &event),
        "im2col");
  keep(file, y, n);
  clFinish(queue);
}
