// Boost.Compute's algorithms. Writes all results to the file that is given.
#define CL_TARGET_OPENCL_VERSION 120
#include <boost/compute.hpp>

#include <fstream>
#include <vector>

namespace compute = boost::compute;

int main(int, char** arguments) {
  compute::device device = compute::system::platforms().at(0).devices().at(0);
  compute::context context(device);
  compute::command_queue queue(context, device);
  std::ofstream file(arguments[1], std::ios::binary);
  const std::size_t n = 20000;
  std::vector<int> values(n);
  unsigned state = 1;
  for (int& value : values)
    value = static_cast<int>((state = state * 1664525 + 1013904223) >> 12);
  auto keep = [&](const compute::vector<int>& result) {
    std::vector<int> host(result.size());
    compute::copy(result.begin(), result.end(), host.begin(), queue);
    file.write(reinterpret_cast<const char*>(host.data()),
               static_cast<std::streamsize>(host.size() * sizeof(int)));
  };
  compute::vector<int> in(values.begin(), values.end(), queue), out(n, context);
  compute::vector<int> a(in, queue);
  compute::sort(a.begin(), a.end(), queue);
  keep(a);
  compute::stable_sort(a.begin(), a.end(), compute::greater<int>(), queue);
  keep(a);
  compute::exclusive_scan(in.begin(), in.end(), out.begin(), queue);
  keep(out);
  compute::inclusive_scan(in.begin(), in.end(), out.begin(), queue);
  keep(out);
  using compute::lambda::_1;
  compute::transform(in.begin(), in.end(), out.begin(), _1 * 3 + 4, queue);
  keep(out);
  int sum = 0;
  compute::reduce(in.begin(), in.end(), &sum, queue);
  std::vector<int> numbers = {sum};
  numbers.push_back(static_cast<int>(compute::count_if(in.begin(), in.end(), _1 % 3 == 0, queue)));
  numbers.push_back(*compute::max_element(in.begin(), in.end(), queue));
  numbers.push_back(compute::accumulate(in.begin(), in.end(), 0, queue));
  keep(compute::vector<int>(numbers.begin(), numbers.end(), queue));
  a = in;
  auto end = compute::copy_if(in.begin(), in.end(), a.begin(), _1 % 2 == 0, queue);
  a.resize(static_cast<std::size_t>(end - a.begin()), queue);
  keep(a);
  a.assign(in.begin(), in.end(), queue);
  compute::reverse(a.begin(), a.end(), queue);
  keep(a);
  compute::rotate(a.begin(), a.begin() + 777, a.end(), queue);
  keep(a);
  compute::iota(a.begin(), a.end(), 5, queue);
  keep(a);
  compute::gather(a.begin(), a.begin() + 100, in.begin(), out.begin(), queue);
  compute::fill(out.begin(), out.begin() + 50, 9, queue);
  keep(out);
  compute::partition(in.begin(), in.end(), _1 < 100000, queue);
  keep(in);
  compute::mersenne_twister_engine<compute::uint_> engine(queue, 7);
  compute::vector<compute::uint_> random(n, context);
  engine.generate(random.begin(), random.end(), queue);
  std::vector<compute::uint_> host(n);
  compute::copy(random.begin(), random.end(), host.begin(), queue);
  file.write(reinterpret_cast<const char*>(host.data()),
             static_cast<std::streamsize>(n * sizeof(compute::uint_)));
}
