// The Fourier transform of 2^size complex numbers, `iterations` times: `size` launches that differ
// by a scalar argument alone. What a work-group writes lies in two pieces, and it reads two that
// are half of the array apart, so that every pass needs half of its input from elsewhere.
#include "kernels/fft.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

namespace {

constexpr std::size_t groupSize = 64;

using Complex = std::complex<float>;

std::complex<double> bin(const std::vector<Complex>& signal, std::size_t k) {
  const double turn = -2 * std::numbers::pi / static_cast<double>(signal.size());
  std::complex<double> sum;
  for (std::size_t i = 0; i < signal.size(); ++i)
    sum += std::complex<double>(signal[i]) *
           std::polar(1.0, turn * static_cast<double>(i * k % signal.size()));
  return sum;
}

double energy(const std::vector<Complex>& values) {
  double sum = 0;
  for (const Complex& value : values)
    sum += std::norm(std::complex<double>(value));
  return sum;
}

void fft(sample::Sample& s) {
  sample::require(s.options().size >= 7 && s.options().size <= 28,
                  "--size is the binary logarithm of the points");
  const std::size_t n = std::size_t{1} << s.options().size;
  std::vector<Complex> signal(n), spectrum(n);
  for (std::size_t i = 0; i < n; ++i)
    signal[i] = {s.randomFloat(i, -1, 1, 1), s.randomFloat(i, -1, 1, 2)};

  const auto queue = s.queue();
  const auto program = s.program(sample::fftSource);
  const auto kernel = sample::kernel(program, "fft_pass");
  const auto input = s.copyOf(signal, CL_MEM_READ_ONLY);
  auto from = s.array<Complex>(n), to = s.array<Complex>(n);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      for (std::size_t length = 1; length < n; length *= 2) {
        sample::setArguments(kernel, static_cast<cl_uint>(n), static_cast<cl_uint>(length),
                             length == 1 ? input : from, to);
        sample::launch(queue, kernel, {n / 2}, {groupSize});
        std::swap(from, to);
      }
    });
  sample::read(queue, from, spectrum);
  s.verify([&] {
    const double scale = std::sqrt(static_cast<double>(n));
    sample::inParallel(
        64,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t probe = begin; probe < end; ++probe) {
            const std::size_t k = sample::randomBits(probe) % n;
            const std::complex<double> expected = bin(signal, k) / scale;
            sample::checkClose(spectrum[k].real() / scale, expected.real(), 1e-4, "real part", k);
            sample::checkClose(spectrum[k].imag() / scale, expected.imag(), 1e-4, "imaginary", k);
          }
        },
        8);
    sample::checkClose(energy(spectrum) / energy(signal) / static_cast<double>(n), 1, 1e-4,
                       "energy by Parseval's theorem", 0);
  });
  s.output(spectrum);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 20, .iterations = 10}, fft);
}
