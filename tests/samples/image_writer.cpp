// Kernels that write images: by rows, by columns, now and then, and where nobody can say; of all
// sizes of pixels, and of all kinds of images.
//
// --variant random: such kernels between what else a program does to images, drawn from --seed, on
// two queues, without waiting in between.
#include "kernels/image_writer.h"
#include "tests/samples/hand_over.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <utility>

namespace {

using Three = std::array<std::size_t, 3>;
using Bytes = std::vector<unsigned char>;

struct Format {
  cl_image_format format;
  std::size_t pixel; ///< bytes
};

constexpr Format formats[] = {{{CL_R, CL_UNSIGNED_INT8}, 1},
                              {{CL_R, CL_UNSIGNED_INT16}, 2},
                              {{CL_RGBA, CL_UNSIGNED_INT8}, 4},
                              {{CL_RGBA, CL_UNSIGNED_INT16}, 8},
                              {{CL_RGBA, CL_UNSIGNED_INT32}, 16}};

class Scene {
public:
  Scene(sample::Sample& s, const sample::Program& program, const Format& format)
      : s_(s), format_(format), mixPixels_(sample::kernel(program, "mix_pixels")),
        flip_(sample::kernel(program, "flip")), quads_(sample::kernel(program, "quads")),
        columns_(sample::kernel(program, "columns")),
        whereEven_(sample::kernel(program, "where_even")),
        inRows_(sample::kernel(program, "in_rows")), corner_(sample::kernel(program, "corner")),
        halve_(sample::kernel(program, "halve")), volume_(sample::kernel(program, "volume")),
        pictures_(sample::kernel(program, "pictures")), lines_(sample::kernel(program, "lines")),
        width_(s.options().size - 3), height_(s.options().size / 2 + 1),
        images_{image(CL_MEM_OBJECT_IMAGE2D), image(CL_MEM_OBJECT_IMAGE2D),
                image(CL_MEM_OBJECT_IMAGE2D)} {
    std::vector<cl_int> rows(roundedHeight());
    for (std::size_t y = 0; y < rows.size(); ++y)
      rows[y] = static_cast<cl_int>((y * 7 + 3) % rows.size());
    rows_ = s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, rows.size() * sizeof(cl_int),
                     rows.data());
  }

  void run() {
    const sample::Queue queue = s_.queue();
    at_ = queue;
    sample::Memory &in = images_[0], &out = images_[1];
    Bytes pixels(width_ * height_ * format_.pixel);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<unsigned char>(sample::randomBits(i));
    for (sample::Memory& each : images_)
      write(each, {0, 0, 0}, region(), pixels);

    for (const int shift : {3, -2}) {
      mixPixels(in, out, shift);
      Bytes expected(pixels.size());
      for (std::size_t y = 0; y < height_; ++y)
        for (std::size_t x = 0; x < width_; ++x)
          for (std::size_t b = 0; b < format_.pixel; ++b)
            expected[(y * width_ + x) * format_.pixel + b] = static_cast<unsigned char>(
                pixels[(y * width_ + x) * format_.pixel + b] ^
                pixels[(clamped(y, -shift, height_) * width_ + clamped(x, shift, width_)) *
                           format_.pixel +
                       b]);
      sample::require(contents(out, region()) == expected, "other pixels were mixed");
      s_.output(expected);
    }
    flip(in, out);
    Bytes flipped = contents(out, region());
    for (std::size_t y = 0; y < height_; ++y)
      sample::require(
          std::equal(row(flipped, y), row(flipped, y + 1), row(pixels, height_ - 1 - y)),
          "a row was not flipped");
    s_.output(flipped);
    for (int step = 0; step < 8; ++step) {
      command(step, in, out);
      s_.output(contents(out, region()));
    }
    // In turns, and without a wait between.
    for (unsigned i = 0; i < 6 * s_.options().iterations; ++i)
      mixPixels(images_[i % 2], images_[(i + 1) % 2], static_cast<int>(i % 5) - 2);
    for (const sample::Memory& each : images_)
      s_.output(contents(each, region()));
    // Each work-item reads and writes the same pixel.
    sample::setArguments(halve_, out, out);
    sample::launch(at_, halve_, range(), {8, 4});
    s_.output(contents(out, region()));
    shapes();
    others();
  }

  void runAtRandom(std::uint64_t seed) {
    random_.seed(seed);
    const sample::Queue one = s_.queue(), another = s_.queue();
    cl_command_queue queues[] = {one, another};
    at_ = one;
    for (sample::Memory& each : images_)
      write(each, {0, 0, 0}, region(), drawn(region()));
    for (unsigned i = 0; i < 30 * s_.options().iterations; ++i) {
      if (below(8) == 0) { // the other queue goes on
        std::swap(queues[0], queues[1]);
        sample::handOver(queues[1], queues[0], last_);
        at_ = queues[0];
      }
      const std::size_t first = below(3);
      sample::Memory& in = images_[first];
      sample::Memory& out = images_[(first + 1 + below(2)) % 3];
      if (const auto choice = static_cast<int>(below(15)); choice < 8)
        command(choice, in, out);
      else
        transfer(choice - 8, in, out);
    }
    for (const sample::Memory& each : images_)
      copies_.push_back(contents(each, region()));
    for (const Bytes& each : copies_)
      s_.output(each);
  }

private:
  std::size_t below(std::size_t n) { return random_() % n; }
  Three region() const { return {width_, height_, 1}; }
  std::size_t roundedHeight() const { return sample::roundUp(height_, 4); }
  std::vector<std::size_t> range() const { return {sample::roundUp(width_, 8), roundedHeight()}; }
  Bytes::iterator row(Bytes& pixels, std::size_t y) const {
    return pixels.begin() + static_cast<std::ptrdiff_t>(y * width_ * format_.pixel);
  }
  static std::size_t clamped(std::size_t at, int by, std::size_t size) {
    const auto moved = static_cast<std::ptrdiff_t>(at) + by;
    return static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(moved, 0, static_cast<std::ptrdiff_t>(size) - 1));
  }

  sample::Memory image(cl_mem_object_type type) const { return image(type, width_, height_); }
  sample::Memory image(cl_mem_object_type type, std::size_t width, std::size_t height) const {
    cl_image_desc description = {};
    description.image_type = type;
    description.image_width = width;
    description.image_height = height;
    description.image_depth = description.image_array_size = depth;
    cl_int error = CL_SUCCESS;
    sample::Memory made = clCreateImage(s_.context(), CL_MEM_READ_WRITE, &format_.format,
                                        &description, nullptr, &error);
    sample::check(error, "clCreateImage");
    return made;
  }

  Bytes drawn(const Three& size) {
    Bytes pixels(size[0] * size[1] * size[2] * format_.pixel);
    for (unsigned char& each : pixels)
      each = static_cast<unsigned char>(random_());
    return pixels;
  }

  void write(const sample::Memory& image, const Three& begin, const Three& size, Bytes pixels) {
    sample::check(clEnqueueWriteImage(at_, image, CL_FALSE, begin.data(), size.data(), 0, 0,
                                      sent_.emplace_back(std::move(pixels)).data(), 0, nullptr,
                                      nullptr),
                  "clEnqueueWriteImage");
  }

  Bytes contents(const sample::Memory& image, const Three& size) const {
    Bytes pixels(size[0] * size[1] * size[2] * format_.pixel);
    const std::size_t origin[3] = {0, 0, 0};
    sample::check(clEnqueueReadImage(at_, image, CL_TRUE, origin, size.data(), 0, 0, pixels.data(),
                                     0, nullptr, nullptr),
                  "clEnqueueReadImage");
    return pixels;
  }

  void mixPixels(const sample::Memory& in, const sample::Memory& out, int shift) {
    sample::setArguments(mixPixels_, in, out, shift);
    sample::launch(at_, mixPixels_, range(), {8, 4});
  }
  void flip(const sample::Memory& in, const sample::Memory& out) {
    sample::setArguments(flip_, in, out);
    sample::launch(at_, flip_, range(), {8, 4});
  }

  void command(int which, const sample::Memory& in, const sample::Memory& out) {
    const auto from = static_cast<cl_int>(random_() % 3);
    switch (which) {
    case 0:
      sample::setArguments(quads_, in, out);
      return sample::launch(at_, quads_, {range()[0] / 2, range()[1] / 2}, {4, 2});
    case 1:
      sample::setArguments(columns_, in, out, from);
      return sample::launch(at_, columns_, {range()[0]}, {8});
    case 2:
      sample::setArguments(whereEven_, in, out);
      return sample::launch(at_, whereEven_, range(), {8, 4});
    case 3:
      sample::setArguments(inRows_, in, rows_, out);
      return sample::launch(at_, inRows_, range(), {8, 4});
    case 4:
      sample::setArguments(corner_, out, static_cast<cl_uint>(from));
      return sample::launch(at_, corner_, range(), {8, 4});
    case 5:
      return flip(in, out);
    default:
      return mixPixels(in, out, 2 * which + from - 10);
    }
  }

  void transfer(int which, sample::Memory& in, sample::Memory& out) {
    const Three size = {1 + below(width_), 1 + below(height_), 1};
    const Three begin = {below(width_ - size[0] + 1), below(height_ - size[1] + 1), 0};
    switch (which) {
    case 0:
    case 1:
      return write(out, begin, size, drawn(size));
    case 2: {
      const cl_uint4 colour = {{1, 2, 3, static_cast<cl_uint>(below(256))}};
      return sample::check(
          clEnqueueFillImage(at_, out, &colour, begin.data(), size.data(), 0, nullptr, nullptr),
          "clEnqueueFillImage");
    }
    case 3:
      return sample::check(clEnqueueCopyImage(at_, in, out, begin.data(), begin.data(), size.data(),
                                              0, nullptr, nullptr),
                           "clEnqueueCopyImage");
    case 4:
      return sample::check(
          clEnqueueReadImage(at_, in, below(3) == 0, begin.data(), size.data(), 0, 0,
                             copies_.emplace_back(size[0] * size[1] * format_.pixel).data(), 0,
                             nullptr, nullptr),
          "clEnqueueReadImage");
    case 5:
      return changeMapped(out, begin, size);
    default: // given up while commands use it
      out = image(CL_MEM_OBJECT_IMAGE2D);
      return write(out, {0, 0, 0}, region(), drawn(region()));
    }
  }

  void changeMapped(const sample::Memory& image, const Three& begin, const Three& size) {
    cl_int error = CL_SUCCESS;
    std::size_t pitch = 0;
    auto* mapped = static_cast<unsigned char*>(
        clEnqueueMapImage(at_, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, begin.data(),
                          size.data(), &pitch, nullptr, 0, nullptr, nullptr, &error));
    sample::check(error, "clEnqueueMapImage");
    for (std::size_t y = 0; y < size[1]; ++y)
      for (std::size_t x = 0; x < size[0] * format_.pixel; x += 1 + below(3))
        mapped[y * pitch + x] = static_cast<unsigned char>(mapped[y * pitch + x] * 3 + 1);
    sample::check(clEnqueueUnmapMemObject(at_, image, mapped, 0, nullptr, nullptr),
                  "clEnqueueUnmapMemObject");
  }

  /// Images of as many bytes and other shapes, by the same launches.
  void shapes() {
    const std::size_t half = width_ / 2;
    const auto wide = image(CL_MEM_OBJECT_IMAGE2D, 2 * half, half),
               high = image(CL_MEM_OBJECT_IMAGE2D, half, 2 * half);
    for (const auto* each : {&wide, &high, &wide}) {
      const bool isWide = each == &wide;
      const Three size = {isWide ? 2 * half : half, isWide ? half : 2 * half, 1};
      sample::setArguments(flip_, images_[0], *each);
      const std::size_t side = sample::roundUp(2 * half, 8);
      sample::launch(at_, flip_, {side, side}, {8, 4});
      s_.output(contents(*each, size));
    }
  }

  /// Images of other kinds, of which some pixels are written after all were.
  void others() {
    const auto solid = image(CL_MEM_OBJECT_IMAGE3D), album = image(CL_MEM_OBJECT_IMAGE2D_ARRAY),
               strips = image(CL_MEM_OBJECT_IMAGE1D_ARRAY), strip = image(CL_MEM_OBJECT_IMAGE1D);
    const std::vector<std::size_t> deep = {range()[0], range()[1], sample::roundUp(depth, 2)};
    for (const std::size_t less : {0, 8}) {
      const auto seed = static_cast<cl_uint>(less + 1);
      sample::setArguments(volume_, solid, seed);
      sample::launch(at_, volume_, {deep[0] - less, deep[1], deep[2]}, {8, 4, 1});
      sample::setArguments(pictures_, album, seed);
      sample::launch(at_, pictures_, {deep[0] - less, deep[1]}, {8, 4});
      sample::setArguments(lines_, strips, strip, seed);
      sample::launch(at_, lines_, {deep[0] - less}, {8});
      s_.output(contents(solid, {width_, height_, depth}));
      s_.output(contents(album, {width_, height_, depth}));
      s_.output(contents(strips, {width_, depth, 1}));
      s_.output(contents(strip, {width_, 1, 1}));
    }
  }

  static constexpr std::size_t depth = 5;
  sample::Sample& s_;
  const Format& format_;
  sample::Kernel mixPixels_, flip_, quads_, columns_, whereEven_, inRows_, corner_, halve_, volume_,
      pictures_, lines_;
  std::size_t width_, height_;
  std::array<sample::Memory, 3> images_;
  sample::Memory rows_{};
  cl_command_queue at_ = nullptr;
  std::mt19937_64 random_{};
  sample::Event last_{};
  std::deque<Bytes> sent_{}, copies_{};
};

void imageWriter(sample::Sample& s) {
  if (!s.hasImages())
    return;
  const sample::Program program = s.program(sample::imageWriterSource);
  const std::uint64_t seed = s.options().seed;
  if (s.options().variant == "random")
    return Scene(s, program, formats[seed % std::size(formats)]).runAtRandom(seed);
  for (const Format& format : formats)
    Scene(s, program, format).run();
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 72, .iterations = 2}, imageWriter);
}
