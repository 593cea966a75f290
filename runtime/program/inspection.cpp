#include "runtime/program/inspection.h"

#include "runtime/core/log.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

/// Of one kernel. What goes beyond is evaluated without.
constexpr std::size_t maxInspectors = 16;
/// Answers that are kept of one kernel: of the levels of a multigrid, of buffers that swap places,
/// of the colours of a mesh.
constexpr std::size_t maxKnown = 64;
constexpr std::uint64_t maxKnownCells = 1 << 21; // of some 32 bytes for each dimension

} // namespace

TouchedCells::TouchedCells(const CellGrid& grid, std::span<const Interval> cells)
    : grid_(grid), isAllKnown_(std::ranges::find(cells, everything) == cells.end()) {
  std::array<std::vector<Interval>, 3> slabs;
  for (unsigned d = 0; d < 3; ++d)
    slabs[d].assign(grid.cells[d], nothing);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::uint64_t rest = i;
    for (unsigned d = 0; d < 3; ++d) {
      Interval& slab = slabs[d][rest % grid.cells[d]];
      slab = hull(slab, cells[i]);
      rest /= grid.cells[d];
    }
  }
  for (unsigned d = 0; d < 3; ++d)
    slabs_[d] = Hulls(std::move(slabs[d]));
}

Interval TouchedCells::within(const GroupBox& box) const {
  Interval all = everything;
  for (unsigned d = 0; d < 3; ++d) {
    const std::uint64_t first = box.begin[d] / grid_.run[d];
    const std::uint64_t last = std::min((box.end[d] - 1) / grid_.run[d], grid_.cells[d] - 1);
    all = intersection(all, slabs_[d].between(first, last));
  }
  return all;
}

Inspections::Inspections(std::span<const KernelSummary* const> summaries) {
  for (const KernelSummary* summary : summaries) {
    for (std::size_t i = 0; summary && i < summary->accesses.size(); ++i)
      if (wantsInspection(summary->accesses[i]))
        if (const auto index = add(InspectorSource(summary->accesses[i])))
          byAccess_[{summary, i}] = *index;
    for (unsigned p = 0; summary && p < summary->parameters.size(); ++p)
      if (const auto places = placesToClaim(*summary, p))
        if (const auto index = add(InspectorSource(*places)))
          byClaimed_[{summary, p}] = *index;
  }
}

/// Its number; nothing if there are too many.
std::optional<std::size_t> Inspections::add(InspectorSource source) {
  const auto same = std::ranges::find(sources_, source.text(), &InspectorSource::text);
  const auto index = static_cast<std::size_t>(same - sources_.begin());
  if (same == sources_.end()) {
    if (sources_.size() == maxInspectors)
      return std::nullopt;
    sources_.push_back(std::move(source));
  }
  return index;
}

bool Inspections::build(const Dispatch& cl, cl_context context, cl_device_id device) {
  cl_int error = CL_SUCCESS;
  const auto program = buildProgram(cl, context, device, programOf(sources_), error);
  for (std::size_t i = 0; i < sources_.size() && error == CL_SUCCESS; ++i)
    kernels_.push_back(Ref<cl_kernel>::adopt(
        cl, cl.clCreateKernel(program.get(), ("inspect" + std::to_string(i)).c_str(), &error)));
  if (error != CL_SUCCESS)
    log(LogLevel::Info, "kernels to inspect addresses do not build (error ", error, ")");
  return error == CL_SUCCESS;
}

std::optional<std::size_t> Inspections::inspectorOf(const KernelSummary& summary,
                                                    std::size_t access) const {
  const auto found = byAccess_.find({&summary, access});
  return found == byAccess_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> Inspections::claimsOf(const KernelSummary& summary,
                                                 unsigned parameter) const {
  const auto found = byClaimed_.find({&summary, parameter});
  return found == byClaimed_.end() ? std::nullopt : std::optional(found->second);
}

std::shared_ptr<const TouchedCells> Inspections::find(const InspectionKey& key) const {
  const auto found =
      std::ranges::find(known_, key, [](const auto& entry) -> auto& { return entry.first; });
  return found == known_.end() ? nullptr : found->second;
}

void Inspections::keep(InspectionKey key, std::shared_ptr<const TouchedCells> cells) {
  knownCells_ += cells->count();
  known_.emplace_back(std::move(key), std::move(cells));
  while (known_.size() > 1 && (known_.size() > maxKnown || knownCells_ > maxKnownCells)) {
    knownCells_ -= known_.front().second->count();
    known_.pop_front();
  }
}

cl_int InspectionPass::enqueue(const Dispatch& cl, Completion& done, cl_event* last) {
  written.resize(2 * grid.count());
  cl_int status = CL_SUCCESS;
  auto create = [&](cl_mem_flags flags, std::vector<std::int64_t>& of) {
    cl_int error = CL_SUCCESS;
    const bool isInput = flags & CL_MEM_COPY_HOST_PTR;
    auto made =
        Ref<cl_mem>::adopt(cl, cl.clCreateBuffer(context, flags, of.size() * sizeof(std::int64_t),
                                                 isInput ? of.data() : nullptr, &error));
    status = status == CL_SUCCESS ? error : status;
    return made;
  };
  numbers_ = create(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, key.numbers);
  out_ = create(CL_MEM_WRITE_ONLY, written);
  if (claimBytes > 0 && status == CL_SUCCESS) {
    claims_ = Ref<cl_mem>::adopt(
        cl, cl.clCreateBuffer(context, CL_MEM_READ_WRITE, claimBytes, nullptr, &status));
    const cl_uint unclaimed = 0;
    cl_event filled = nullptr;
    if (status == CL_SUCCESS)
      status = cl.clEnqueueFillBuffer(queue, claims_.get(), &unclaimed, sizeof unclaimed, 0,
                                      claimBytes, 0, nullptr, &filled);
    if (filled)
      done.precede(Ref<cl_event>::adopt(cl, filled));
  }
  cl_uint arguments = 0;
  auto set = [&](cl_mem memory) {
    if (status == CL_SUCCESS)
      status = cl.clSetKernelArg(kernel.get(), arguments++, sizeof memory, &memory);
  };
  set(numbers_.get());
  set(out_.get());
  if (claims_)
    set(claims_.get());
  for (cl_mem each : data)
    set(each);
  const std::size_t local = lanes, global = lanes * grid.count();
  if (status == CL_SUCCESS)
    status = cl.clEnqueueNDRangeKernel(queue, kernel.get(), 1, nullptr, &global, &local, 0, nullptr,
                                       last);
  // The kernel must not keep alive what its arguments name.
  const cl_mem none = nullptr;
  while (arguments > 0)
    cl.clSetKernelArg(kernel.get(), --arguments, sizeof none, &none);
  return status;
}

cl_int InspectionPass::readBack(const Dispatch& cl, cl_event* last) {
  if (!out_)
    return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return cl.clEnqueueReadBuffer(queue, out_.get(), CL_FALSE, 0,
                                written.size() * sizeof(std::int64_t), written.data(), 0, nullptr,
                                last);
}

} // namespace libsplit::runtime
