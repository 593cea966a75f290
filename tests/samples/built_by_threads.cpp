// A program that one thread builds again while another makes a kernel of it, and one that two
// threads build at once. Which build a kernel is of is the driver's to say; but a launch is of one.
// The dump holds no results, since drivers differ.
#include "kernels/built_by_threads.h"
#include "tests/samples/sample.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>

namespace {

constexpr cl_uint factors[] = {3, 5};

cl_int build(cl_program program, cl_uint factor) {
  const std::string options = "-DFACTOR=" + std::to_string(factor);
  return clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr);
}

class Launches {
public:
  explicit Launches(const sample::Sample& s)
      : s_(s), values_(numbers(s.options().size)), in_(s.copyOf(values_, CL_MEM_READ_ONLY)) {}

  /// Of a new kernel of the program, in a queue of its own: each must be of one build.
  void run(cl_program program, unsigned times) const {
    const auto queue = s_.queue();
    const auto out = s_.array<cl_uint>(values_.size());
    const auto kernel = sample::kernel(program, "scaled");
    sample::setArguments(kernel, in_, out);
    std::vector<cl_uint> result(values_.size());
    for (unsigned i = 0; i < times; ++i) {
      sample::launch(queue, kernel, {values_.size()}, {16});
      sample::read(queue, out, result);
      const auto isOf = [&](cl_uint factor) {
        return std::equal(values_.begin(), values_.end(), result.begin(),
                          [&](cl_uint in, cl_uint out) { return out == in * factor + 1; });
      };
      sample::require(isOf(factors[0]) || isOf(factors[1]), "a launch is of two builds");
    }
  }

private:
  static std::vector<cl_uint> numbers(std::size_t count) {
    std::vector<cl_uint> values(count);
    std::iota(values.begin(), values.end(), 0);
    return values;
  }

  const sample::Sample& s_;
  std::vector<cl_uint> values_;
  sample::Memory in_;
};

void buildByThreads(sample::Sample& s) {
  const Launches launches(s);
  const auto source = [&](const char* part, unsigned i) { // that no cache holds
    return std::string("// ") + part + std::to_string(i) + "\n" + sample::builtByThreadsSource;
  };
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    const auto program = s.unbuiltProgram(source("again ", i));
    sample::check(build(program, factors[0]), "clBuildProgram");
    launches.run(program, 1);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(700 * i));
      try {
        launches.run(program, 3);
      } catch (const sample::Failure& failure) {
        // While it is being built there may be no kernel of it.
        if (std::string(failure.what()).find("two builds") != std::string::npos)
          std::terminate();
      }
    });
    const cl_int status = build(program, factors[1]);
    other.join();
    sample::require(status == CL_SUCCESS || status == CL_INVALID_OPERATION, "clBuildProgram");
  }
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    const auto program = s.unbuiltProgram(source("at once ", i));
    cl_int status[2] = {};
    std::atomic<unsigned> ready = 0;
    auto meet = [&](unsigned which) {
      for (++ready; ready < 2;)
        std::this_thread::yield();
      status[which] = build(program, factors[which]);
    };
    std::thread other([&] { meet(1); });
    meet(0);
    other.join();
    if (status[0] == CL_SUCCESS && status[1] == CL_SUCCESS)
      launches.run(program, 2);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1024, .iterations = 4}, buildByThreads);
}
