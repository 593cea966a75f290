// Launches that exchange with the program what ./links says. --size elements of 4 bytes,
// --iterations launches, each timed with what belongs to it. Variants: `kept`, the data stays where
// it is; `renewed`, the program writes all of it before each launch, and reads all of it
// afterwards.
#include "tests/samples/sample.h"

namespace {

const char* const source = R"(kernel void stir(global uint* x) {
  const size_t i = get_global_id(0);
  x[i] = (x[i] ^ (x[i] >> 15)) * 0x2C1B3C6Du;
})";

void sharedLaunches(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const unsigned launches = s.options().iterations;
  const bool isRenewed = s.options().variant == "renewed";
  const auto queue = s.queue();
  const auto program = s.program(source);
  const auto kernel = sample::kernel(program, "stir");
  std::vector<cl_uint> input(n);
  for (std::size_t i = 0; i < n; ++i)
    input[i] = static_cast<cl_uint>(s.randomBits(i));
  std::vector<cl_uint> results = input;
  const auto buffer = s.copyOf(input);
  sample::setArguments(kernel, buffer);
  for (unsigned i = 0; i < launches; ++i)
    s.timed([&] {
      if (isRenewed)
        sample::write(queue, buffer, input);
      sample::launch(queue, kernel, {n}, {64});
      if (isRenewed)
        sample::read(queue, buffer, results);
      sample::check(clFinish(queue), "clFinish");
    });
  sample::read(queue, buffer, results);
  s.verify([&] {
    for (std::size_t i = 0; i < n; ++i) {
      cl_uint expected = input[i];
      for (unsigned k = 0; k < (isRenewed ? 1 : launches); ++k)
        expected = (expected ^ (expected >> 15U)) * 0x2C1B3C6DU;
      sample::require(results[i] == expected, "the results are wrong");
    }
  });
  s.output(results);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 16384, .iterations = 5, .variant = "kept"},
                     sharedLaunches);
}
