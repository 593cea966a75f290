// What the buffers hold that a launch's regions depend on: index arrays, row bounds, block lists.
//
// A launch is planned by numbers that lie in memory, so these must be known first, and still hold.
// They hold while nobody writes the buffer: every write gives its directory a new version. And they
// are known where the bytes are on the host with nothing left that writes them, or, for slices too
// long to be looked through at each launch, where a table of extremes has been made. What is asked
// for and not known becomes a *demand*. The launch then stays parked, a background thread waits for
// the writers, the bytes are brought to the host as for a read, tables are made, and the launch is
// planned again; nobody waits for it but what comes after it in its queue. A program that does not
// touch its index arrays pays once.
//
// Worked example: CSR on two nodes. Planning asks for row[0], row[n/2], ... of an array that lies
// on a GPU: demanded, 4 bytes each; as pages, two reads. Planned again, the rows' bounds are exact,
// and the least and greatest of columns [0, m) is asked for: demanded, a table. Planned a third
// time, everything is known. The next launch finds its plan ready: the versions are the same.
#pragma once

#include "runtime/plan/known_contents.h"
#include "runtime/plan/planner.h"
#include "runtime/program/inspection.h"

#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace libsplit::runtime {

class Buffer;
class Machine;
struct Launch;
struct Task;

/// What must be had before a launch can be planned by contents.
struct ContentsDemand {
  std::size_t buffer = 0; ///< index into the launch's distinct buffers
  ByteSet bytes;          ///< on the host
  std::vector<ElementLayout> tables;
};

/// As long as it lives, the planning of `request` may ask `contents` (null: nothing).
class Asking {
public:
  Asking(LaunchRequest& request, Contents* contents) : request_(request) {
    request_.contents = contents;
  }
  ~Asking() { request_.contents = nullptr; }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

private:
  LaunchRequest& request_;
};

/// Answers one launch's questions from what is known now. Session's lock held.
class LaunchContents final : public Contents {
public:
  LaunchContents(Machine& machine, const Task& task, const Launch& launch);

  std::optional<Interval> values(const ElementSlice& slice) override;
  std::optional<Interval> touched(const KernelSummary& summary, std::size_t access,
                                  const GroupBox& box) override;
  bool areDistinct(std::span<const KernelSummary* const> summaries, unsigned parameter) override;

  const std::vector<ContentsDemand>& demands() const { return demands_; }
  /// Inspections without which the planning is worth little. `ofClaims`: those that tell whether
  /// places are distinct, which only a plan that merges has to know.
  std::vector<InspectionKey> inspections(bool ofClaims) const;

private:
  bool mayBeWritten(const BufferArgument& argument) const;
  bool isReadable(Buffer& buffer, ByteRange bytes) const;
  ContentsDemand& demand(std::size_t buffer);
  /// One inspector's answer for this launch.
  struct Inspected {
    enum class State { Known, Demanded, Refused } state = State::Refused;
    std::shared_ptr<const TouchedCells> cells;
  };
  Inspected look(std::size_t inspector);
  const Inspected& answerOf(std::size_t inspector);
  const BufferArgument* argumentOf(unsigned parameter) const;

  Machine& machine_;
  const LaunchRequest& request_;
  const Inspections* known_; ///< null: without inspections
  std::span<const std::shared_ptr<Buffer>> buffers_;
  const std::vector<bool>& writes_;
  bool settled_; ///< nothing that the launch waits for is still under way
  std::vector<ContentsDemand> demands_;
  std::vector<InspectionKey> inspections_;
  std::map<std::size_t, Inspected> inspected_; ///< by inspector
};

/// The elements on whose values the kernel's regions depend.
std::set<LoadedElements> contentElements(const KernelSummary& summary);

} // namespace libsplit::runtime
