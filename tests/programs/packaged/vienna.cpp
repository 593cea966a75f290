// ViennaCL: vectors, matrices, sparse matrices, conjugate gradients. Writes all to the given file.
#define VIENNACL_WITH_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <viennacl/compressed_matrix.hpp>
#include <viennacl/linalg/cg.hpp>
#include <viennacl/linalg/inner_prod.hpp>
#include <viennacl/linalg/norm_1.hpp>
#include <viennacl/linalg/norm_2.hpp>
#include <viennacl/linalg/prod.hpp>
#include <viennacl/linalg/sum.hpp>
#include <viennacl/matrix.hpp>
#include <viennacl/scalar.hpp>
#include <viennacl/vector.hpp>

#include <fstream>
#include <map>
#include <vector>

int main(int, char** arguments) {
  viennacl::ocl::set_context_device_type(0, CL_DEVICE_TYPE_CPU);
  viennacl::ocl::set_context_device_num(0, 1);
  std::ofstream file(arguments[1], std::ios::binary);
  const std::size_t n = 4096, side = 96;
  auto keep = [&](const viennacl::vector<float>& result) {
    std::vector<float> host(result.size());
    viennacl::copy(result.begin(), result.end(), host.begin());
    file.write(reinterpret_cast<const char*>(host.data()),
               static_cast<std::streamsize>(host.size() * sizeof(float)));
  };
  auto keepOne = [&](float number) {
    file.write(reinterpret_cast<const char*>(&number), sizeof number);
  };
  std::vector<float> host(n);
  for (std::size_t i = 0; i < n; ++i)
    host[i] = static_cast<float>(i * 7 % 101) / 101;
  viennacl::vector<float> x(n), y(n);
  viennacl::copy(host.begin(), host.end(), x.begin());
  y = 2.0f * x;
  y += x;
  keep(y);
  keep(viennacl::linalg::element_prod(x, y));
  keep(viennacl::linalg::element_exp(x));
  keepOne(viennacl::linalg::inner_prod(x, y));
  keepOne(viennacl::linalg::norm_1(x));
  keepOne(viennacl::linalg::norm_2(y));
  keepOne(viennacl::linalg::sum(y));

  std::vector<std::vector<float>> dense(side, std::vector<float>(side));
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j)
      dense[i][j] = static_cast<float>((i * 31 + j * 17) % 23) / 23;
  viennacl::matrix<float> a(side, side), b(side, side), c(side, side);
  viennacl::copy(dense, a);
  viennacl::copy(dense, b);
  c = viennacl::linalg::prod(a, viennacl::trans(b));
  c += a;
  viennacl::copy(c, dense);
  for (const auto& row : dense)
    file.write(reinterpret_cast<const char*>(row.data()),
               static_cast<std::streamsize>(row.size() * sizeof(float)));

  std::vector<std::map<unsigned, float>> stencil(n);
  for (unsigned i = 0; i < n; ++i) {
    stencil[i][i] = 4;
    for (unsigned d : {1U, 64U}) {
      if (i >= d)
        stencil[i][i - d] = -1;
      if (i + d < n)
        stencil[i][i + d] = -1;
    }
  }
  viennacl::compressed_matrix<float> sparse(n, n);
  viennacl::copy(stencil, sparse);
  y = viennacl::linalg::prod(sparse, x);
  keep(y);
  keep(viennacl::linalg::solve(sparse, x, viennacl::linalg::cg_tag(1e-5, 30)));
}
