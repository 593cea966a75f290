#include "runtime/session/samplers.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

Argument argumentOf(const void* value, std::size_t size) {
  Argument argument;
  argument.value.assign({static_cast<const std::byte*>(value), size});
  return argument;
}

TEST(Samplers, KnowThoseThatTheProgramHas) {
  Samplers samplers;
  int some = 0;
  const auto sampler = reinterpret_cast<cl_sampler>(&some);
  const Argument argument = argumentOf(&sampler, sizeof sampler);
  EXPECT_EQ(samplers.of(argument), nullptr);
  samplers.created(sampler);
  samplers.retained(sampler);
  samplers.released(sampler);
  EXPECT_EQ(samplers.of(argument), sampler);
  EXPECT_EQ(samplers.of(argumentOf(&sampler, 4)), nullptr); // a number of another size
  samplers.released(sampler);
  EXPECT_EQ(samplers.of(argument), nullptr);
  samplers.released(sampler); // one too many
}

} // namespace
} // namespace libsplit::runtime
