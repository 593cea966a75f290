// Programs that the application compiles in units and links: what each unit was compiled from is
// kept, so that a linked program has an origin like any other, and other devices get it compiled
// and linked from the same units.
#include "runtime/session/programs.h"

#include "analysis-pass/summary/linked_program.h"
#include "analysis-pass/summary/program_kind.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

namespace {

std::shared_ptr<const Origin> originOf(const LinkedUnits& linked) {
  LinkedProgram program{{}, linked.options};
  std::shared_ptr<HeaderSnapshot> headers;
  for (const CompiledUnit& unit : linked.units) {
    program.units.push_back(unit.source);
    if (!unit.headers)
      continue;
    if (headers)
      headers->add(*unit.headers);
    else
      headers = std::make_shared<HeaderSnapshot>(*unit.headers);
  }
  return std::make_shared<const Origin>(Origin{serialize(program), {}, false, {}, headers});
}

} // namespace

SourceUnits Programs::compiling(cl_program program, std::vector<cl_device_id> devices,
                                const char* options, std::span<const HeaderUse> headers) {
  if (devices.empty())
    devices = arrayProperty<cl_device_id>(cl_.clGetProgramInfo, program, CL_PROGRAM_DEVICES);
  Lock lock(shared_.mutex);
  const std::shared_ptr<Program> tracked = find(program);
  if (!tracked)
    return {};
  SourceUnits before = tracked->units;
  CompiledUnit compiled;
  SourceUnit& unit = compiled.source;
  bool isKnown = tracked->source && kindOf(*tracked->source) == ProgramKind::OpenclC;
  if (isKnown)
    unit.text = *tracked->source;
  unit.options = options ? options : "";
  for (const HeaderUse& header : headers) {
    const auto text = find(header.program);
    isKnown = isKnown && text && text->source;
    if (isKnown)
      unit.headers.push_back({header.name, *text->source});
  }
  lock.unlock();
  std::vector<std::string_view> texts{unit.text};
  for (const EmbeddedHeader& header : unit.headers)
    texts.emplace_back(header.text);
  if (isKnown)
    compiled.headers = headersOf(texts, unit.options);
  lock.lock();
  for (cl_device_id device : devices)
    if (isKnown)
      tracked->units[device] = {compiled};
    else
      tracked->units.erase(device);
  return before;
}

void Programs::compiled(cl_program program, SourceUnits before, cl_int status) {
  if (status == CL_SUCCESS || status == CL_COMPILE_PROGRAM_FAILURE)
    return;
  const Lock lock(shared_.mutex);
  if (const auto found = find(program))
    found->units = std::move(before);
}

std::map<cl_device_id, LinkedUnits>
Programs::partsOfLink(cl_context context, std::vector<cl_device_id> devices, const char* options,
                      std::span<const cl_program> inputs) const {
  if (devices.empty())
    devices = arrayProperty<cl_device_id>(cl_.clGetContextInfo, context, CL_CONTEXT_DEVICES);
  std::map<cl_device_id, LinkedUnits> parts;
  const Lock lock(shared_.mutex);
  for (cl_device_id device : devices) {
    LinkedUnits linked{{}, options ? options : ""};
    const bool allKnown = std::ranges::all_of(inputs, [&](cl_program input) {
      const auto found = find(input);
      if (!found || !found->units.contains(device))
        return false;
      const std::vector<CompiledUnit>& units = found->units.at(device);
      linked.units.insert(linked.units.end(), units.begin(), units.end());
      return true;
    });
    if (allKnown && !linked.units.empty())
      parts[device] = std::move(linked);
  }
  return parts;
}

void Programs::linked(cl_program program, cl_context context,
                      const std::map<cl_device_id, LinkedUnits>& parts) {
  auto tracked = std::make_shared<Program>(program, context);
  tracked->opaque =
      "the program was linked from something else than plain units compiled from source";
  for (const auto& [device, linked] : parts) {
    if (linked.options == "-create-library")
      tracked->units[device] = linked.units;
    else if (linked.options.find("-create-library") == std::string::npos)
      tracked->build->origins[device] = originOf(linked);
    // A library with options of its own for its later links stays the driver's.
  }
  const Lock lock(shared_.mutex);
  if (options_.policy.kind != Policy::Kind::Off)
    preparer_.building(tracked);
  add(std::move(tracked));
}

} // namespace libsplit::runtime
