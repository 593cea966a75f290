#include "analysis-pass/summary/evaluate.h"

namespace libsplit {

std::vector<ArgumentRegions> evaluate(const KernelSummary& summary, const NDRange&,
                                      std::span<const ArgumentValue> arguments, const GroupBox& box,
                                      std::size_t) {
  std::vector<ArgumentRegions> regions(summary.parameters.size());
  if (box.empty())
    return regions;
  for (const Access& access : summary.accesses) {
    if (access.parameter >= regions.size() || access.parameter >= arguments.size())
      continue;
    ArgumentRegions& r = regions[access.parameter];
    const ByteSet whole(0, arguments[access.parameter].bufferSize);
    (access.effect == Effect::Read ? r.reads : r.possibleWrites) = whole;
    (access.effect == Effect::Read ? r.unknownReads : r.unknownWrites) =
        Reason{"regions are not evaluated yet", access.where};
  }
  return regions;
}

} // namespace libsplit
