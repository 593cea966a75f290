// What the runtime decides for launches of a simulated program: its controllers, its cycle and its
// rules about memory, called as the runtime calls them (plan_launch.cpp, observe_launch.cpp).
#pragma once

#include "tests/simulator/world.h"

#include <memory>

namespace libsplit::simulator {

std::unique_ptr<Policy> makeRuntimePolicy(const World& world, const std::string& policy = "auto");

std::unique_ptr<Policy> makeModelPolicy(const World& world);

} // namespace libsplit::simulator
