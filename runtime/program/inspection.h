// Where the work-groups of launches go, as inspectors (inspector_source.h) found out on the
// program's own device, and for which contents of the buffers that holds.
//
// When a launch is planned, each access that wants inspection is looked up by what decides it: the
// NDRange, the numbers, and which buffers at which version its addresses are loaded from. What was
// not found out is demanded, together with what LaunchContents demands (contents.h says what
// happens then). An access that can't be inspected, or may not be as it does not pay, is evaluated
// by the extremes of slices.
//
// It pays as long as what it takes, shared by the launches that rest on it, is less than a tenth of
// what splitting gains: the launch's time on the program's own device less its time split, as last
// measured, and all of the former before there is a latter. That also ends inspections whose
// addresses cost as much as the kernel.
//
// Some tell whether work-items have places of their own (ClaimedPlaces). These are asked for only
// where a launch can't be split without.
#pragma once

#include "runtime/core/completion.h"
#include "runtime/plan/hulls.h"
#include "runtime/plan/inspector_source.h"

#include <deque>
#include <map>
#include <memory>
#include <utility>

namespace libsplit::runtime {

class Buffer;

/// Between which bytes the boxes of a launch go. Immutable; thread-safe.
class TouchedCells {
public:
  TouchedCells(const CellGrid& grid, std::span<const Interval> cells);

  /// `everything` where nothing is known of a group in `box`. Exact for slabs of whole cells; else
  /// more.
  Interval within(const GroupBox& box) const;
  bool isAllKnown() const { return isAllKnown_; } ///< of each group
  std::uint64_t count() const { return grid_.count(); }

private:
  CellGrid grid_;
  std::array<Hulls, 3> slabs_; ///< of the cells at each place in a dimension
  bool isAllKnown_ = true;
};

/// What decides where the work-groups of one launch go.
struct InspectionKey {
  /// A buffer that is loaded from: the version of its directory, which no other has, and where in
  /// it the argument begins.
  struct Source {
    std::uint64_t version = 0;
    std::uint64_t origin = 0;
    bool operator==(const Source&) const = default;
  };

  std::size_t inspector = 0;
  std::vector<std::int64_t> numbers; ///< as InspectorSource gives them
  std::vector<Source> sources;
  bool operator==(const InspectionKey&) const = default;
};

/// The inspectors of one kernel, and what they found. State is the session's to guard.
class Inspections {
public:
  /// By device; null where the kernel can't run.
  explicit Inspections(std::span<const KernelSummary* const> summaries);

  bool empty() const { return sources_.empty(); }
  /// Builds the kernels; blocks. False if the driver won't.
  bool build(const Dispatch& cl, cl_context context, cl_device_id device);

  /// The inspector for that access; nothing if it wants none.
  std::optional<std::size_t> inspectorOf(const KernelSummary& summary, std::size_t access) const;
  /// The inspector that tells whether all that the kernel changes in an argument, each from what it
  /// found there, lies at places of each work-item's own; nothing if there is none.
  std::optional<std::size_t> claimsOf(const KernelSummary& summary, unsigned parameter) const;
  const InspectorSource& source(std::size_t inspector) const { return sources_[inspector]; }
  const Ref<cl_kernel>& kernel(std::size_t inspector) const { return kernels_[inspector]; }

  /// What is known; null if nothing is.
  std::shared_ptr<const TouchedCells> find(const InspectionKey& key) const;
  void keep(InspectionKey key, std::shared_ptr<const TouchedCells> cells);

private:
  std::optional<std::size_t> add(InspectorSource source);

  std::vector<InspectorSource> sources_;
  std::vector<Ref<cl_kernel>> kernels_;
  std::map<std::pair<const KernelSummary*, std::size_t>, std::size_t> byAccess_;
  std::map<std::pair<const KernelSummary*, unsigned>, std::size_t> byClaimed_;      ///< parameter
  std::deque<std::pair<InspectionKey, std::shared_ptr<const TouchedCells>>> known_; ///< newest last
  std::uint64_t knownCells_ = 0;
};

/// One run of an inspector.
struct InspectionPass {
  InspectionKey key;
  CellGrid grid;
  std::size_t lanes = 1;
  std::uint64_t claimBytes = 0; ///< InspectorSource::claimBytes
  Ref<cl_kernel> kernel;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  std::vector<std::shared_ptr<Buffer>> buffers; ///< kept alive; what `data` lies in
  std::vector<cl_mem> data;
  std::vector<std::int64_t> written; ///< once it is read back

  /// Enqueue the kernel, and the reading of what it wrote. On the lane's thread; this must live
  /// until the events are complete.
  cl_int enqueue(const Dispatch& cl, Completion& done, cl_event* last);
  cl_int readBack(const Dispatch& cl, cl_event* last);

private:
  Ref<cl_mem> numbers_, out_, claims_;
};

} // namespace libsplit::runtime
