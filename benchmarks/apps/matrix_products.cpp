// Products of `size` x `size` matrices, by variant: gemm and blocked (in tiles of local memory)
// give c = beta c + alpha a b, 2mm gives d = beta d + alpha a b c, 3mm gives (a b)(c d), syrk
// c = beta c + alpha a a^T, and syr2k c = beta c + alpha (a b^T + b a^T). One iteration computes
// all of it.
#include "kernels/matrix_products.h"
#include "benchmarks/apps/dense.h"
#include "tests/samples/sample.h"

namespace {

using apps::Matrix;
using apps::Vector;

constexpr std::size_t tile = 16;
constexpr float alpha = 0.75F, beta = 0.5F;

class Products {
public:
  explicit Products(sample::Sample& s)
      : n(sample::roundUp(s.options().size, tile)), sample_(s), queue_(s.queue()),
        program_(s.program(sample::matrixProductsSource, "-D TILE=16")) {}

  sample::Kernel kernel(const char* name) { return sample::kernel(program_, name); }

  template <typename... Arguments> void enqueue(cl_kernel kernel, const Arguments&... arguments) {
    sample::setArguments(kernel, static_cast<cl_uint>(n), arguments...);
    sample::launch(queue_, kernel, {n, n}, {tile, tile});
  }

  /// Runs `enqueueAll` as often as the command line says, then compares `result` * x with
  /// step(step(...(before * x))).
  void run(const std::function<void()>& enqueueAll, cl_mem result, const Matrix& before,
           const std::function<Vector(const Vector& x, const Vector& last)>& step) {
    for (unsigned i = 0; i < sample_.options().iterations; ++i)
      sample_.timed(queue_, enqueueAll);
    Matrix after(n);
    sample::read(queue_, result, after.values);
    sample_.verify([&] {
      const Vector x = apps::randomVector(n);
      Vector expected = before.times(x);
      for (unsigned i = 0; i < sample_.options().iterations; ++i)
        expected = step(x, expected);
      sample::checkAll(after.times(x), expected, 1e-3, "(c x)");
    });
    sample_.output(after.values);
  }

  const std::size_t n;

private:
  sample::Sample& sample_;
  sample::Queue queue_;
  sample::Program program_;
};

void gemmBy(sample::Sample& s, const char* kernelName) {
  Products products(s);
  const Matrix a(s, products.n, 1), b(s, products.n, 2), c(s, products.n, 3);
  const auto kernel = products.kernel(kernelName);
  const auto aBuffer = s.copyOf(a.values), bBuffer = s.copyOf(b.values),
             cBuffer = s.copyOf(c.values);
  products.run([&] { products.enqueue(kernel, alpha, beta, aBuffer, bBuffer, cBuffer); }, cBuffer,
               c,
               [&](const Vector& x, const Vector& last) {
                 return apps::sum(beta, last, alpha, a.times(b.times(x)));
               });
}

void gemm(sample::Sample& s) {
  gemmBy(s, "gemm");
}

void blocked(sample::Sample& s) {
  gemmBy(s, "blocked");
}

void twoProducts(sample::Sample& s) {
  Products products(s);
  const Matrix a(s, products.n, 1), b(s, products.n, 2), c(s, products.n, 3), d(s, products.n, 4);
  const auto product = products.kernel("product");
  const auto gemm = products.kernel("gemm");
  const auto aBuffer = s.copyOf(a.values), bBuffer = s.copyOf(b.values),
             cBuffer = s.copyOf(c.values), dBuffer = s.copyOf(d.values);
  const auto between = s.array<float>(products.n * products.n);
  auto enqueueAll = [&] {
    products.enqueue(product, alpha, aBuffer, bBuffer, between);
    products.enqueue(gemm, 1.0F, beta, between, cBuffer, dBuffer);
  };
  products.run(enqueueAll, dBuffer, d, [&](const Vector& x, const Vector& last) {
    return apps::sum(beta, last, alpha, a.times(b.times(c.times(x))));
  });
}

void threeProducts(sample::Sample& s) {
  Products products(s);
  const Matrix a(s, products.n, 1), b(s, products.n, 2), c(s, products.n, 3), d(s, products.n, 4);
  const auto product = products.kernel("product");
  const auto aBuffer = s.copyOf(a.values), bBuffer = s.copyOf(b.values),
             cBuffer = s.copyOf(c.values), dBuffer = s.copyOf(d.values);
  const std::size_t elements = products.n * products.n;
  const auto left = s.array<float>(elements), right = s.array<float>(elements),
             result = s.array<float>(elements);
  auto enqueueAll = [&] {
    products.enqueue(product, 1.0F, aBuffer, bBuffer, left);
    products.enqueue(product, 1.0F, cBuffer, dBuffer, right);
    products.enqueue(product, 1.0F, left, right, result);
  };
  products.run(enqueueAll, result, Matrix(products.n), [&](const Vector& x, const Vector&) {
    return a.times(b.times(c.times(d.times(x))));
  });
}

void syrk(sample::Sample& s) {
  Products products(s);
  const Matrix a(s, products.n, 1), c(s, products.n, 2);
  const auto kernel = products.kernel("syrk");
  const auto aBuffer = s.copyOf(a.values), cBuffer = s.copyOf(c.values);
  products.run([&] { products.enqueue(kernel, alpha, beta, aBuffer, cBuffer); }, cBuffer, c,
               [&](const Vector& x, const Vector& last) {
                 return apps::sum(beta, last, alpha, a.times(a.transposedTimes(x)));
               });
}

void syr2k(sample::Sample& s) {
  Products products(s);
  const Matrix a(s, products.n, 1), b(s, products.n, 2), c(s, products.n, 3);
  const auto kernel = products.kernel("syr2k");
  const auto aBuffer = s.copyOf(a.values), bBuffer = s.copyOf(b.values),
             cBuffer = s.copyOf(c.values);
  products.run([&] { products.enqueue(kernel, alpha, beta, aBuffer, bBuffer, cBuffer); }, cBuffer,
               c,
               [&](const Vector& x, const Vector& last) {
                 return apps::sum(
                     beta, last, alpha,
                     apps::sum(1, a.times(b.transposedTimes(x)), 1, b.times(a.transposedTimes(x))));
               });
}

void run(sample::Sample& s) {
  sample::choose(s, {{"gemm", gemm},
                     {"blocked", blocked},
                     {"2mm", twoProducts},
                     {"3mm", threeProducts},
                     {"syrk", syrk},
                     {"syr2k", syr2k}});
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 512, .iterations = 5, .variant = "gemm"}, run);
}
