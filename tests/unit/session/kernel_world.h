// A world (world.h) with a kernel.
#pragma once

#include "runtime/session/memory_table.h"
#include "runtime/session/splittable.h"

#include "tests/unit/session/world.h"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace libsplit::runtime {

/// A kernel (global buffer, int) that is ready on both devices, with both arguments set.
struct KernelWorld : World {
  KernelSummary summary;
  Samplers samplers;
  Kernel kernel;
  std::array<std::size_t, 3> global{1024, 1, 1}, local{64, 1, 1};
  LaunchArguments arguments;
  std::shared_ptr<MemoryObject> object = std::make_shared<MemoryObject>();

  explicit KernelWorld(Options options = {}) : World(std::size_t{1} << 20, std::move(options)) {
    summary.parameters.resize(2);
    summary.parameters[0].name = "out";
    summary.parameters[0].kind = ParameterKind::GlobalBuffer;
    summary.parameters[1].name = "n";
    summary.parameters[1].kind = ParameterKind::Scalar;
    summary.parameters[1].size = 4;
    kernel.program = std::make_shared<Program>(nullptr, context.get());
    kernel.code = std::make_shared<KernelCode>();
    kernel.code->stats = std::make_shared<KernelStats>();
    kernel.code->kinds = {ArgumentKind::Memory, ArgumentKind::Value};
    kernel.code->summaries = {&summary, &summary};
    kernel.code->loaded = {false, false};
    kernel.code->origin = std::make_shared<const Origin>();
    for (int each = 0; each < 2; ++each) {
      kernel.code->kernels.push_back(std::make_shared<LaneKernel>());
      kernel.code->kernels.back()->maxGroup = 256;
    }
    object->buffer = buffer(someBytes(4096));
    object->size = 4096;
    const cl_mem home = object->buffer->home();
    kernel.arguments.resize(2);
    kernel.arguments[0].candidate = object;
    set(0, &home, sizeof home);
    const cl_int n = 1024;
    set(1, &n, sizeof n);
    arguments = {kernel.handle, 1, nullptr, global.data(), local.data()};
  }
  void set(std::size_t parameter, const void* value, std::size_t size) {
    Argument& argument = kernel.arguments[parameter];
    const auto* bytes = static_cast<const std::byte*>(value);
    argument.isSet = true;
    argument.size = size;
    argument.value.assign({bytes, size});
  }
  std::string why() const {
    return whyNotSplittable(*shared.machine, shared.options, samplers, kernel, arguments);
  }
};

} // namespace libsplit::runtime
