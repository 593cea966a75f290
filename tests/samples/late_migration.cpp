// Migrations and a map that does not block, each behind launches that are still under way.
#include "kernels/late_migration.h"
#include "tests/samples/sample.h"

namespace {

void lateMigration(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const std::size_t bytes = n * sizeof(cl_uint), part = bytes / 4;
  std::vector<cl_uint> numbers(n), seeds(n);
  for (std::size_t i = 0; i < n; ++i) {
    numbers[i] = static_cast<cl_uint>(77 * i);
    seeds[i] = static_cast<cl_uint>(sample::randomBits(i));
  }
  std::vector<cl_uint> expected = numbers;

  const auto queue = s.queue();
  const auto program = s.program(sample::lateMigrationSource);
  const auto stir = sample::kernel(program, "stir");
  const auto seedBuffer = s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, seeds.data());
  const auto buffer = s.buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, numbers.data());
  sample::setArguments(stir, seedBuffer, buffer);
  auto migrate = [&] {
    sample::check(clEnqueueMigrateMemObjects(queue, 1, buffer.address(), CL_MIGRATE_MEM_OBJECT_HOST,
                                             0, nullptr, nullptr),
                  "clEnqueueMigrateMemObjects");
  };
  for (unsigned round = 0; round < s.options().iterations; ++round) {
    migrate();
    sample::launch(queue, stir, {n}, {2});
    migrate();
    cl_int error = CL_SUCCESS;
    sample::Event mapped;
    auto* values = static_cast<cl_uint*>(
        clEnqueueMapBuffer(queue, buffer, CL_FALSE, CL_MAP_WRITE_INVALIDATE_REGION, part, part, 0,
                           nullptr, mapped.out(), &error));
    sample::check(error, "clEnqueueMapBuffer");
    sample::check(clWaitForEvents(1, mapped.address()), "clWaitForEvents");
    for (std::size_t i = 0; i < n; ++i)
      for (unsigned k = 0; k < 3; ++k)
        expected[i] = expected[i] * 1664525 + seeds[(i + k) % 8192];
    for (std::size_t i = 0; i < part / sizeof(cl_uint); ++i)
      values[i] = expected[n / 4 + i] = static_cast<cl_uint>(i * round);
    sample::check(clEnqueueUnmapMemObject(queue, buffer, values, 0, nullptr, nullptr), "unmap");
  }
  std::vector<cl_uint> result(n);
  sample::read(queue, buffer, result);
  sample::require(result == expected, "the numbers are wrong");
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 8192, .iterations = 12}, lateMigration);
}
