// Prices of European options, written with the C++ bindings (opencl.hpp), NULL local size.
#include "kernels/black_scholes.h"
#include "tests/samples/sample.h"

#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>

#include <cmath>

namespace {

constexpr float rate = 0.02F;
constexpr float volatility = 0.3F;
constexpr int rounds = 20;

double cdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

void blackScholes(sample::Sample& s) {
  const std::size_t n = s.options().size;
  std::vector<float> spot = sample::randomFloats(n, 5, 30, 1);
  std::vector<float> strike = sample::randomFloats(n, 1, 100, 2);
  std::vector<float> years = sample::randomFloats(n, 0.25F, 10, 3);
  std::vector<float> call(n);
  std::vector<float> put(n);

  const cl::Context context(s.context(), true);
  const cl::Device device(s.device(), true);
  cl::CommandQueue queue(context, device);
  const cl::Program program(context, std::string(sample::blackScholesSource));
  program.build({device});
  cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::Buffer, float, float, int, cl::Buffer, cl::Buffer>
      price(program, "black_scholes");
  const cl::Buffer spotBuffer(context, spot.begin(), spot.end(), true);
  const cl::Buffer strikeBuffer(context, strike.begin(), strike.end(), true);
  const cl::Buffer yearsBuffer(context, years.begin(), years.end(), true);
  const cl::Buffer callBuffer(context, CL_MEM_WRITE_ONLY, n * sizeof(float));
  const cl::Buffer putBuffer(context, CL_MEM_WRITE_ONLY, n * sizeof(float));

  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed([&] {
      price(cl::EnqueueArgs(queue, cl::NDRange(n)), spotBuffer, strikeBuffer, yearsBuffer, rate,
            volatility, rounds, callBuffer, putBuffer)
          .wait();
    });
  cl::copy(queue, callBuffer, call.begin(), call.end());
  cl::copy(queue, putBuffer, put.begin(), put.end());

  for (std::size_t probe = 0; probe < 4096; ++probe) {
    const std::size_t i = sample::randomBits(probe) % n;
    double callValue = 0;
    double putValue = 0;
    for (int round = 0; round < rounds; ++round) {
      const double sigma = volatility + 0.001 * round;
      const double spread = sigma * std::sqrt(double{years[i]});
      const double d1 =
          (std::log(double{spot[i]} / strike[i]) + (rate + 0.5 * sigma * sigma) * years[i]) /
          spread;
      const double d2 = d1 - spread;
      const double discounted = strike[i] * std::exp(-double{rate} * years[i]);
      callValue += spot[i] * cdf(d1) - discounted * cdf(d2);
      putValue += discounted * cdf(-d2) - spot[i] * cdf(-d1);
    }
    sample::checkClose(call[i], callValue / rounds, 2e-3, "call", i);
    sample::checkClose(put[i], putValue / rounds, 2e-3, "put", i);
  }
  s.output(call);
  s.output(put);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 15, .iterations = 3}, blackScholes);
}
