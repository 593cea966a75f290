// Kernels that read images, between everything that changes an image: writes, copies, fills, maps
// and kernels. What they read is compared after each.
//
// --variant random: the same drawn from --seed, on two queues, without waiting in between; images
// are given up for new ones while commands use them.
#include "kernels/image_reader.h"
#include "tests/samples/hand_over.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <random>
#include <utility>

namespace {

constexpr std::size_t layers = 4;
using Pixels = std::vector<cl_uint>;

class Scene {
public:
  explicit Scene(sample::Sample& s)
      : s_(s), queue_(s.queue()), program_(s.program(sample::imageReaderSource)),
        look_(sample::kernel(program_, "look")),
        lookThrough_(sample::kernel(program_, "look_through")),
        invert_(sample::kernel(program_, "invert")), width_(sample::roundUp(s.options().size, 8)),
        height_(width_ / 2), pixels_(width_ * height_), expected_(width_ * height_),
        image_(image(CL_MEM_OBJECT_IMAGE2D, nullptr)),
        other_(image(CL_MEM_OBJECT_IMAGE2D, nullptr)) {
    for (std::size_t i = 0; i < pixels_.size(); ++i)
      pixels_[i] = static_cast<cl_uint>(sample::randomBits(i));
    out_ = s.buffer(CL_MEM_COPY_HOST_PTR, bytes(), expected_.data());
    source_ = s.buffer(CL_MEM_COPY_HOST_PTR, bytes(), pixels_.data());
    edge_ = sampler(CL_ADDRESS_CLAMP_TO_EDGE);
    border_ = sampler(CL_ADDRESS_CLAMP);
  }

  void run() {
    sample::check(clEnqueueWriteImage(queue_, image_, CL_FALSE, origin_, region().data(), 0, 0,
                                      pixels_.data(), 0, nullptr, nullptr),
                  "clEnqueueWriteImage");
    look(3);
    look(-2); // of what has not changed
    compare("a write");

    const cl_uint4 grey = {{9, 8, 7, 6}};
    const std::size_t begin[3] = {4, 2, 0}, part[3] = {width_ / 2, 3, 1};
    sample::check(clEnqueueFillImage(queue_, image_, &grey, begin, part, 0, nullptr, nullptr),
                  "clEnqueueFillImage");
    for (std::size_t y = 2; y < 5; ++y)
      std::fill_n(pixels_.begin() + static_cast<std::ptrdiff_t>(y * width_ + 4), part[0],
                  0x06070809u);
    look(1);
    compare("a fill");

    sample::check(clEnqueueCopyImage(queue_, image_, other_, origin_, origin_, region().data(), 0,
                                     nullptr, nullptr),
                  "clEnqueueCopyImage");
    invert();
    look(5);
    compare("a kernel");
    sample::check(clEnqueueCopyBufferToImage(queue_, source_, image_, 0, origin_, region().data(),
                                             0, nullptr, nullptr),
                  "clEnqueueCopyBufferToImage");
    sample::check(clEnqueueReadBuffer(queue_, source_, CL_TRUE, 0, bytes(), pixels_.data(), 0,
                                      nullptr, nullptr),
                  "clEnqueueReadBuffer");
    look(2);
    compare("a copy of a buffer");
    map();
    look(4);
    compare("a map");
    through();
    compare("three dimensions");
  }

  void runAtRandom() {
    random_.seed(s_.options().seed);
    const sample::Queue another = s_.queue();
    cl_command_queue queues[] = {queue_, another};
    for (sample::Memory* each : {&image_, &other_})
      write(*each, {0, 0, 0}, region());
    for (unsigned i = 0; i < 40 * s_.options().iterations; ++i) {
      if (below(8) == 0) { // the other queue goes on
        std::swap(queues[0], queues[1]);
        sample::handOver(queues[1], queues[0], last_);
      }
      at_ = queues[0];
      command();
    }
    for (const sample::Memory* each : {&image_, &other_})
      sample::check(clEnqueueReadImage(at_, *each, CL_TRUE, origin_, region().data(), 0, 0,
                                       copies_.emplace_back(pixels_.size()).data(), 0, nullptr,
                                       nullptr),
                    "clEnqueueReadImage");
    for (const sample::Memory* each : {&out_, &source_})
      sample::read(at_, *each, copies_.emplace_back(pixels_.size()));
    for (const Pixels& each : copies_)
      s_.output(each);
  }

private:
  using Three = std::array<std::size_t, 3>;

  std::size_t below(std::size_t n) { return random_() % n; }
  cl_int shift() { return static_cast<cl_int>(below(9)) - 4; }
  std::pair<Three, Three> part() {
    const Three size = {1 + below(width_), 1 + below(height_), 1};
    return {{below(width_ - size[0] + 1), below(height_ - size[1] + 1), 0}, size};
  }

  void write(const sample::Memory& image, const Three& begin, const Three& size) {
    Pixels& pixels = sent_.emplace_back(size[0] * size[1]);
    for (cl_uint& each : pixels)
      each = static_cast<cl_uint>(random_());
    sample::check(clEnqueueWriteImage(at_, image, CL_FALSE, begin.data(), size.data(), 0, 0,
                                      pixels.data(), 0, nullptr, nullptr),
                  "clEnqueueWriteImage");
  }

  void command() {
    const bool first = below(2) == 0;
    sample::Memory& image = first ? image_ : other_;
    sample::Memory& other = first ? other_ : image_;
    const auto [begin, size] = part();
    switch (below(16)) {
    case 0:
    case 1:
      return write(image, begin, size);
    case 2: {
      const cl_uint4 colour = {{1, 2, 3, static_cast<cl_uint>(below(256))}};
      return sample::check(
          clEnqueueFillImage(at_, image, &colour, begin.data(), size.data(), 0, nullptr, nullptr),
          "clEnqueueFillImage");
    }
    case 3:
      return sample::check(clEnqueueCopyImage(at_, image, other, begin.data(), begin.data(),
                                              size.data(), 0, nullptr, nullptr),
                           "clEnqueueCopyImage");
    case 4:
      return sample::check(clEnqueueCopyImageToBuffer(at_, image, source_, begin.data(),
                                                      size.data(), 0, 0, nullptr, nullptr),
                           "clEnqueueCopyImageToBuffer");
    case 5:
      return sample::check(clEnqueueCopyBufferToImage(at_, source_, image, 0, begin.data(),
                                                      size.data(), 0, nullptr, nullptr),
                           "clEnqueueCopyBufferToImage");
    case 6:
      return sample::check(clEnqueueReadImage(at_, image, below(3) == 0, begin.data(), size.data(),
                                              0, 0, copies_.emplace_back(size[0] * size[1]).data(),
                                              0, nullptr, nullptr),
                           "clEnqueueReadImage");
    case 7:
      return changeMapped(image, begin, size);
    case 8:
      sample::setArguments(invert_, image, source_, static_cast<cl_int>(width_));
      return sample::launch(at_, invert_, {width_, height_}, {8, 4});
    case 9:
      image = this->image(CL_MEM_OBJECT_IMAGE2D, nullptr);
      return write(image, {0, 0, 0}, region());
    default:
      sample::setArguments(look_, image, edge_, out_, static_cast<cl_int>(width_), shift());
      return sample::launch(at_, look_, {width_, height_}, {8, 4});
    }
  }

  void changeMapped(const sample::Memory& image, const Three& begin, const Three& size) {
    cl_int error = CL_SUCCESS;
    std::size_t pitch = 0;
    auto* mapped = static_cast<char*>(
        clEnqueueMapImage(at_, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, begin.data(),
                          size.data(), &pitch, nullptr, 0, nullptr, nullptr, &error));
    sample::check(error, "clEnqueueMapImage");
    for (std::size_t y = 0; y < size[1]; ++y)
      for (std::size_t x = 0; x < size[0] * sizeof(cl_uint); x += 1 + below(3))
        mapped[y * pitch + x] = static_cast<char>(mapped[y * pitch + x] * 3 + 1);
    sample::check(clEnqueueUnmapMemObject(at_, image, mapped, 0, nullptr, nullptr),
                  "clEnqueueUnmapMemObject");
  }

  std::size_t bytes() const { return pixels_.size() * sizeof(cl_uint); }
  std::array<std::size_t, 3> region() const { return {width_, height_, 1}; }

  sample::Memory image(cl_mem_object_type type, void* host) const {
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc description = {};
    description.image_type = type;
    description.image_width = width_;
    description.image_height = height_;
    description.image_depth = type == CL_MEM_OBJECT_IMAGE3D ? layers : 0;
    cl_int error = CL_SUCCESS;
    const cl_mem_flags flags = host ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE;
    sample::Memory made = clCreateImage(s_.context(), flags, &format, &description, host, &error);
    sample::check(error, "clCreateImage");
    return made;
  }

  sample::Sampler sampler(cl_addressing_mode addressing) const {
    const cl_sampler_properties properties[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                                CL_FALSE,
                                                CL_SAMPLER_ADDRESSING_MODE,
                                                addressing,
                                                CL_SAMPLER_FILTER_MODE,
                                                CL_FILTER_NEAREST,
                                                0};
    cl_int error = CL_SUCCESS;
    sample::Sampler made = clCreateSamplerWithProperties(s_.context(), properties, &error);
    sample::check(error, "clCreateSamplerWithProperties");
    return made;
  }

  /// Pixels beyond the edge are those at the edge.
  cl_uint atEdge(std::ptrdiff_t x, std::ptrdiff_t y) const {
    const auto right = static_cast<std::ptrdiff_t>(width_) - 1;
    const auto below = static_cast<std::ptrdiff_t>(height_) - 1;
    return pixels_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(y, 0, below) * (right + 1) +
                                            std::clamp<std::ptrdiff_t>(x, 0, right))];
  }

  void look(cl_int shift) {
    sample::setArguments(look_, image_, edge_, out_, static_cast<cl_int>(width_), shift);
    sample::launch(queue_, look_, {width_, height_}, {8, 4});
    for (std::size_t y = 0; y < height_; ++y)
      for (std::size_t x = 0; x < width_; ++x) {
        cl_uint& value = expected_[y * width_ + x];
        value =
            value * 5u + pixels_[y * width_ + x] +
            atEdge(static_cast<std::ptrdiff_t>(x) + shift, static_cast<std::ptrdiff_t>(y) - shift);
      }
  }

  void invert() {
    sample::setArguments(invert_, image_, source_, static_cast<cl_int>(width_));
    sample::launch(queue_, invert_, {width_, height_}, {8, 4});
    Pixels source(pixels_.size());
    sample::read(queue_, source_, source);
    for (std::size_t i = 0; i < pixels_.size(); ++i)
      pixels_[i] = ~source[i];
  }

  void map() {
    cl_int error = CL_SUCCESS;
    std::size_t pitch = 0;
    void* mapped = clEnqueueMapImage(queue_, image_, CL_TRUE, CL_MAP_WRITE, origin_,
                                     region().data(), &pitch, nullptr, 0, nullptr, nullptr, &error);
    sample::check(error, "clEnqueueMapImage");
    for (std::size_t y = 0; y < height_; ++y)
      for (std::size_t x = 0; x < width_; ++x) {
        const auto value = static_cast<cl_uint>(sample::randomBits(y * width_ + x, 3));
        std::memcpy(static_cast<char*>(mapped) + y * pitch + x * sizeof value, &value,
                    sizeof value);
        pixels_[y * width_ + x] = value;
      }
    sample::check(clEnqueueUnmapMemObject(queue_, image_, mapped, 0, nullptr, nullptr),
                  "clEnqueueUnmapMemObject");
  }

  void through() {
    Pixels deep(layers * pixels_.size());
    for (std::size_t i = 0; i < deep.size(); ++i)
      deep[i] = static_cast<cl_uint>(sample::randomBits(i, 4));
    const auto volume = image(CL_MEM_OBJECT_IMAGE3D, deep.data());
    sample::setArguments(lookThrough_, volume, border_, out_, static_cast<cl_int>(width_));
    sample::launch(queue_, lookThrough_, {width_, height_}, {8, 4});
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
      cl_uint sum = 0;
      for (std::size_t z = 0; z < layers; ++z)
        sum = sum * 3u + deep[z * pixels_.size() + i];
      expected_[i] += sum;
    }
  }

  void compare(const char* after) {
    Pixels found(expected_.size());
    sample::read(queue_, out_, found);
    sample::require(found == expected_, std::string("other pixels are read after ") + after);
    s_.output(found);
  }

  sample::Sample& s_;
  sample::Queue queue_;
  sample::Program program_;
  sample::Kernel look_, lookThrough_, invert_;
  std::size_t width_, height_;
  Pixels pixels_, expected_;
  const std::size_t origin_[3] = {0, 0, 0};
  sample::Memory image_, other_, out_, source_;
  sample::Sampler edge_, border_;
  // Of what is drawn.
  std::mt19937_64 random_{};
  cl_command_queue at_ = queue_;
  sample::Event last_{};
  std::deque<Pixels> sent_{}, copies_{};
};

void imageReader(sample::Sample& s) {
  if (!s.hasImages())
    return;
  Scene scene(s);
  if (s.options().variant == "random")
    return scene.runAtRandom();
  for (unsigned i = 0; i < s.options().iterations; ++i)
    scene.run();
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 96, .iterations = 3}, imageReader);
}
