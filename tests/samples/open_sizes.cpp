// Launches that leave the local size to the driver, over and over, of NDRanges that nothing divides
// and others: in one, two and three dimensions, with an offset, by kernels that ask for the sizes
// of the whole. In queues of each kind; of a profiled one, times are looked at.
#include "kernels/open_sizes.h"
#include "tests/samples/sample.h"

namespace {

using sample::check;
using sample::require;

void openSizes(sample::Sample& s) {
  const std::string& variant = s.options().variant;
  const bool isProfiled = variant == "profiled", isOutOfOrder = variant == "out_of_order";
  const auto queue = s.queue(isProfiled     ? CL_QUEUE_PROFILING_ENABLE
                             : isOutOfOrder ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
                                            : 0);
  const auto program = s.program(sample::openSizesSource);
  const auto columns = sample::kernel(program, "columns"), sizes = sample::kernel(program, "sizes"),
             line = sample::kernel(program, "line"), volume = sample::kernel(program, "volume"),
             groups = sample::kernel(program, "groups");
  // By default 67 and 71, prime numbers; 64 and 80, say, for a size of 64.
  const std::size_t width = s.options().size, height = width + (width % 2 == 0 ? 16 : 4);
  const std::size_t depth = 5, offset = 9;
  std::vector<cl_int> in(width * height);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<cl_int>(s.randomBits(i) >> 40);
  const auto inBuffer = s.copyOf(in);
  std::vector<cl_int> zeros(width * height * depth + offset);
  const auto plane = s.copyOf(zeros), whole = s.copyOf(zeros), row = s.copyOf(zeros),
             cube = s.copyOf(zeros), chosen = s.copyOf(zeros);

  sample::Event last;
  const auto launch = [&](cl_kernel kernel, const sample::Sizes& global, std::size_t from = 0) {
    const std::size_t offsets[3] = {from, 0, 0};
    sample::Event event;
    const cl_event before = last;
    check(clEnqueueNDRangeKernel(queue, kernel, static_cast<cl_uint>(global.size()), offsets,
                                 global.data(), nullptr, isOutOfOrder && before ? 1 : 0,
                                 isOutOfOrder && before ? &before : nullptr,
                                 isProfiled || isOutOfOrder ? event.out() : nullptr),
          "clEnqueueNDRangeKernel");
    if (isProfiled) {
      const cl_event each = event;
      check(clWaitForEvents(1, &each), "clWaitForEvents");
      const cl_ulong submitted = sample::moment(each, CL_PROFILING_COMMAND_SUBMIT),
                     started = sample::moment(each, CL_PROFILING_COMMAND_START),
                     ended = sample::moment(each, CL_PROFILING_COMMAND_END);
      require(submitted <= started && started < ended, "times are not in their order");
    }
    if (isOutOfOrder)
      last = std::move(event);
  };

  const auto w = static_cast<cl_int>(width), h = static_cast<cl_int>(height);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      sample::setArguments(columns, plane, inBuffer, h);
      launch(columns, {width, height});
      sample::setArguments(sizes, whole);
      launch(sizes, {width, height});
      sample::setArguments(line, row, static_cast<cl_int>(i));
      launch(line, {width * height}, offset);
      sample::setArguments(volume, cube, w, h);
      launch(volume, {width, height, depth});
      sample::setArguments(groups, chosen);
      launch(groups, {width * height});
    });
  check(clFinish(queue), "clFinish");

  const auto times = static_cast<cl_int>(s.options().iterations);
  const auto outputOf = [&](cl_mem buffer) {
    std::vector<cl_int> out(zeros.size());
    sample::read(queue, buffer, out);
    s.output(out);
    return out;
  };
  const std::vector<cl_int> ofPlane = outputOf(plane), ofWhole = outputOf(whole),
                            ofCube = outputOf(cube);
  outputOf(row);
  outputOf(chosen);
  for (cl_int x = 0; x < w; ++x)
    for (cl_int y = 0; y < h; ++y) {
      const auto at = static_cast<std::size_t>(x * h + y);
      require(ofPlane[at] == times * (in[at] ^ (31 * x + y)), "a wrong element of the columns");
      require(ofWhole[at] == times * (h + 6), "a wrong element of the sizes");
      for (cl_int z = 0; z < static_cast<cl_int>(depth); ++z)
        require(ofCube[static_cast<std::size_t>((z * h + y) * w + x)] ==
                    times * (x + 7 * y + 49 * z),
                "a wrong element of the volume");
    }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 67, .iterations = 40, .variant = "plain"}, openSizes);
}
