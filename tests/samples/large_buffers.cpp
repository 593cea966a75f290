// All that can be done with buffers, on two of --size elements and on parts of them: kernels
// between them and in place, transfers as a whole and by rows, fills, copies, maps, what queries
// say of them. The last step is for devices of which it is known that they have too little memory
// (--variant full): buffers are made until the driver refuses one, and what was made still works.
// --variant aside: between two kernels on both buffers the program begins to use another device as
// well, where there is one.
#include "kernels/large_buffers.h"
#include "tests/samples/sample.h"

#include <array>
#include <string>

namespace {

using Numbers = std::vector<cl_uint>;
constexpr std::size_t wide = sizeof(cl_uint);

template <typename T> T info(cl_mem object, cl_mem_info name) {
  T value{};
  sample::check(clGetMemObjectInfo(object, name, sizeof value, &value, nullptr),
                "clGetMemObjectInfo");
  return value;
}

class Large {
public:
  explicit Large(sample::Sample& s)
      : s_(s), n_(s.options().size), queue_(s.queue()),
        program_(s.program(sample::largeBuffersSource)),
        smooth_(sample::kernel(program_, "smooth")), stir_(sample::kernel(program_, "stir")),
        addUp_(sample::kernel(program_, "add_up")), share_(sample::kernel(program_, "share")),
        expected_{Numbers(n_), Numbers(n_)} {
    for (std::size_t i = 0; i < n_; ++i)
      expected_[0][i] = static_cast<cl_uint>(sample::randomBits(i));
    buffers_[0] = s.copyOf(expected_[0]);
    buffers_[1] = s.array<cl_uint>(n_);
  }

  void run() {
    ask();
    refuse();
    keepParent();
    for (unsigned i = 0; i < s_.options().iterations; ++i) {
      launch();
      add();
      transfer();
      transferRows();
      fillAndCopy();
      useParts();
      map(CL_TRUE);
      map(CL_FALSE);
      share();
    }
    for (const std::size_t b : {0U, 1U})
      compare(buffers_[b], expected_[b]);
  }

  /// Until there is no room for any more.
  void fillMemory() {
    cl_ulong largest = 0;
    sample::check(clGetDeviceInfo(s_.device(), CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest,
                                  &largest, nullptr),
                  "CL_DEVICE_MAX_MEM_ALLOC_SIZE");
    cl_int error = CL_SUCCESS;
    sample::require(!clCreateBuffer(s_.context(), CL_MEM_READ_WRITE, largest + 1, nullptr, &error),
                    "more than the device allows");
    sample::checkCode(error, CL_INVALID_BUFFER_SIZE, "a buffer that is too large");
    std::vector<sample::Memory> more;
    constexpr std::size_t most = 1000;
    while (error != CL_MEM_OBJECT_ALLOCATION_FAILURE && more.size() < most) {
      more.emplace_back(
          clCreateBuffer(s_.context(), CL_MEM_READ_WRITE, n_ * wide, nullptr, &error));
      if (error != CL_SUCCESS) {
        sample::checkCode(error, CL_MEM_OBJECT_ALLOCATION_FAILURE, "one buffer too many");
        more.pop_back();
      }
    }
    sample::require(more.size() < most, "memory has no end");
    const cl_uint pattern = 17;
    for (const sample::Memory& each : more)
      sample::check(
          clEnqueueFillBuffer(queue_, each, &pattern, wide, 0, n_ * wide, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
    for (const sample::Memory& each : more) {
      sample::setArguments(stir_, each, cl_uint(1));
      sample::launch(queue_, stir_, {n_}, {64});
    }
    for (const sample::Memory& each : more) {
      Numbers found(n_);
      sample::read(queue_, each, found);
      for (std::size_t i = 0; i < n_; ++i)
        sample::require(found[i] == pattern * 5 + i + 1, "a full device forgets");
    }
  }

  /// A kernel of which nothing is known has all bytes of both where it runs.
  void useAside() {
    const auto entangle = sample::kernel(program_, "entangle");
    sample::setArguments(entangle, buffers_[0], buffers_[1]);
    sample::launch(queue_, entangle, {64}, {64});
    sample::check(clFinish(queue_), "clFinish");
    cl_uint count = 0;
    sample::check(clGetDeviceIDs(s_.platform(), CL_DEVICE_TYPE_ALL, 0, nullptr, &count),
                  "clGetDeviceIDs");
    std::vector<cl_device_id> devices(count);
    sample::check(clGetDeviceIDs(s_.platform(), CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
                  "clGetDeviceIDs");
    cl_int error = CL_SUCCESS;
    const sample::Context context =
        clCreateContext(nullptr, 1, &devices.back(), nullptr, nullptr, &error);
    sample::check(error, "clCreateContext");
    const sample::Queue aside =
        clCreateCommandQueueWithProperties(context, devices.back(), nullptr, &error);
    sample::check(error, "clCreateCommandQueueWithProperties");
    const sample::Memory spare = s_.copyOf(Numbers(64));
    sample::setArguments(entangle, buffers_[1], spare);
    sample::launch(queue_, entangle, {64}, {64});
    sample::check(clFinish(queue_), "clFinish");
    const auto another = s_.queue();
    Numbers found(64);
    sample::read(another, spare, found);
    s_.output(found);
    for (const sample::Memory& each : buffers_) {
      found.resize(n_);
      sample::read(another, each, found);
      s_.output(found);
    }
  }

private:
  void ask() const {
    const auto& buffer = buffers_[1];
    sample::require(info<std::size_t>(buffer, CL_MEM_SIZE) == n_ * wide, "CL_MEM_SIZE");
    sample::require(info<cl_mem_flags>(buffer, CL_MEM_FLAGS) == CL_MEM_READ_WRITE, "CL_MEM_FLAGS");
    sample::require(info<std::size_t>(buffer, CL_MEM_OFFSET) == 0, "CL_MEM_OFFSET");
    sample::require(!info<cl_mem>(buffer, CL_MEM_ASSOCIATED_MEMOBJECT), "it is no part");
    sample::require(info<cl_context>(buffer, CL_MEM_CONTEXT) == s_.context(), "CL_MEM_CONTEXT");
    sample::require(info<cl_mem_object_type>(buffer, CL_MEM_TYPE) == CL_MEM_OBJECT_BUFFER,
                    "CL_MEM_TYPE");
  }

  void launch() {
    const auto n = static_cast<cl_uint>(n_);
    sample::setArguments(smooth_, buffers_[0], buffers_[1], n);
    sample::launch(queue_, smooth_, {n_}, {64});
    const Numbers& from = expected_[0];
    for (std::size_t i = 0; i < n_; ++i)
      expected_[1][i] = from[i] + 3 * from[i > 0 ? i - 1 : i] + 5 * from[i + 1 < n_ ? i + 1 : i];
    stir(buffers_[0], 0, n_, 7);
    stir(buffers_[0], 0, n_ - 64, 1); // all but the last bytes
  }

  /// Elements of both devices, where one computes the first half of the pairs.
  void share() {
    const std::size_t pairs = n_ / 2 - 64;
    sample::setArguments(share_, buffers_[0], buffers_[1]);
    sample::launch(queue_, share_, {pairs}, {64});
    for (std::size_t i = 0; i < pairs; ++i) {
      expected_[0][2 * i] = expected_[1][i] + 1;
      expected_[0][2 * (i + 1) + 1] = expected_[1][i] + 2;
    }
  }

  /// What the standard has drivers refuse.
  void refuse() const {
    const auto mute = s_.buffer(CL_MEM_HOST_WRITE_ONLY, (n_ - 64) * wide);
    cl_int error = CL_SUCCESS;
    clEnqueueMapBuffer(queue_, mute, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, wide, 0, nullptr,
                       nullptr, &error);
    sample::checkCode(error, CL_INVALID_OPERATION, "a map for reading what may not be read");
    void* mapped = clEnqueueMapBuffer(queue_, buffers_[0], CL_TRUE, CL_MAP_READ, 0, wide, 0,
                                      nullptr, nullptr, &error);
    sample::check(error, "clEnqueueMapBuffer");
    const cl_device_id device = s_.device();
    const sample::Context other = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    sample::check(error, "clCreateContext");
    const sample::Queue apart = clCreateCommandQueueWithProperties(other, device, nullptr, &error);
    sample::check(error, "clCreateCommandQueueWithProperties");
    sample::checkCode(clEnqueueUnmapMemObject(apart, buffers_[0], mapped, 0, nullptr, nullptr),
                      CL_INVALID_CONTEXT, "an unmap in another context");
    sample::check(clEnqueueUnmapMemObject(queue_, buffers_[0], mapped, 0, nullptr, nullptr),
                  "clEnqueueUnmapMemObject");
  }

  /// A buffer is there as long as a part of it is.
  void keepParent() {
    const std::size_t count = n_ - 64;
    const Numbers numbers(count, 11);
    auto whole = s_.copyOf(numbers);
    const cl_buffer_region region{0, 64 * wide};
    cl_int error = CL_SUCCESS;
    const sample::Memory part =
        clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    sample::check(error, "clCreateSubBuffer");
    whole.reset();
    auto* parent = info<cl_mem>(part, CL_MEM_ASSOCIATED_MEMOBJECT);
    sample::require(info<std::size_t>(parent, CL_MEM_SIZE) == count * wide, "CL_MEM_SIZE");
    Numbers found(count);
    sample::read(queue_, parent, found);
    sample::require(found == numbers, "the buffer of a part is something else");
  }

  void stir(const sample::Memory& buffer, std::size_t begin, std::size_t count, cl_uint by) {
    sample::setArguments(stir_, buffer, by);
    sample::launch(queue_, stir_, {count}, {64});
    for (std::size_t i = 0; i < count; ++i)
      expected_[0][begin + i] = expected_[0][begin + i] * 5 + static_cast<cl_uint>(i) + by;
  }

  void add() {
    Numbers sum(1);
    const auto buffer = s_.copyOf(sum);
    sample::setArguments(addUp_, buffers_[1], buffer, sample::Local{64 * wide});
    sample::launch(queue_, addUp_, {n_}, {64});
    sample::read(queue_, buffer, sum);
    cl_uint expected = 0;
    for (const cl_uint each : expected_[1])
      expected += each;
    sample::require(sum[0] == expected, "the sum is wrong");
    s_.output(sum);
  }

  void transfer() {
    const std::size_t begin = n_ / 3, count = n_ / 2;
    Numbers some(count);
    for (std::size_t i = 0; i < count; ++i)
      some[i] = expected_[0][begin + i] = static_cast<cl_uint>(i * 11);
    sample::check(clEnqueueWriteBuffer(queue_, buffers_[0], CL_FALSE, begin * wide, count * wide,
                                       some.data(), 0, nullptr, nullptr),
                  "clEnqueueWriteBuffer");
    Numbers found(count);
    sample::Event event;
    sample::check(clEnqueueReadBuffer(queue_, buffers_[1], CL_FALSE, (begin + 1) * wide,
                                      count * wide, found.data(), 0, nullptr, event.out()),
                  "clEnqueueReadBuffer");
    sample::check(clWaitForEvents(1, event.address()), "clWaitForEvents");
    sample::require(std::equal(found.begin(), found.end(), expected_[1].begin() + begin + 1),
                    "a read brings something else");
    sample::check(clFinish(queue_), "clFinish");
  }

  /// The left half of all rows of 64 elements.
  void transferRows() {
    const std::size_t rows = n_ / 64 / 4, from = n_ / 64 / 2;
    const std::size_t origin[3] = {0, from, 0}, start[3] = {0, 0, 0},
                      region[3] = {32 * wide, rows, 1};
    Numbers half(rows * 32);
    sample::check(clEnqueueReadBufferRect(queue_, buffers_[1], CL_TRUE, origin, start, region,
                                          64 * wide, 0, 32 * wide, 0, half.data(), 0, nullptr,
                                          nullptr),
                  "clEnqueueReadBufferRect");
    for (std::size_t i = 0; i < half.size(); ++i) {
      const std::size_t at = (from + i / 32) * 64 + i % 32;
      sample::require(half[i] == expected_[1][at], "rows are something else");
      expected_[0][at] = half[i] += 1;
    }
    sample::check(clEnqueueWriteBufferRect(queue_, buffers_[0], CL_TRUE, origin, start, region,
                                           64 * wide, 0, 32 * wide, 0, half.data(), 0, nullptr,
                                           nullptr),
                  "clEnqueueWriteBufferRect");
    const std::size_t target[3] = {32 * wide, 1, 0};
    sample::check(clEnqueueCopyBufferRect(queue_, buffers_[0], buffers_[1], origin, target, region,
                                          64 * wide, 0, 64 * wide, 0, 0, nullptr, nullptr),
                  "clEnqueueCopyBufferRect");
    for (std::size_t i = 0; i < half.size(); ++i)
      expected_[1][(1 + i / 32) * 64 + 32 + i % 32] = half[i];
  }

  void fillAndCopy() {
    const std::array<cl_uint, 2> pattern{3, 4};
    const std::size_t begin = n_ / 8 * 2, count = n_ / 4;
    sample::check(clEnqueueFillBuffer(queue_, buffers_[0], pattern.data(), sizeof pattern,
                                      begin * wide, count * wide, 0, nullptr, nullptr),
                  "clEnqueueFillBuffer");
    for (std::size_t i = 0; i < count; ++i)
      expected_[0][begin + i] = pattern[i % 2];
    copy(buffers_[0], 5, expected_[0], buffers_[1], n_ / 2, expected_[1], n_ / 3);
    // By way of a small one.
    Numbers some(100);
    const auto small = s_.array<cl_uint>(some.size());
    copy(buffers_[1], n_ / 2, expected_[1], small, 0, some, some.size());
    copy(small, 0, some, buffers_[0], 1, expected_[0], some.size());
    const cl_mem both[] = {buffers_[0], small};
    sample::check(clEnqueueMigrateMemObjects(queue_, 2, both, 0, 0, nullptr, nullptr),
                  "clEnqueueMigrateMemObjects");
    sample::checkCode(clEnqueueCopyBuffer(queue_, buffers_[0], buffers_[0], 0, wide, 2 * wide, 0,
                                          nullptr, nullptr),
                      CL_MEM_COPY_OVERLAP, "a copy onto itself");
    sample::checkCode(clEnqueueReadBuffer(queue_, buffers_[0], CL_TRUE, wide, n_ * wide,
                                          some.data(), 0, nullptr, nullptr),
                      CL_INVALID_VALUE, "a read beyond the end");
  }

  void copy(const sample::Memory& from, std::size_t begin, const Numbers& source,
            const sample::Memory& to, std::size_t at, Numbers& target, std::size_t count) {
    sample::check(clEnqueueCopyBuffer(queue_, from, to, begin * wide, at * wide, count * wide, 0,
                                      nullptr, nullptr),
                  "clEnqueueCopyBuffer");
    std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(begin), count,
                target.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void useParts() {
    const std::size_t begin = n_ / 2 / 1024 * 1024, count = (n_ - begin) / 64 * 64;
    const cl_buffer_region region{begin * wide, count * wide};
    cl_int error = CL_SUCCESS;
    const sample::Memory part = clCreateSubBuffer(buffers_[0], CL_MEM_READ_WRITE,
                                                  CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    sample::check(error, "clCreateSubBuffer");
    sample::require(info<std::size_t>(part, CL_MEM_OFFSET) == region.origin &&
                        info<std::size_t>(part, CL_MEM_SIZE) == region.size &&
                        info<cl_mem>(part, CL_MEM_ASSOCIATED_MEMOBJECT) == buffers_[0],
                    "it is another part");
    stir(part, begin, count, 9);
    Numbers found(count);
    sample::read(queue_, part, found);
    sample::require(std::equal(found.begin(), found.end(), expected_[0].begin() + begin),
                    "a part is something else");
    const cl_buffer_region beyond{begin * wide, n_ * wide};
    clCreateSubBuffer(buffers_[0], 0, CL_BUFFER_CREATE_TYPE_REGION, &beyond, &error);
    sample::checkCode(error, CL_INVALID_VALUE, "a part beyond the end");
  }

  void map(cl_bool blocking) {
    const std::size_t begin = n_ / 5, count = n_ / 7;
    cl_int error = CL_SUCCESS;
    sample::Event event;
    auto* mapped = static_cast<cl_uint*>(
        clEnqueueMapBuffer(queue_, buffers_[1], blocking, CL_MAP_READ | CL_MAP_WRITE, begin * wide,
                           count * wide, 0, nullptr, event.out(), &error));
    sample::check(error, "clEnqueueMapBuffer");
    sample::check(clWaitForEvents(1, event.address()), "clWaitForEvents");
    sample::require(info<cl_uint>(buffers_[1], CL_MEM_MAP_COUNT) == 1, "CL_MEM_MAP_COUNT");
    for (std::size_t i = 0; i < count; ++i) {
      sample::require(mapped[i] == expected_[1][begin + i], "a map shows something else");
      mapped[i] = expected_[1][begin + i] = static_cast<cl_uint>(i * i);
    }
    sample::check(clEnqueueUnmapMemObject(queue_, buffers_[1], mapped, 0, nullptr, nullptr),
                  "clEnqueueUnmapMemObject");
    sample::checkCode(
        clEnqueueUnmapMemObject(queue_, buffers_[1], expected_[0].data(), 0, nullptr, nullptr),
        CL_INVALID_VALUE, "what is not mapped");
    auto* written = static_cast<cl_uint*>(
        clEnqueueMapBuffer(queue_, buffers_[0], CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 64 * wide,
                           64 * wide, 0, nullptr, nullptr, &error));
    sample::check(error, "clEnqueueMapBuffer");
    for (std::size_t i = 0; i < 64; ++i)
      written[i] = expected_[0][64 + i] = static_cast<cl_uint>(i + 13);
    sample::check(clEnqueueUnmapMemObject(queue_, buffers_[0], written, 0, nullptr, nullptr),
                  "clEnqueueUnmapMemObject");
    stir(buffers_[0], 0, n_, 3);
  }

  void compare(const sample::Memory& buffer, const Numbers& expected) {
    Numbers found(n_);
    sample::read(queue_, buffer, found);
    for (std::size_t i = 0; i < n_; ++i)
      sample::require(found[i] == expected[i], "element " + std::to_string(i) + " is wrong");
    s_.output(found);
  }

  sample::Sample& s_;
  std::size_t n_;
  sample::Queue queue_;
  sample::Program program_;
  sample::Kernel smooth_, stir_, addUp_, share_;
  std::array<sample::Memory, 2> buffers_;
  std::array<Numbers, 2> expected_;
};

void largeBuffers(sample::Sample& s) {
  Large large(s);
  large.run();
  if (s.options().variant == "full")
    large.fillMemory();
  if (s.options().variant == "aside")
    large.useAside();
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 14, .iterations = 2, .variant = "work"},
                     largeBuffers);
}
