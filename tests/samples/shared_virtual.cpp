// Shared virtual memory beside buffers: as an argument where a buffer was before, as one of a
// kernel that reads a buffer too, and below a buffer.
#include "kernels/shared_virtual.h"
#include "tests/samples/sample.h"

namespace {

constexpr std::size_t groupSize = 64;

/// advance() on the host.
void advanceOnHost(std::vector<cl_uint>& numbers, cl_uint step) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = 3 * numbers[i] + step + static_cast<cl_uint>(i / groupSize);
}

class Shared {
public:
  Shared(sample::Sample& s, cl_command_queue queue, const std::vector<cl_uint>& values)
      : context_(s.context()), queue_(queue), count_(values.size()),
        pointer_(clSVMAlloc(context_, CL_MEM_READ_WRITE, count_ * sizeof(cl_uint), 0)) {
    sample::require(pointer_ != nullptr, "clSVMAlloc");
    sample::check(clEnqueueSVMMemcpy(queue, CL_TRUE, pointer_, values.data(),
                                     count_ * sizeof(cl_uint), 0, nullptr, nullptr),
                  "clEnqueueSVMMemcpy");
  }
  ~Shared() { clSVMFree(context_, pointer_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  void* pointer() const { return pointer_; }
  std::vector<cl_uint> values() const {
    std::vector<cl_uint> values(count_);
    sample::check(clEnqueueSVMMemcpy(queue_, CL_TRUE, values.data(), pointer_,
                                     count_ * sizeof(cl_uint), 0, nullptr, nullptr),
                  "clEnqueueSVMMemcpy");
    return values;
  }

private:
  cl_context context_;
  cl_command_queue queue_;
  std::size_t count_;
  void* pointer_;
};

void sharedVirtual(sample::Sample& s) {
  cl_device_svm_capabilities capabilities = 0;
  if (clGetDeviceInfo(s.device(), CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities, &capabilities,
                      nullptr) != CL_SUCCESS ||
      capabilities == 0)
    return;
  const std::size_t n = sample::roundUp(s.options().size, groupSize);
  std::vector<cl_uint> inBuffer(n, 1), inShared(n), sums(n, 7);
  for (std::size_t i = 0; i < n; ++i)
    inShared[i] = static_cast<cl_uint>(7 * i);
  const std::size_t bytes = n * sizeof(cl_uint);

  const auto queue = s.queue();
  const auto program = s.program(sample::sharedVirtualSource);
  const auto advance = sample::kernel(program, "advance");
  const auto add = sample::kernel(program, "add");
  const auto buffer = s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, inBuffer.data());
  const Shared shared(s, queue, inShared);
  const cl_uint step = 5;
  auto run = [&](cl_kernel kernel) { sample::launch(queue, kernel, {n}, {groupSize}); };
  auto same = [&](const std::vector<cl_uint>& is, const std::vector<cl_uint>& expected,
                  const char* what) {
    sample::require(is == expected, std::string("wrong numbers ") + what);
    s.output(is);
  };

  // A kernel with both: the buffer's newest bytes may lie elsewhere.
  sample::setArguments(advance, buffer, step);
  run(advance);
  advanceOnHost(inBuffer, step);
  sample::check(clSetKernelArgSVMPointer(add, 0, shared.pointer()), "clSetKernelArgSVMPointer");
  sample::setArgument(add, 1, buffer);
  run(add);
  for (std::size_t i = 0; i < n; ++i)
    inShared[i] += inBuffer[i];
  same(shared.values(), inShared, "after a kernel with a pointer and a buffer");

  // A buffer over such memory.
  const auto over = s.buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, shared.pointer());
  sample::setArguments(advance, over, step);
  run(advance);
  advanceOnHost(inShared, step);
  sample::check(clFinish(queue), "clFinish");
  same(shared.values(), inShared, "in memory below a buffer");

  // A pointer in the place of a buffer.
  sample::setArguments(advance, buffer, step);
  run(advance);
  advanceOnHost(inBuffer, step);
  sample::check(clSetKernelArgSVMPointer(advance, 0, shared.pointer()), "clSetKernelArgSVMPointer");
  run(advance);
  advanceOnHost(inShared, step);
  same(shared.values(), inShared, "at a pointer that replaced a buffer");
  std::vector<cl_uint> result(n);
  sample::read(queue, buffer, result);
  same(result, inBuffer, "in a buffer that a pointer replaced");
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096}, sharedVirtual);
}
