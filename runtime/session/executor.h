// Makes plans happen: a launch's pieces, or the whole of it at home, become transfers and
// instructions of the devices' lanes.
//
// A plan is lowered to a graph of copies and kernels (plan/instruction_graph.h) and that is
// compiled to what the drivers are handed (program/compiled_graph.h), or what a launch before came
// to is used again. All copies are issued before any kernel, since a kernel may overwrite what
// another has to read first. Each waits for what the graph says, for earlier launches' work on the
// same bytes, and nothing else. If several nodes change the same bytes, merges follow (merger.h).
#pragma once

#include "runtime/core/spares.h"
#include "runtime/device/provider.h"
#include "runtime/plan/instruction_graph.h"
#include "runtime/session/command.h"
#include "runtime/session/copy_room.h"
#include "runtime/session/group_shapes.h"
#include "runtime/session/merger.h"
#include "runtime/session/samplers.h"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// Under the session's lock.
class Executor {
public:
  Executor(Shared& shared, Provider& provider, Issuer& issuer, Mover& mover, Merger& merger,
           const GroupShapes& shapes, CopyRoom::Build buildWindowed)
      : cl_(shared.cl), machine_(shared.machine), tracer_(shared.tracer), provider_(provider),
        issuer_(issuer), mover_(mover), merger_(merger), shapes_(shapes),
        copyRoom_(shared, mover, std::move(buildWindowed)) {}

  /// Makes sure that everything a plan needs can be had, before anything happens. Why not, if not;
  /// or the task waits until it is known.
  std::string reserve(Task& task, Launch& launch, const LaunchPlan& plan);
  /// Makes the launch's buffers exist on `device`, or begins to, for a piece that uses them so; no
  /// `uses`: for any. If some is `pending`, it has to be asked again once that is over. Why not, if
  /// they can't.
  std::string reserveOn(Task& task, Launch& launch, std::size_t device,
                        std::span<const PieceUse> uses, Provisions& pending);
  /// Has the device get ready for pieces of the launch, but for its buffers. Why it can't, if so.
  std::string prepareOn(Launch& launch, std::size_t device);
  /// Makes the host memory exist that bytes go through when they leave `device`, or begins to. Why
  /// it can't, if so.
  std::string reserveRing(const Launch& launch, std::size_t device, Provisions& pending) const;
  /// Gives up copies of buffers.
  CopyRoom& copyRoom() { return copyRoom_; }
  /// Issues a launch as it was planned: all that was reserved for it.
  void issue(Task& task, const std::shared_ptr<Launch>& launch,
             std::shared_ptr<const LaunchPlan> plan);
  /// Enqueues the whole launch as the program did, with whole copies in place of pooled buffers.
  HomeCall homeCall(Task& task, const Launch& launch) const;

  // For who issues pieces one by one.
  Instruction pieceInstruction(const Launch& launch, const Piece& piece) const;
  /// What must be over before the piece may run: earlier work on the same bytes.
  void collectBefore(const Launch& launch, const Piece& piece,
                     std::vector<CompletionPtr>& after) const;
  /// Counts what a piece does as done.
  void book(const Launch& launch, const Piece& piece, const CompletionPtr& done) const;

private:
  struct Compiled {
    std::shared_ptr<const CompiledGraph> graph;
    bool isRepeated = false; ///< all its commands were enqueued before
  };
  bool hasRoomForGroup(const Launch& launch, std::size_t device) const;
  KernelCommand commandOf(const Launch& launch, const Piece& piece, Timing timing) const;
  std::shared_ptr<const InstructionGraph> graphOf(Launch& launch,
                                                  std::shared_ptr<const LaunchPlan> plan);
  std::vector<Moved> copy(Task& task, Launch& launch, const InstructionGraph& graph);
  Compiled compile(const Launch& launch, const std::shared_ptr<const InstructionGraph>& graph,
                   Timing timing) const;
  void book(const Launch& launch, const CompiledGraph& compiled,
            const std::shared_ptr<const Journal::Ends>& ends) const;

  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  Tracer& tracer_;
  Provider& provider_;
  Issuer& issuer_;
  Mover& mover_;
  Merger& merger_;
  const GroupShapes& shapes_;
  CopyRoom copyRoom_;
  Spares<Journal::Ends> ends_;
  Spares<Completion> completions_{2048};
  // Of the launch that is issued; they keep their memory.
  std::vector<Directory*> directories_;
  std::vector<Instruction> kernels_; ///< empty as long as none is
};

} // namespace libsplit::runtime
