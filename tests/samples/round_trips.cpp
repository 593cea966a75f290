// Copies between a buffer and the program's memory, of all sizes and in all ways that programs make
// them: blocking or not, behind events, with an event, of sub-buffers, beyond the end; and a kernel
// now and then.
#include "kernels/round_trips.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <deque>

namespace {

using Bytes = std::vector<unsigned char>;

class Trips {
public:
  explicit Trips(sample::Sample& s) : s_(s), content_(s.options().size) {
    for (std::size_t i = 0; i < content_.size(); ++i)
      content_[i] = static_cast<unsigned char>(sample::randomBits(i));
    whole_ = s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, content_.size(), content_.data());
    cl_buffer_region half{content_.size() / 2, content_.size() / 2};
    cl_int error = CL_SUCCESS;
    half_ = clCreateSubBuffer(whole_, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, &error);
    sample::check(error, "clCreateSubBuffer");
    sample::setArguments(kernel_, whole_);
  }
  Trips(const Trips&) = delete;
  Trips& operator=(const Trips&) = delete;
  /// Where something went wrong, reads into its memory may still be on their way.
  ~Trips() { clFinish(queue_); }

  void trip(std::size_t number) {
    number_ = number;
    const bool isHalf = draw(5) == 0;
    const std::size_t room = isHalf ? content_.size() / 2 : content_.size();
    const std::size_t begin = draw(room);
    const std::size_t size = draw(3) == 0 ? draw(room - begin) + 1 : room - begin;
    const cl_mem buffer = isHalf ? half_ : whole_;
    unsigned char* bytes = content_.data() + (isHalf ? room : 0) + begin;
    switch (draw(5)) {
    case 0:
    case 1:
      return write(buffer, begin, size, bytes);
    case 2:
    case 3:
      return read(buffer, begin, size, bytes);
    default:
      sample::launch(queue_, kernel_, {content_.size()}, {64});
      for (unsigned char& each : content_)
        each = static_cast<unsigned char>(each * 3 + 1);
    }
  }

  void finish() {
    Bytes all(content_.size());
    sample::read(queue_, whole_, all);
    settle();
    sample::require(all == content_, "the last bytes are wrong");
    s_.output(all);
  }

  void beyondTheEnd() {
    Bytes more(content_.size() + 1);
    sample::checkCode(clEnqueueWriteBuffer(queue_, whole_, CL_TRUE, 0, more.size(), more.data(), 0,
                                           nullptr, nullptr),
                      CL_INVALID_VALUE, "a write beyond the end");
    sample::checkCode(clEnqueueReadBuffer(queue_, whole_, CL_TRUE, 1, content_.size(), more.data(),
                                          0, nullptr, nullptr),
                      CL_INVALID_VALUE, "a read beyond the end");
  }

private:
  std::size_t draw(std::size_t below) {
    return static_cast<std::size_t>(sample::randomBits(++drawn_, 1 + number_) % below);
  }

  /// What was read, to be compared when it has arrived.
  struct Read {
    Bytes expected, actual;
    sample::Event over;
  };

  void write(cl_mem buffer, std::size_t begin, std::size_t size, unsigned char* bytes) {
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<unsigned char>(sample::randomBits(i, number_));
    const Bytes& from = sent_.emplace_back(bytes, bytes + size);
    const cl_bool blocks = draw(2) == 0;
    const bool waits = last_ && draw(3) == 0;
    sample::Event over;
    sample::check(clEnqueueWriteBuffer(queue_, buffer, blocks, begin, size, from.data(), waits,
                                       waits ? last_.address() : nullptr,
                                       draw(2) ? over.out() : nullptr),
                  "clEnqueueWriteBuffer");
    if (blocks) // it is the program's again
      std::fill(sent_.back().begin(), sent_.back().end(), 0xEE);
    keep(std::move(over), CL_COMMAND_WRITE_BUFFER, blocks);
  }

  void read(cl_mem buffer, std::size_t begin, std::size_t size, const unsigned char* bytes) {
    Read& read = reads_.emplace_back(Read{Bytes(bytes, bytes + size), Bytes(size), {}});
    const cl_bool blocks = draw(2) == 0;
    const bool waits = last_ && draw(3) == 0;
    sample::Event over;
    sample::check(clEnqueueReadBuffer(queue_, buffer, blocks, begin, size, read.actual.data(),
                                      waits, waits ? last_.address() : nullptr,
                                      draw(2) ? over.out() : nullptr),
                  "clEnqueueReadBuffer");
    if (blocks)
      sample::require(read.actual == read.expected,
                      "trip " + std::to_string(number_) + " brings other bytes");
    keep(std::move(over), CL_COMMAND_READ_BUFFER, blocks);
    if (draw(4) == 0)
      settle();
  }

  void keep(sample::Event over, cl_command_type type, bool isOver) {
    if (!over)
      return;
    cl_command_type is = 0;
    cl_int status = CL_QUEUED;
    sample::check(clGetEventInfo(over, CL_EVENT_COMMAND_TYPE, sizeof is, &is, nullptr),
                  "clGetEventInfo");
    sample::check(
        clGetEventInfo(over, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
        "clGetEventInfo");
    sample::require(is == type, "an event's type is another command's");
    sample::require(!isOver || status == CL_COMPLETE, "what blocked is not over");
    last_ = std::move(over);
  }

  void settle() {
    sample::check(clFinish(queue_), "clFinish");
    for (const Read& each : reads_)
      sample::require(each.actual == each.expected, "a read brought other bytes");
    reads_.clear();
    sent_.clear();
  }

  sample::Sample& s_;
  Bytes content_;
  sample::Queue queue_ = s_.queue();
  sample::Program program_ = s_.program(sample::roundTripsSource);
  sample::Kernel kernel_ = sample::kernel(program_, "change");
  sample::Memory whole_, half_;
  sample::Event last_;
  std::deque<Bytes> sent_; ///< until it has left
  std::deque<Read> reads_;
  std::size_t number_ = 0, drawn_ = 0;
};

void roundTrips(sample::Sample& s) {
  Trips trips(s);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    trips.trip(i);
  trips.beyondTheEnd();
  trips.finish();
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 16, .iterations = 60}, roundTrips);
}
