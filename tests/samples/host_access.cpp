// Buffers that the program keeps the host from reading or writing. Kernels and copies may use them
// as any other; what the flags forbid is tried too, with work pending, and must be refused.
#include "kernels/host_access.h"
#include "tests/samples/sample.h"

#include <array>
#include <numeric>
#include <utility>

namespace {

using Numbers = std::vector<cl_uint>;

constexpr cl_uint rows = 12, bins = 97;

std::size_t bytesOf(const Numbers& numbers) {
  return numbers.size() * sizeof(cl_uint);
}

/// All buffers of one kind, and what they must hold.
class Restricted {
public:
  Restricted(sample::Sample& s, cl_command_queue queue, cl_program program, cl_mem_flags flags)
      : s_(s), queue_(queue), flags_(flags), n_(s.options().size),
        advance_(sample::kernel(program, "advance")),
        columns_(sample::kernel(program, "fill_columns")), tally_(sample::kernel(program, "tally")),
        scatter_(sample::kernel(program, "scatter")), shift_(sample::kernel(program, "shift")),
        data_(n_), matrix_(rows * n_), counts_(bins), places_(n_) {
    for (std::size_t i = 0; i < n_; ++i)
      data_[i] = static_cast<cl_uint>(sample::randomBits(i));
    std::iota(places_.begin(), places_.end(), 0u);
    for (std::size_t i = n_; i > 1; --i)
      std::swap(places_[i - 1], places_[sample::randomBits(i, 1) % i]);
    auto buffer = [&](Numbers& initial) {
      return s.buffer(flags | CL_MEM_COPY_HOST_PTR, bytesOf(initial), initial.data());
    };
    dataBuffer_ = buffer(data_);
    matrixBuffer_ = buffer(matrix_);
    countBuffer_ = buffer(counts_);
    placeBuffer_ = buffer(places_);
  }

  void launch(cl_uint step) {
    const auto n = static_cast<cl_uint>(n_);
    sample::setArguments(advance_, dataBuffer_, n);
    sample::launch(queue_, advance_, {n_}, {64});
    for (std::size_t i = 0; i < n_; ++i)
      data_[i] = data_[i] * 3u + static_cast<cl_uint>(i);

    sample::setArguments(columns_, matrixBuffer_, rows, step);
    sample::launch(queue_, columns_, {n_}, {64});
    for (cl_uint row = 0; row < rows; ++row)
      for (std::size_t i = 0; i < n_; ++i)
        matrix_[row * n_ + i] += step + row;

    sample::setArguments(tally_, dataBuffer_, countBuffer_, bins);
    sample::launch(queue_, tally_, {n_}, {64});
    for (const cl_uint value : data_)
      ++counts_[value % bins];

    const auto some = static_cast<cl_uint>(n_ - n_ / 3);
    sample::setArguments(scatter_, placeBuffer_, dataBuffer_, some);
    sample::launch(queue_, scatter_, {n_}, {64});
    for (std::size_t i = 0; i < some; ++i)
      data_[places_[i]] = places_[i] + some;
  }

  /// What the host does itself: what it may works, and the rest is refused in the call.
  void touch() {
    const bool mayRead = flags_ == CL_MEM_HOST_READ_ONLY,
               mayWrite = flags_ == CL_MEM_HOST_WRITE_ONLY;
    const cl_int reading = mayRead ? CL_SUCCESS : CL_INVALID_OPERATION;
    const cl_int writing = mayWrite ? CL_SUCCESS : CL_INVALID_OPERATION;
    Numbers some(n_ / 2, 7);
    const std::size_t origin[3] = {0, 0, 0}, region[3] = {bytesOf(some), 1, 1};

    sample::checkCode(clEnqueueWriteBuffer(queue_, dataBuffer_, CL_FALSE, 0, bytesOf(some),
                                           some.data(), 0, nullptr, nullptr),
                      writing, "clEnqueueWriteBuffer");
    sample::checkCode(clEnqueueWriteBufferRect(queue_, dataBuffer_, CL_TRUE, origin, origin, region,
                                               0, 0, 0, 0, some.data(), 0, nullptr, nullptr),
                      writing, "clEnqueueWriteBufferRect");
    if (mayWrite)
      std::copy(some.begin(), some.end(), data_.begin());
    launch(5);
    sample::checkCode(clEnqueueReadBuffer(queue_, dataBuffer_, CL_FALSE, 0, bytesOf(some),
                                          some.data(), 0, nullptr, nullptr),
                      reading, "clEnqueueReadBuffer");
    sample::check(clFinish(queue_), "clFinish");
    sample::require(!mayRead || std::equal(some.begin(), some.end(), data_.begin()),
                    "the host reads something else");
    launch(6);
    sample::checkCode(clEnqueueReadBufferRect(queue_, dataBuffer_, CL_TRUE, origin, origin, region,
                                              0, 0, 0, 0, some.data(), 0, nullptr, nullptr),
                      reading, "clEnqueueReadBufferRect");
    sample::require(!mayRead || std::equal(some.begin(), some.end(), data_.begin()),
                    "the host reads something else by rows");
    for (const cl_bool blocking : {CL_FALSE, CL_TRUE}) {
      launch(7);
      map(CL_MAP_READ, blocking, reading);
      launch(8);
      map(CL_MAP_WRITE, blocking, writing);
      launch(9);
      map(CL_MAP_WRITE_INVALIDATE_REGION, blocking, writing);
    }
  }

  /// With a flag that is neither CL_TRUE nor CL_FALSE, which some drivers take for CL_TRUE and some
  /// refuse, with work pending.
  void touchOddly() {
    launch(10);
    Numbers some(n_ / 2, 9);
    const cl_bool neither = 2;
    const bool writes = flags_ == CL_MEM_HOST_WRITE_ONLY;
    const cl_int status = writes
                              ? clEnqueueWriteBuffer(queue_, dataBuffer_, neither, 0, bytesOf(some),
                                                     some.data(), 0, nullptr, nullptr)
                              : clEnqueueReadBuffer(queue_, dataBuffer_, neither, 0, bytesOf(some),
                                                    some.data(), 0, nullptr, nullptr);
    if (writes && status == CL_SUCCESS)
      std::copy(some.begin(), some.end(), data_.begin());
    sample::require(writes || status != CL_SUCCESS ||
                        std::equal(some.begin(), some.end(), data_.begin()),
                    "the host reads something else");
    s_.output(Numbers{static_cast<cl_uint>(status)});
    launch(11);
  }

  /// By copies, which are always allowed.
  void compare() {
    for (const auto& [buffer, expected] :
         {std::pair(dataBuffer_.address(), &data_), std::pair(matrixBuffer_.address(), &matrix_),
          std::pair(countBuffer_.address(), &counts_)}) {
      const auto plain = s_.buffer(CL_MEM_READ_WRITE, bytesOf(*expected));
      sample::check(clEnqueueCopyBuffer(queue_, *buffer, plain, 0, 0, bytesOf(*expected), 0,
                                        nullptr, nullptr),
                    "clEnqueueCopyBuffer");
      Numbers found(expected->size());
      sample::read(queue_, plain, found);
      sample::require(found == *expected, "the kernels left something else");
      s_.output(found);
    }
  }

  /// A launch wants some bytes elsewhere, and at the same time a copy others.
  void share() {
    const auto n = static_cast<cl_uint>(n_);
    const auto shifted = s_.buffer(CL_MEM_READ_WRITE, bytesOf(data_));
    const auto copied = s_.buffer(CL_MEM_READ_WRITE, bytesOf(data_));
    for (unsigned round = 0; round < 20 + s_.options().iterations; ++round) {
      sample::setArguments(advance_, dataBuffer_, n);
      sample::launch(queue_, advance_, {n_}, {64});
      for (std::size_t i = 0; i < n_; ++i)
        data_[i] = data_[i] * 3u + static_cast<cl_uint>(i);
      const cl_uint by = n / 3 + round; // each time others, which nobody foresees
      sample::setArguments(shift_, dataBuffer_, shifted, by, n);
      sample::launch(queue_, shift_, {n_}, {64});
      sample::check(clEnqueueCopyBuffer(queue_, dataBuffer_, copied, 0, 0, bytesOf(data_), 0,
                                        nullptr, nullptr),
                    "clEnqueueCopyBuffer");
      Numbers found(n_);
      sample::read(queue_, copied, found);
      sample::require(found == data_, "a copy has something else");
      sample::read(queue_, shifted, found);
      sample::require(std::equal(data_.begin() + by, data_.end(), found.begin()),
                      "a launch read something else");
    }
  }

private:
  void map(cl_map_flags how, cl_bool blocking, cl_int expected) {
    cl_int error = CL_SUCCESS;
    const std::size_t half = n_ / 2;
    void* mapped = clEnqueueMapBuffer(queue_, dataBuffer_, blocking, how, 0, half * sizeof(cl_uint),
                                      0, nullptr, nullptr, &error);
    sample::checkCode(error, expected, "clEnqueueMapBuffer");
    if (!mapped)
      return;
    sample::check(clFinish(queue_), "clFinish");
    auto* numbers = static_cast<cl_uint*>(mapped);
    if (how == CL_MAP_READ)
      sample::require(std::equal(numbers, numbers + half, data_.begin()),
                      "a map shows something else");
    else
      for (std::size_t i = 0; i < half; ++i)
        numbers[i] = data_[i] = static_cast<cl_uint>(i + how);
    sample::check(clEnqueueUnmapMemObject(queue_, dataBuffer_, mapped, 0, nullptr, nullptr),
                  "clEnqueueUnmapMemObject");
  }

  sample::Sample& s_;
  cl_command_queue queue_;
  cl_mem_flags flags_;
  std::size_t n_;
  sample::Kernel advance_, columns_, tally_, scatter_, shift_;
  Numbers data_, matrix_, counts_, places_;
  sample::Memory dataBuffer_, matrixBuffer_, countBuffer_, placeBuffer_;
};

void hostAccess(sample::Sample& s) {
  const auto queue = s.queue();
  const auto program = s.program(sample::hostAccessSource);
  for (const cl_mem_flags flags :
       {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY}) {
    Restricted buffers(s, queue, program, flags);
    buffers.share();
    for (unsigned round = 0; round < s.options().iterations; ++round)
      buffers.launch(round);
    buffers.compare();
    buffers.launch(4);
    buffers.touch();
    if (flags != CL_MEM_HOST_NO_ACCESS)
      buffers.touchOddly();
    buffers.compare();
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 8192, .iterations = 3}, hostAccess);
}
