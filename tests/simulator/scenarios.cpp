#include "tests/simulator/scenarios.h"

namespace libsplit::simulator {

namespace {

using Range = KernelUse::Range;

WorldDevice gpu(NodeId node) {
  WorldDevice device;
  device.node = node;
  device.isGpu = device.isAlike = true;
  device.fill = 8;
  return device;
}

WorldDevice core() {
  WorldDevice device;
  device.isAlike = true;
  device.fixed = 30e-6;
  return device;
}

World twoGpus() {
  World world;
  world.devices = {gpu(1), gpu(2)};
  world.links = {{}, {20e-6, 1 / 7e9}, {20e-6, 1 / 7e9}};
  world.noise = 0.01;
  return world;
}

} // namespace

World spmv() {
  World world = twoGpus();
  world.buffers = {1'600'000'000, 16'000'000, 16'000'000};
  WorldKernel kernel;
  kernel.groups = 16384;
  kernel.work = 1.9e-3;
  kernel.shape = Shape::Rising;
  kernel.uses = {
      {0, Range::Slab, true, false}, {1, Range::Whole, true, false}, {2, Range::Slab, false, true}};
  world.kernels = {kernel};
  world.sequence = {0};
  world.launches = 3000;
  return world;
}

World shortStencil() {
  World world = twoGpus();
  world.links = {{}, {11e-6, 1 / 20e9}, {11e-6, 1 / 20e9}};
  world.buffers = {268'435'456, 268'435'456};
  world.haloBytes = 65536;
  WorldKernel there;
  there.groups = 4096;
  there.work = 235e-6;
  there.uses = {{0, Range::Halo, true, false}, {1, Range::Slab, false, true}};
  WorldKernel back = there;
  back.uses = {{1, Range::Halo, true, false}, {0, Range::Slab, false, true}};
  world.kernels = {there, back};
  world.sequence = {0, 1};
  world.launches = 10000;
  return world;
}

World latticeBoltzmann() {
  World world = twoGpus();
  world.links = {{}, {20e-6, 1 / 40e9}, {20e-6, 1 / 40e9}};
  world.buffers = {7'000'000'000};
  world.haloBytes = 5'000'000;
  WorldKernel kernel;
  kernel.groups = 512;
  kernel.work = 3.65e-3;
  kernel.uses = {{0, Range::Halo, true, true}};
  world.kernels = {kernel};
  world.sequence = {0};
  world.launches = 5000;
  return world;
}

World slowHelper(std::uint64_t launches) {
  World world = twoGpus();
  WorldDevice cpu;
  cpu.speed = 1.0 / 500;
  cpu.guess = 1.0 / 30;
  cpu.fill = 1;
  world.devices.push_back(cpu);
  world.buffers = {64'000'000, 64'000'000};
  WorldKernel kernel;
  kernel.groups = 4096;
  kernel.work = 0.25;
  kernel.uses = {{0, Range::Slab, true, false}, {1, Range::Slab, false, true}};
  world.kernels = {kernel};
  world.sequence = {0};
  world.launches = launches;
  return world;
}

World nBody(std::uint64_t seed) {
  World world;
  world.seed = seed;
  world.devices = {core(), core()};
  world.links.resize(1);
  world.noise = 0.02;
  world.outliers = 0.02;
  world.compileSeconds = 0.15;
  world.buffers = {1'000'000, 1'000'000};
  WorldKernel kernel;
  kernel.groups = 64;
  kernel.work = 36e-3;
  kernel.uses = {{0, Range::Whole, true, false}, {1, Range::Slab, false, true}};
  WorldKernel back = kernel;
  back.uses = {{1, Range::Whole, true, false}, {0, Range::Slab, false, true}};
  world.kernels = {kernel, back};
  world.sequence = {0, 1};
  world.launches = 40;
  world.waits = seed % 2 == 0;
  return world;
}

World disturbedNBody(std::uint64_t seed) {
  World world = nBody(seed);
  world.outliers = 0;
  world.launches = 200;
  for (double from = 0.5; from < 8; from += 1.3) {
    world.devices[seed % 2].paces.push_back({from, 0.5});
    world.devices[seed % 2].paces.push_back({from + 0.3, 1});
  }
  return world;
}

World lateDevice() {
  World world = computeBound(9.6e-3, false);
  WorldDevice cpu;
  cpu.speed = 0.05;
  cpu.guess = 0.03;
  cpu.readyAt = 1.0;
  world.devices.push_back(cpu);
  world.launches = 120;
  return world;
}

World fewGroups() {
  World world;
  world.devices = {core(), core()};
  world.links.resize(1);
  world.buffers = {1'000'000, 1'000'000};
  WorldKernel kernel;
  kernel.groups = 8;
  kernel.work = 12;
  kernel.uses = {{0, Range::Whole, true, false}, {1, Range::Slab, false, true}};
  world.kernels = {kernel};
  world.sequence = {0};
  world.launches = 8;
  return world;
}

World computeBound(double seconds, bool waits) {
  World world = twoGpus();
  world.buffers = {4'000'000, 4'000'000};
  WorldKernel kernel;
  kernel.groups = 4096;
  kernel.work = seconds;
  kernel.uses = {{0, Range::Slab, true, false}, {1, Range::Slab, false, true}};
  world.kernels = {kernel};
  world.sequence = {0};
  world.waits = waits;
  world.launches = static_cast<std::uint64_t>(3.0 / seconds);
  return world;
}

} // namespace libsplit::simulator
