#include "runtime/device/device_extremes.h"

#include "runtime/core/log.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

constexpr std::size_t groupItems = 64;

std::string typeOf(const ElementLayout& layout) {
  const std::string name = layout.width == 8    ? "char"
                           : layout.width == 16 ? "short"
                           : layout.width == 32 ? "int"
                                                : "long";
  return layout.isSigned ? name : "u" + name;
}

} // namespace

std::string extremesSource(const ElementLayout& layout) {
  return "typedef " + typeOf(layout) + R"( T;
kernel __attribute__((reqd_work_group_size()" +
         std::to_string(groupItems) + R"(, 1, 1)))
void extremes(global const T* data, ulong phase, ulong step, ulong count, global T* out) {
  local T lows[)" +
         std::to_string(groupItems) + "], highs[" + std::to_string(groupItems) + R"(];
  const ulong block = get_group_id(0);
  const uint lane = get_local_id(0);
  const ulong begin = block * )" +
         std::to_string(Extremes::blockElements) + R"(ul;
  const ulong end = min(count, begin + )" +
         std::to_string(Extremes::blockElements) + R"(ul);
  T low = data[phase + begin * step], high = low;
  for (ulong i = begin + lane; i < end; i += )" +
         std::to_string(groupItems) + R"() {
    const T value = data[phase + i * step];
    low = min(low, value);
    high = max(high, value);
  }
  lows[lane] = low;
  highs[lane] = high;
  for (uint half_ = )" +
         std::to_string(groupItems / 2) + R"(; half_ > 0; half_ /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_) {
      lows[lane] = min(lows[lane], lows[lane + half_]);
      highs[lane] = max(highs[lane], highs[lane + half_]);
    }
  }
  if (lane == 0) {
    out[2 * block] = lows[0];
    out[2 * block + 1] = highs[0];
  }
}
)";
}

bool isAligned(const ElementLayout& layout) {
  return layout.step % (layout.width / 8) == 0 && layout.phase % (layout.width / 8) == 0;
}

std::vector<Interval> blocksFrom(std::span<const std::byte> written, const ElementLayout& layout) {
  const ElementLayout packed{layout.width, layout.isSigned, layout.width / 8, 0};
  std::vector<Interval> blocks(packed.count(written.size()) / 2);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    blocks[i] = scanElements(written, packed, 2 * i, 2 * i + 1);
  return blocks;
}

Ref<cl_kernel> buildExtremesKernel(const Dispatch& cl, cl_context context, cl_device_id device,
                                   const ElementLayout& layout) {
  cl_int error = CL_SUCCESS;
  const auto program = buildProgram(cl, context, device, extremesSource(layout), error);
  if (error != CL_SUCCESS) {
    log(LogLevel::Info, "a kernel to look through index arrays does not build (error ", error, ")");
    return {};
  }
  auto kernel = Ref<cl_kernel>::adopt(cl, cl.clCreateKernel(program.get(), "extremes", &error));
  return error == CL_SUCCESS ? kernel : Ref<cl_kernel>();
}

cl_int ExtremesPass::enqueue(const Dispatch& cl, cl_event* last) {
  const std::size_t bytes = layout.width / 8;
  const std::size_t blocks = (count + Extremes::blockElements - 1) / Extremes::blockElements;
  written.resize(2 * blocks * bytes);
  cl_int status = CL_SUCCESS;
  out = Ref<cl_mem>::adopt(
      cl, cl.clCreateBuffer(context, CL_MEM_WRITE_ONLY, written.size(), nullptr, &status));
  if (status != CL_SUCCESS)
    return status;
  const cl_ulong phase = layout.phase / bytes, step = layout.step / bytes, elements = count;
  cl_mem result = out.get();
  auto set = [&](cl_uint index, std::size_t size, const void* value) {
    if (status == CL_SUCCESS)
      status = cl.clSetKernelArg(kernel.get(), index, size, value);
  };
  set(0, sizeof data, &data);
  set(1, sizeof phase, &phase);
  set(2, sizeof step, &step);
  set(3, sizeof elements, &elements);
  set(4, sizeof result, &result);
  const std::size_t global = blocks * groupItems, local = groupItems;
  if (status == CL_SUCCESS)
    status = cl.clEnqueueNDRangeKernel(queue, kernel.get(), 1, nullptr, &global, &local, 0, nullptr,
                                       last);
  // The kernel must not keep alive what its arguments name.
  const cl_mem nothing = nullptr;
  cl.clSetKernelArg(kernel.get(), 0, sizeof nothing, &nothing);
  cl.clSetKernelArg(kernel.get(), 4, sizeof nothing, &nothing);
  return status;
}

cl_int ExtremesPass::readBack(const Dispatch& cl, cl_event* last) {
  if (!out)
    return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return cl.clEnqueueReadBuffer(queue, out.get(), CL_FALSE, 0, written.size(), written.data(), 0,
                                nullptr, last);
}

} // namespace libsplit::runtime
