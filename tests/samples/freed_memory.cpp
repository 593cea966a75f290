// Buffers over memory of the program's, which it gives back to the system as soon as they are gone.
#include "kernels/freed_memory.h"
#include "tests/samples/sample.h"

#include <sys/mman.h>

namespace {

/// Whole pages, which nobody may touch afterwards.
class Pages {
public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes), address_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    sample::require(address_ != MAP_FAILED, "no memory");
  }
  Pages(const Pages&) = delete;
  ~Pages() { ::munmap(address_, bytes_); }
  void* address() const { return address_; }

private:
  std::size_t bytes_;
  void* address_;
};

void freedMemory(sample::Sample& s) {
  const std::size_t n = s.options().size, bytes = n * sizeof(cl_uint);
  const auto queue = s.queue();
  const auto program = s.program(sample::freedMemorySource);
  const auto gather = sample::kernel(program, "gather");
  std::vector<cl_uint> result(n);
  for (unsigned round = 0; round < s.options().iterations; ++round) {
    const Pages first(bytes), second(bytes);
    auto* numbers = static_cast<cl_uint*>(first.address());
    for (std::size_t i = 0; i < n; ++i)
      numbers[i] = static_cast<cl_uint>(i * (round + 1));
    auto in = s.buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, first.address());
    auto out = s.buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, second.address());
    for (unsigned step = 0; step < 10; ++step) {
      sample::setArguments(gather, static_cast<cl_uint>(n), in, out);
      sample::launch(queue, gather, {n}, {64});
      std::swap(in, out);
    }
    if (round + 1 == s.options().iterations)
      sample::read(queue, in, result);
    else
      sample::check(clFinish(queue), "clFinish");
  }
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 20, .iterations = 12}, freedMemory);
}
