// Products of `size` x `size` matrices and vectors, by variant: atax gives a^T (a x), bicg the two
// products of a biconjugate gradient step, a p and a^T r, mvt adds a y to one vector and a^T z to
// another, gesummv gives alpha a x + beta b x. Each element of the matrix is used once or twice:
// what this takes is the memory's time, or, where data has to move first, the bus's.
#include "kernels/matrix_vector.h"
#include "benchmarks/apps/dense.h"
#include "tests/samples/sample.h"

namespace {

using apps::Matrix;
using apps::Vector;

constexpr std::size_t groupSize = 64;

class Products {
public:
  explicit Products(sample::Sample& s)
      : n(s.options().size), sample_(s), queue_(s.queue()),
        program_(s.program(sample::matrixVectorSource)) {}

  sample::Kernel kernel(const char* name) { return sample::kernel(program_, name); }

  template <typename... Arguments> void enqueue(cl_kernel kernel, const Arguments&... arguments) {
    sample::setArguments(kernel, static_cast<cl_uint>(n), arguments...);
    sample::launch(queue_, kernel, {sample::roundUp(n, groupSize)}, {groupSize});
  }

  void run(const std::function<void()>& enqueueAll) {
    for (unsigned i = 0; i < sample_.options().iterations; ++i)
      sample_.timed(queue_, enqueueAll);
  }

  void compare(cl_mem result, const std::function<Vector()>& expected, const char* what) {
    std::vector<float> values(n);
    sample::read(queue_, result, values);
    sample_.verify([&] { sample::checkAll(values, expected(), 1e-4, what); });
    sample_.output(values);
  }

  const std::size_t n;

private:
  sample::Sample& sample_;
  sample::Queue queue_;
  sample::Program program_;
};

Vector widened(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

void atax(sample::Sample& s) {
  Products products(s);
  const Matrix a(s, products.n, 1);
  const std::vector<float> x = s.randomFloats(products.n, -1, 1, 2);
  const auto times = products.kernel("times");
  const auto transposedTimes = products.kernel("transposed_times");
  const auto aBuffer = s.copyOf(a.values), xBuffer = s.copyOf(x);
  const auto between = s.array<float>(products.n), y = s.array<float>(products.n);
  products.run([&] {
    products.enqueue(times, aBuffer, xBuffer, between);
    products.enqueue(transposedTimes, aBuffer, between, y);
  });
  products.compare(y, [&] { return a.transposedTimes(a.times(widened(x))); }, "a^T a x");
}

void bicg(sample::Sample& s) {
  Products products(s);
  const Matrix a(s, products.n, 1);
  const std::vector<float> p = s.randomFloats(products.n, -1, 1, 2),
                           r = s.randomFloats(products.n, -1, 1, 3);
  const auto times = products.kernel("times");
  const auto transposedTimes = products.kernel("transposed_times");
  const auto aBuffer = s.copyOf(a.values), pBuffer = s.copyOf(p), rBuffer = s.copyOf(r);
  const auto ap = s.array<float>(products.n), atr = s.array<float>(products.n);
  products.run([&] {
    products.enqueue(times, aBuffer, pBuffer, ap);
    products.enqueue(transposedTimes, aBuffer, rBuffer, atr);
  });
  products.compare(ap, [&] { return a.times(widened(p)); }, "a p");
  products.compare(atr, [&] { return a.transposedTimes(widened(r)); }, "a^T r");
}

void mvt(sample::Sample& s) {
  Products products(s);
  const Matrix a(s, products.n, 1);
  const std::vector<float> y = s.randomFloats(products.n, -1, 1, 2),
                           z = s.randomFloats(products.n, -1, 1, 3),
                           first = s.randomFloats(products.n, -1, 1, 4);
  const auto addTimes = products.kernel("add_times");
  const auto addTransposed = products.kernel("add_transposed_times");
  const auto aBuffer = s.copyOf(a.values), yBuffer = s.copyOf(y), zBuffer = s.copyOf(z);
  const auto one = s.copyOf(first), other = s.copyOf(first);
  products.run([&] {
    products.enqueue(addTimes, aBuffer, yBuffer, one);
    products.enqueue(addTransposed, aBuffer, zBuffer, other);
  });
  const double times = s.options().iterations;
  products.compare(
      one, [&] { return apps::sum(1, widened(first), times, a.times(widened(y))); }, "x + a y");
  products.compare(
      other, [&] { return apps::sum(1, widened(first), times, a.transposedTimes(widened(z))); },
      "x + a^T z");
}

void gesummv(sample::Sample& s) {
  constexpr float alpha = 0.75F, beta = -0.5F;
  Products products(s);
  const Matrix a(s, products.n, 1), b(s, products.n, 2);
  const std::vector<float> x = s.randomFloats(products.n, -1, 1, 3);
  const auto kernel = products.kernel("gesummv");
  const auto aBuffer = s.copyOf(a.values), bBuffer = s.copyOf(b.values), xBuffer = s.copyOf(x);
  const auto y = s.array<float>(products.n);
  products.run([&] { products.enqueue(kernel, alpha, beta, aBuffer, bBuffer, xBuffer, y); });
  products.compare(
      y, [&] { return apps::sum(alpha, a.times(widened(x)), beta, b.times(widened(x))); },
      "(alpha a + beta b) x");
}

void run(sample::Sample& s) {
  sample::choose(s, {{"atax", atax}, {"bicg", bicg}, {"mvt", mvt}, {"gesummv", gesummv}});
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 4096, .iterations = 10, .variant = "atax"}, run);
}
