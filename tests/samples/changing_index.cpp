// Kernels whose accesses follow index arrays, while every way that OpenCL has of writing a buffer
// changes these arrays between the launches.
#include "kernels/changing_index.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace {

using Ints = std::vector<cl_int>;

Ints ramp(std::size_t count, cl_int from = 0, cl_int step = 1) {
  Ints ints(count);
  for (std::size_t i = 0; i < count; ++i)
    ints[i] = from + step * static_cast<cl_int>(i);
  return ints;
}

/// The driver's own copy of a native kernel's arguments.
struct NativeArguments {
  void* memory;
  const cl_int* values;
  std::size_t count;
};

void CL_CALLBACK writeNatively(void* data) {
  auto arguments = static_cast<NativeArguments*>(data);
  std::memcpy(arguments->memory, arguments->values, arguments->count * sizeof(cl_int));
}

class ChangingIndex {
public:
  explicit ChangingIndex(sample::Sample& s)
      : s_(s), size_(sample::roundUp(s.options().size, 128)), queue_(s.queue()), other_(s.queue()),
        program_(s.program(sample::changingIndexSource)),
        gather_(sample::kernel(program_, "gather_rows")),
        scatter_(sample::kernel(program_, "scatter")),
        fillBlocks_(sample::kernel(program_, "fill_blocks")),
        rotate_(sample::kernel(program_, "rotate_index")),
        inPlace_(sample::kernel(program_, "in_place")), index_(ramp(size_)), rows_(ramp(size_ + 1)),
        x_(size_) {
    for (std::size_t i = 0; i < size_; ++i)
      x_[i] = static_cast<cl_int>(sample::randomBits(i) % 1000);
    const std::size_t bytes = size_ * sizeof(cl_int);
    indexBuffer_ = s.buffer(CL_MEM_COPY_HOST_PTR, bytes, index_.data());
    spareBuffer_ = s.buffer(CL_MEM_READ_WRITE, bytes);
    rowsBuffer_ = s.buffer(CL_MEM_COPY_HOST_PTR, bytes + sizeof(cl_int), rows_.data());
    xBuffer_ = s.buffer(CL_MEM_COPY_HOST_PTR | CL_MEM_READ_ONLY, bytes, x_.data());
    yBuffer_ = s.buffer(CL_MEM_READ_WRITE, bytes);
    outBuffer_ = s.buffer(CL_MEM_READ_WRITE, bytes);
    sample::setArguments(gather_, static_cast<cl_int>(size_), rowsBuffer_, indexBuffer_, xBuffer_,
                         yBuffer_);
    sample::setArguments(scatter_, indexBuffer_, xBuffer_, outBuffer_);
  }

  void run() {
    verify("at first");
    for (unsigned i = 0; i < s_.options().iterations; ++i) {
      byWrite();
      byRectangle();
      byKernel();
      byMap();
      byInvalidatingMap();
      byCopy();
      byFill();
      byNativeKernel();
      bySubBuffer();
      byOtherQueue();
      rowsByWrite();
      blocks();
      aliases();
    }
  }

private:
  std::size_t bytes() const { return size_ * sizeof(cl_int); }

  /// Another order: what one half held goes to the other half.
  Ints reordered() {
    ++changes_;
    Ints order = index_;
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size_ / 2 + changes_),
                order.end());
    if (changes_ % 2)
      std::reverse(order.begin(), order.end());
    return order;
  }

  /// Twice: the second launch could rest on what is known from the first.
  void verify(const char* after) {
    Ints y(size_), out(size_), expectedY(size_), expectedOut(size_, -1);
    const cl_int none = -1;
    for (int repeat = 0; repeat < 2; ++repeat) {
      sample::check(clEnqueueFillBuffer(queue_, outBuffer_, &none, sizeof none, 0, bytes(), 0,
                                        nullptr, nullptr),
                    "clEnqueueFillBuffer");
      sample::launch(queue_, gather_, {size_}, {64});
      if (!collides_)
        sample::launch(queue_, scatter_, {size_}, {64});
    }
    sample::read(queue_, yBuffer_, y);
    sample::read(queue_, outBuffer_, out);
    for (std::size_t i = 0; i < size_; ++i) {
      for (cl_int k = rows_[i]; k < rows_[i + 1]; ++k)
        expectedY[i] += x_[static_cast<std::size_t>(index_[static_cast<std::size_t>(k)])];
      expectedOut[static_cast<std::size_t>(index_[i])] = 3 * x_[i] + static_cast<cl_int>(i);
    }
    sample::require(y == expectedY, std::string("gather_rows differs after ") + after);
    if (!collides_)
      sample::require(out == expectedOut, std::string("scatter differs after ") + after);
    s_.output(y);
    if (!collides_)
      s_.output(out);
  }

  void byWrite() {
    index_ = reordered();
    sample::write(queue_, indexBuffer_, index_);
    verify("clEnqueueWriteBuffer");
  }

  void byRectangle() {
    index_ = reordered();
    const std::size_t origin[3] = {0, 0, 0}, region[3] = {bytes() / 4, 4, 1};
    sample::check(clEnqueueWriteBufferRect(queue_, indexBuffer_, CL_FALSE, origin, origin, region,
                                           0, 0, 0, 0, index_.data(), 0, nullptr, nullptr),
                  "clEnqueueWriteBufferRect");
    verify("clEnqueueWriteBufferRect");
  }

  void byKernel() {
    const auto by = static_cast<cl_int>(size_ / 2 + ++changes_);
    sample::setArguments(rotate_, indexBuffer_, by, static_cast<cl_int>(size_));
    sample::launch(queue_, rotate_, {size_}, {64});
    for (std::size_t i = 0; i < size_; ++i)
      index_[i] = static_cast<cl_int>((i + static_cast<std::size_t>(by)) % size_);
    verify("a kernel");
  }

  void map(cl_map_flags flags) {
    cl_int status = CL_SUCCESS;
    void* address = clEnqueueMapBuffer(queue_, indexBuffer_, CL_TRUE, flags, 0, bytes(), 0, nullptr,
                                       nullptr, &status);
    sample::check(status, "clEnqueueMapBuffer");
    if (!(flags & CL_MAP_WRITE_INVALIDATE_REGION))
      sample::require(!std::memcmp(address, index_.data(), bytes()), "the mapped bytes differ");
    index_ = reordered();
    std::memcpy(address, index_.data(), bytes());
    sample::check(clEnqueueUnmapMemObject(queue_, indexBuffer_, address, 0, nullptr, nullptr),
                  "clEnqueueUnmapMemObject");
  }

  void byMap() {
    map(CL_MAP_READ | CL_MAP_WRITE);
    verify("a map");
  }

  void byInvalidatingMap() {
    map(CL_MAP_WRITE_INVALIDATE_REGION);
    verify("an invalidating map");
  }

  void byCopy() {
    index_ = reordered();
    sample::write(queue_, spareBuffer_, index_);
    sample::check(
        clEnqueueCopyBuffer(queue_, spareBuffer_, indexBuffer_, 0, 0, bytes(), 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
    verify("clEnqueueCopyBuffer");
  }

  void byFill() {
    const Ints before = index_;
    const auto place = static_cast<cl_int>(size_ - 1 - changes_);
    sample::check(clEnqueueFillBuffer(queue_, indexBuffer_, &place, sizeof place, 0, bytes() / 2, 0,
                                      nullptr, nullptr),
                  "clEnqueueFillBuffer");
    std::fill_n(index_.begin(), size_ / 2, place);
    collides_ = true;
    verify("clEnqueueFillBuffer");
    collides_ = false;
    index_ = before;
    sample::write(queue_, indexBuffer_, index_);
    verify("undoing it");
  }

  void byNativeKernel() {
    cl_device_exec_capabilities able = 0;
    sample::check(
        clGetDeviceInfo(s_.device(), CL_DEVICE_EXECUTION_CAPABILITIES, sizeof able, &able, nullptr),
        "clGetDeviceInfo");
    if (!(able & CL_EXEC_NATIVE_KERNEL))
      return;
    index_ = reordered();
    NativeArguments arguments{nullptr, index_.data(), index_.size()};
    cl_mem memory = indexBuffer_;
    const void* place = &arguments.memory;
    sample::check(clEnqueueNativeKernel(queue_, writeNatively, &arguments, sizeof arguments, 1,
                                        &memory, &place, 0, nullptr, nullptr),
                  "clEnqueueNativeKernel");
    verify("a native kernel");
  }

  void bySubBuffer() {
    const Ints old = index_;
    index_ = reordered();
    // Both halves, one by one: in between each place may be named twice.
    for (std::size_t half = 0; half < 2; ++half) {
      cl_buffer_region region{half * bytes() / 2, bytes() / 2};
      cl_int status = CL_SUCCESS;
      const sample::Memory part(clCreateSubBuffer(indexBuffer_, CL_MEM_READ_WRITE,
                                                  CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
      sample::check(status, "clCreateSubBuffer");
      sample::check(clEnqueueWriteBuffer(queue_, part, CL_TRUE, 0, region.size,
                                         index_.data() + half * size_ / 2, 0, nullptr, nullptr),
                    "clEnqueueWriteBuffer");
      if (half == 0) {
        const Ints whole = index_;
        std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(size_ / 2), size_ / 2,
                    index_.begin() + static_cast<std::ptrdiff_t>(size_ / 2));
        collides_ = true;
        verify("the first sub-buffer");
        collides_ = false;
        index_ = whole;
      }
    }
    verify("sub-buffers");
  }

  void byOtherQueue() {
    index_ = reordered();
    sample::Event read;
    Ints y(1);
    // What is under way on the first queue reads the index: first that, then the write.
    sample::check(clEnqueueMarkerWithWaitList(queue_, 0, nullptr, read.out()),
                  "clEnqueueMarkerWithWaitList");
    clFlush(queue_);
    sample::Event written;
    sample::check(clEnqueueWriteBuffer(other_, indexBuffer_, CL_FALSE, 0, bytes(), index_.data(), 1,
                                       read.address(), written.out()),
                  "clEnqueueWriteBuffer");
    clFlush(other_);
    sample::check(clEnqueueBarrierWithWaitList(queue_, 1, written.address(), nullptr),
                  "clEnqueueBarrierWithWaitList");
    verify("the other queue");
  }

  /// Longer and shorter rows, some of them empty.
  void rowsByWrite() {
    for (std::size_t i = 1; i < size_; ++i)
      rows_[i] =
          std::min(static_cast<cl_int>(size_),
                   rows_[i - 1] + static_cast<cl_int>(sample::randomBits(i, 7 + changes_) % 3));
    rows_[size_] = static_cast<cl_int>(size_);
    sample::write(queue_, rowsBuffer_, rows_);
    verify("the rows changed");
  }

  void blocks() {
    const std::size_t groups = size_ / 64;
    Ints order = ramp(groups), base = ramp(groups, 0, 64), out(size_), expected(size_);
    const auto orderBuffer = s_.buffer(CL_MEM_COPY_HOST_PTR, groups * sizeof(cl_int), order.data());
    const auto baseBuffer = s_.buffer(CL_MEM_COPY_HOST_PTR, groups * sizeof(cl_int), base.data());
    sample::setArguments(fillBlocks_, orderBuffer, baseBuffer, outBuffer_);
    for (int step = 0; step < 3; ++step) {
      sample::write(queue_, orderBuffer, order);
      sample::launch(queue_, fillBlocks_, {size_}, {64});
      sample::read(queue_, outBuffer_, out);
      for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t l = 0; l < 64; ++l)
          expected[static_cast<std::size_t>(base[static_cast<std::size_t>(order[g])]) + l] =
              static_cast<cl_int>(7 * g + l);
      sample::require(out == expected, "fill_blocks differs");
      s_.output(out);
      if (step == 0) // each half of the blocks among themselves
        for (std::size_t at : {std::size_t{0}, groups / 2})
          std::reverse(order.begin() + static_cast<std::ptrdiff_t>(at),
                       order.begin() + static_cast<std::ptrdiff_t>(at + groups / 2));
      else
        std::reverse(order.begin(), order.end());
    }
  }

  /// The buffer that the index is loaded from is the one that is written.
  void aliases() {
    sample::setArguments(inPlace_, indexBuffer_, indexBuffer_);
    sample::launch(queue_, inPlace_, {size_}, {64});
    Ints index(size_);
    sample::read(queue_, indexBuffer_, index);
    for (std::size_t i = 0; i < size_; ++i)
      sample::require(index[i] == index_[i] + 1, "in_place differs");
    // Each work-item moves within its own place.
    index_ = ramp(size_);
    sample::write(queue_, indexBuffer_, index_);
    sample::setArguments(scatter_, indexBuffer_, indexBuffer_, indexBuffer_);
    sample::launch(queue_, scatter_, {size_}, {64});
    sample::read(queue_, indexBuffer_, index);
    for (std::size_t i = 0; i < size_; ++i)
      sample::require(index[i] == 4 * static_cast<cl_int>(i), "scatter in place differs");
    s_.output(index);
    sample::write(queue_, indexBuffer_, index_);
    sample::setArguments(scatter_, indexBuffer_, xBuffer_, outBuffer_);
    verify("aliases");
  }

  sample::Sample& s_;
  const std::size_t size_;
  sample::Queue queue_, other_;
  sample::Program program_;
  sample::Kernel gather_, scatter_, fillBlocks_, rotate_, inPlace_;
  Ints index_, rows_, x_;
  sample::Memory indexBuffer_, spareBuffer_, rowsBuffer_, xBuffer_, yBuffer_, outBuffer_;
  std::size_t changes_ = 0;
  bool collides_ = false; ///< several work-items would scatter to one place
};

void changingIndex(sample::Sample& s) {
  ChangingIndex(s).run();
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 16384, .iterations = 2}, changingIndex);
}
