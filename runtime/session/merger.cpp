#include "runtime/session/merger.h"

#include "runtime/core/log.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace libsplit::runtime {

/// One merge on its way; holds the memory that it uses.
struct MergeJob {
  struct Part {
    NodeId node = hostNode;
    std::size_t device = 0; ///< that reads the node's memory; not for the host's
    ByteSet bytes;
    Staging staging;
    std::shared_ptr<LaneKernel> comparer;     ///< null: the host compares
    std::shared_ptr<DeviceSnapshot> snapshot; ///< with a comparer
    std::vector<cl_uint> flags;               ///< by block of the snapshot from `compared.begin` on
    ByteRange compared;                       ///< whole words, from the begin of a block
    ByteSet changed;       ///< what may differ from the old bytes; written before the copy is over
    CompletionPtr arrived; ///< of the copy, once it was issued
  };

  Merge merge;
  std::vector<Part> parts;
  Staging kept;                      ///< the host's old bytes, if they were put aside
  std::vector<CompletionPtr> merged; ///< slices of it, once they were issued
  std::byte* host = nullptr;
  std::uint64_t directoryVersion = 0; ///< just after the launch

  void run(const ByteRange& slice) const {
    std::vector<MergeCopy> copies;
    for (const Part& part : parts)
      if (part.node != hostNode && !part.changed.empty())
        copies.push_back({part.staging.base(), &part.changed});
    if (!merge.update)
      return mergeDifferences(slice, merge.grain, copies, kept ? kept.base() : host, host);
    for (const MergeCopy& copy : copies)
      mergeUpdates(slice, *merge.update, copy, host);
  }
};

namespace {

/// A work-item per word; several may raise a flag, all to the same value.
constexpr const char* comparerSource = R"(
kernel void libsplit_changed_blocks(global const uint* now, ulong first, global const uint* before,
                                    ulong firstBefore, ulong words, uint wordsPerBlock,
                                    global uint* changed) {
  const ulong i = get_global_id(0);
  if (i < words && now[first + i] != before[firstBefore + i])
    changed[i / wordsPerBlock] = 1;
}
)";

/// A slice smaller than this is not worth another thread.
constexpr std::uint64_t minSlice = std::uint64_t{256} << 10;

/// Elements never lie across two slices.
std::vector<ByteRange> slices(const ByteRange& range, std::size_t most) {
  const std::uint64_t count =
      std::clamp<std::uint64_t>(range.size() / minSlice, 1, std::max<std::size_t>(most, 1));
  std::vector<ByteRange> result;
  std::uint64_t begin = range.begin;
  for (std::uint64_t i = 1; i <= count; ++i) {
    std::uint64_t end = range.begin + range.size() / count * i;
    end = i == count ? range.end : std::max(begin, end / comparedBlock * comparedBlock);
    result.push_back({begin, end});
    begin = end;
  }
  return result;
}

/// The host's own old bytes are put aside where devices change them in place: to tell what these
/// changed, and to begin anew from should one fail halfway.
bool keepsOldBytes(const Merge& merge) {
  return merge.parts.front().node == hostNode;
}

/// What a device compares for a part: whole blocks and words of the buffer around it.
ByteRange comparedRange(const ByteSet& bytes, std::uint64_t bufferSize) {
  const ByteRange hull = bytes.hull();
  const std::uint64_t begin = hull.begin / comparedBlock * comparedBlock;
  const std::uint64_t end = std::min(hull.end + sizeof(cl_uint) - 1, bufferSize);
  return {begin, std::max(begin, end / sizeof(cl_uint) * sizeof(cl_uint))};
}

/// The part's bytes in blocks with a flag, and those that were not compared.
ByteSet flaggedBytes(const MergeJob::Part& part) {
  ByteSet blocks;
  for (std::size_t i = 0; i < part.flags.size(); ++i)
    if (part.flags[i] != 0)
      blocks.add(
          {part.compared.begin + i * comparedBlock, part.compared.begin + (i + 1) * comparedBlock});
  blocks.uniteWith(ByteSet(part.compared.end, part.bytes.hull().end));
  ByteSet flagged = intersect(part.bytes, blocks);
  // Many small transfers cost more than a few bytes too many.
  constexpr std::size_t manyRanges = 16;
  const bool scattered = flagged.ranges().size() > std::max(manyRanges, part.bytes.ranges().size());
  return scattered && flagged.size() > part.bytes.size() / 4 ? part.bytes : flagged;
}

} // namespace

std::shared_ptr<LaneKernel> Merger::makeComparer(std::size_t device, cl_context context) {
  cl_int error = CL_SUCCESS;
  const auto program =
      buildProgram(cl_, machine_->contextOf(device, context), machine_->devices()[device].id.get(),
                   comparerSource, error, machine_->ownOptions(device));
  if (error != CL_SUCCESS)
    return nullptr;
  auto comparer = std::make_shared<LaneKernel>();
  comparer->kernel = Ref<cl_kernel>::adopt(
      cl_, cl_.clCreateKernel(program.get(), "libsplit_changed_blocks", &error));
  return error == CL_SUCCESS ? comparer : nullptr;
}

/// Whether a node has the old bytes before its pieces run: what is certainly written is not brought
/// there, and what lies there in its place is nothing to compare with.
bool Merger::startsFromOldBytes(const LaunchPlan& plan, const Merge& merge,
                                const Merge::Part& part) const {
  ByteSet needs;
  for (const Piece& piece : plan.pieces)
    if (machine_->devices()[piece.device].node == part.node)
      needs.uniteWith(piece.uses[merge.buffer].needs);
  return !merge.update && needs.contains(part.bytes);
}

/// What compares a part with its old bytes on its own device; null if the host has to.
std::shared_ptr<LaneKernel> Merger::comparerOf(const Launch& launch, const LaunchPlan& plan,
                                               const Merge& merge, const Merge::Part& part) const {
  const Buffer& buffer = *launch.buffers[merge.buffer];
  if (part.node == hostNode || comparedRange(part.bytes, buffer.size()).empty() ||
      !startsFromOldBytes(plan, merge, part))
    return nullptr;
  return launch.code->comparers[machine_->deviceOfNode(part.node)];
}

std::string Merger::reserve(Launch& launch, const LaunchPlan& plan, Provisions& pending) {
  // Several merges may be of one buffer, and use the same memory.
  std::map<std::pair<std::size_t, NodeId>, ByteRange> staged, compared; // by buffer
  auto add = [](auto& ranges, std::size_t buffer, NodeId node, const ByteRange& bytes) {
    const auto [at, isNew] = ranges.try_emplace({buffer, node}, bytes);
    at->second = {std::min(at->second.begin, bytes.begin), std::max(at->second.end, bytes.end)};
  };
  for (const Merge& merge : plan.merges)
    for (const Merge::Part& part : merge.parts) {
      if (part.node != hostNode || keepsOldBytes(merge))
        add(staged, merge.buffer, part.node,
            (part.node == hostNode ? merge.bytes : part.bytes).hull());
      if (comparerOf(launch, plan, merge, part)) // else the host compares
        add(compared, merge.buffer, part.node,
            comparedRange(part.bytes, launch.buffers[merge.buffer]->size()));
    }
  const Device& home = machine_->homeDevice();
  for (const Merge& merge : plan.merges) {
    Buffer& buffer = *launch.buffers[merge.buffer];
    if (!buffer.hostMemory(*machine_))
      return "there is no host memory to merge in";
    if (home.node != hostNode &&
        std::ranges::find(merge.parts, home.node, &Merge::Part::node) != merge.parts.end() &&
        !buffer.wayTo(*machine_, machine_->home(), Engine::Kernels))
      return "there is no memory to merge through at home";
  }
  for (const auto& [of, bytes] : staged)
    if (launch.buffers[of.first]->stagingRoom(*machine_, of.second, bytes, pending) == Room::None)
      return "there is no host memory to merge in";
  for (const auto& [of, bytes] : compared)
    launch.buffers[of.first]->snapshotRoom(*machine_, machine_->deviceOfNode(of.second), bytes,
                                           pending);
  return {};
}

void Merger::prepare(Task& task, Launch& launch, const LaunchPlan& plan) {
  for (const Merge& merge : plan.merges) {
    Buffer& buffer = *launch.buffers[merge.buffer];
    mover_.bring(task, buffer, hostNode, merge.bytes);
    auto job = std::make_shared<MergeJob>();
    job->merge = merge;
    job->host = buffer.hostMemory(*machine_);
    for (const Merge::Part& each : merge.parts) {
      MergeJob::Part part;
      part.node = each.node;
      part.bytes = part.changed = each.bytes;
      if (each.node != hostNode) {
        part.device = machine_->deviceOfNode(each.node);
        part.staging = buffer.staging(each.node, each.bytes.hull());
        part.comparer = comparerOf(launch, plan, merge, each);
        if (part.comparer) {
          part.compared = comparedRange(each.bytes, buffer.size());
          const ByteRange held = buffer.holds(*machine_, part.device);
          if (held.begin <= part.compared.begin && part.compared.end <= held.end)
            part.snapshot = buffer.snapshot(part.device, part.compared);
        }
        if (!part.snapshot)
          part.comparer = nullptr;
      }
      job->parts.push_back(std::move(part));
    }
    if (keepsOldBytes(merge))
      keepOldBytes(task, buffer, *job);
    for (std::size_t i = 0; i < job->parts.size(); ++i)
      if (job->parts[i].node != hostNode && merge.update)
        fillNeutral(task, buffer, *job, i);
    launch.merges.push_back(std::move(job));
  }
}

void Merger::keepOldBytes(Task& task, Buffer& buffer, MergeJob& job) {
  // All of them: what other devices changed is told from these, also where the host took no part.
  const ByteSet& bytes = job.merge.bytes;
  job.kept = buffer.staging(hostNode, bytes.hull());
  Instruction copy;
  buffer.accesses().collect(hostNode, bytes, {}, copy.after);
  copy.after.insert(copy.after.end(), buffer.merges().begin(), buffer.merges().end());
  copy.run = [to = job.kept, from = job.host, bytes](WaitList, Completion&, cl_event*) {
    for (const ByteRange& range : bytes.ranges())
      std::memcpy(to.base() + range.begin, from + range.begin, range.size());
    return CL_SUCCESS;
  };
  copy.done = std::make_shared<Completion>(cl_);
  copy.traced = tracer_.step("put old bytes aside");
  buffer.accesses().add({hostNode, bytes, {}, copy.done, false});
  issuer_.issue(task, machine_->home(), std::move(copy));
}

void Merger::fillNeutral(Task& task, Buffer& buffer, const MergeJob& job, std::size_t part) {
  const MergeJob::Part& of = job.parts[part];
  Instruction fill;
  fill.queue = machine_->queueOf(of.device, buffer.context());
  buffer.accesses().collect(of.node, {}, of.bytes, fill.after);
  fill.done = std::make_shared<Completion>(cl_);
  fill.run = [this, queue = fill.queue, end = fill.done, placed = buffer.on(*machine_, of.device),
              neutral = neutralElement(*job.merge.update), width = job.merge.update->width,
              bytes = of.bytes](WaitList, Completion&, cl_event* last) {
    for (const ByteRange& range : bytes.ranges()) {
      cl_event before = nullptr;
      cl_event* event = &range == &bytes.ranges().back() ? last : &before;
      cl_int status =
          cl_.clEnqueueFillBuffer(queue, placed.memory, &neutral, width,
                                  placed.offsetOf(range.begin), range.size(), 0, nullptr, event);
      if (status != CL_SUCCESS)
        return status;
      if (before)
        end->precede(Ref<cl_event>::adopt(cl_, before));
    }
    return CL_SUCCESS;
  };
  fill.traced = tracer_.step("fill with the neutral element");
  buffer.accesses().add({of.node, {}, of.bytes, fill.done, false});
  buffer.journal().note(buffer.directory().state(), Journal::Effect::Spoils, of.node, of.bytes,
                        {fill.done});
  buffer.directory().spoiled(of.node, of.bytes);
  issuer_.issue(task, of.device, std::move(fill));
}

std::vector<Merger::Kept> Merger::snapshot(Task& task, Launch& launch) {
  std::vector<Kept> kept;
  for (const auto& job : launch.merges)
    for (const MergeJob::Part& part : job->parts) {
      if (!part.comparer)
        continue;
      Buffer& buffer = *launch.buffers[job->merge.buffer];
      Instruction copy;
      copy.queue = machine_->queueOf(part.device, buffer.context());
      const ByteSet bytes(part.compared);
      buffer.accesses().collect(part.node, bytes, {}, copy.after);
      copy.run = [this, queue = copy.queue, from = buffer.on(*machine_, part.device),
                  snapshot = part.snapshot,
                  range = part.compared](WaitList, Completion&, cl_event* last) {
        return cl_.clEnqueueCopyBuffer(queue, from.memory, snapshot->bytes.get(),
                                       from.offsetOf(range.begin), range.begin - snapshot->begin,
                                       range.size(), 0, nullptr, last);
      };
      copy.done = std::make_shared<Completion>(cl_);
      copy.traced = tracer_.step("keep a copy of old bytes");
      buffer.accesses().add({part.node, bytes, {}, copy.done, false});
      kept.push_back({part.node, copy.done});
      issuer_.issue(task, part.device, std::move(copy));
    }
  return kept;
}

CompletionPtr Merger::compareOnDevice(Task& task, Buffer& buffer,
                                      const std::shared_ptr<MergeJob>& job, std::size_t index) {
  const MergeJob::Part& part = job->parts[index];
  Instruction compare;
  compare.queue = machine_->queueOf(part.device, buffer.context());
  const ByteSet bytes(part.compared);
  buffer.accesses().collect(part.node, bytes, {}, compare.after);
  compare.compiles = true;
  compare.done = std::make_shared<Completion>(cl_);
  compare.run = [this, job, index, queue = compare.queue, end = compare.done,
                 now = buffer.on(*machine_, part.device)](WaitList, Completion&,
                                                          cl_event* last) -> cl_int {
    MergeJob::Part& of = job->parts[index];
    const cl_uint wordsPerBlock = comparedBlock / sizeof(cl_uint), none = 0;
    const cl_ulong first = now.offsetOf(of.compared.begin) / sizeof(cl_uint);
    const cl_ulong firstBefore = (of.compared.begin - of.snapshot->begin) / sizeof(cl_uint);
    const cl_ulong words = of.compared.size() / sizeof(cl_uint);
    const cl_mem before = of.snapshot->bytes.get(), flags = of.snapshot->flags.get();
    of.flags.assign((of.compared.size() + comparedBlock - 1) / comparedBlock, 1);
    const std::size_t flagBytes = of.flags.size() * sizeof(cl_uint);
    cl_kernel kernel = of.comparer->kernel.get();
    cl_uint argument = 0;
    cl_int status = CL_SUCCESS;
    auto set = [&](const auto& value) {
      status = std::min(status, cl_.clSetKernelArg(kernel, argument++, sizeof value, &value));
    };
    set(now.memory);
    set(first);
    set(before);
    set(firstBefore);
    set(words);
    set(wordsPerBlock);
    set(flags);
    const std::size_t local = 64, global = (words + local - 1) / local * local;
    cl_event filled = nullptr, compared = nullptr;
    if (status == CL_SUCCESS)
      status = cl_.clEnqueueFillBuffer(queue, flags, &none, sizeof none, 0, flagBytes, 0, nullptr,
                                       &filled);
    if (filled)
      end->precede(Ref<cl_event>::adopt(cl_, filled));
    if (status == CL_SUCCESS)
      status = cl_.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr,
                                          &compared);
    if (compared)
      end->precede(Ref<cl_event>::adopt(cl_, compared));
    // A kernel may keep alive what its arguments name.
    const cl_mem nothing = nullptr;
    for (cl_uint each : {0u, 2u, 6u})
      cl_.clSetKernelArg(kernel, each, sizeof nothing, &nothing);
    if (status == CL_SUCCESS)
      status = cl_.clEnqueueReadBuffer(queue, flags, CL_FALSE, 0, flagBytes, of.flags.data(), 0,
                                       nullptr, last);
    if (status != CL_SUCCESS)
      log(LogLevel::Info, "a device can't compare (error ", status, "); the host does");
    return CL_SUCCESS;
  };
  compare.traced = tracer_.step("compare with old bytes");
  CompletionPtr done = compare.done;
  buffer.accesses().add({part.node, bytes, {}, done, false});
  issuer_.issue(task, part.device, std::move(compare));
  return done;
}

CompletionPtr Merger::readBack(Task& task, Buffer& buffer, const std::shared_ptr<MergeJob>& job,
                               std::size_t index) {
  const MergeJob::Part& part = job->parts[index];
  Instruction copy;
  cl_command_queue queue = machine_->queueOf(part.device, buffer.context());
  buffer.accesses().collect(part.node, part.bytes, {}, copy.after);
  copy.after.insert(copy.after.end(), buffer.merges().begin(), buffer.merges().end());
  if (part.comparer)
    copy.after.push_back(
        compareOnDevice(task, buffer, job, index)); // waits for the flags themselves
  else
    copy.queue = queue;
  copy.traced = tracer_.transfer(true, buffer, part.bytes.size());
  copy.done = std::make_shared<Completion>(cl_);
  copy.run = [this, job, index, queue, traced = copy.traced, end = copy.done,
              way = buffer.wayTo(*machine_, part.device, Engine::Kernels)](
                 WaitList, Completion&, cl_event* last) -> cl_int {
    MergeJob::Part& of = job->parts[index];
    if (of.comparer)
      of.changed = flaggedBytes(of);
    if (traced)
      traced->bytes = of.changed.size();
    const RowCopy rows{queue, way, true, asRows(of.changed), of.staging.base()};
    cl_int status = rows.enqueue(cl_, {{}}, end.get(), last);
    cl_.clFlush(queue);
    return status;
  };
  CompletionPtr done = copy.done;
  buffer.accesses().add({part.node, part.bytes, {}, done, false});
  issuer_.issue(task, part.device, std::move(copy));
  return done;
}

/// Has all that is to be merged read. What of a device could not be read is lost, and its piece has
/// to be done again: so nothing is merged before all of the launch has arrived, and what the piece
/// started from is kept until then.
std::vector<CompletionPtr> Merger::readParts(Task& task, Launch& launch) {
  std::vector<CompletionPtr> arrived;
  for (const auto& job : launch.merges) {
    Buffer& buffer = *launch.buffers[job->merge.buffer];
    for (std::size_t i = 0; i < job->parts.size(); ++i) {
      MergeJob::Part& part = job->parts[i];
      // What arrived before a recovery waits for the merge. The node may have been made ready for
      // the next launch since.
      if (part.node == hostNode || (part.arrived && part.arrived->succeeded()))
        continue;
      part.arrived = readBack(task, buffer, job, i);
      arrived.push_back(part.arrived);
      auto issued = std::ranges::find_if(launch.issued, [&](const Launch::Issued& each) {
        return each.device == part.device && !each.isRedone;
      });
      if (issued == launch.issued.end())
        continue;
      issued->transfers.push_back({part.arrived, part.arrived});
      issued->arrivals.push_back(part.arrived);
      if (part.device != machine_->home()) // what home did stays there, to be read again
        launch.ends->arrivals.emplace_back(issued - launch.issued.begin(), part.arrived);
      for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
        const PieceUse& use = issued->piece->uses[b];
        launch.buffers[b]->accesses().add(
            {part.node, use.needs, unite(use.writes, use.merged), part.arrived});
      }
    }
  }
  return arrived;
}

void Merger::issueMerge(Task& task, Launch& launch, const std::shared_ptr<MergeJob>& job,
                        std::vector<CompletionPtr> arrived) {
  Buffer& buffer = *launch.buffers[job->merge.buffer];
  buffer.accesses().collect(hostNode, {}, job->merge.bytes, arrived);
  std::vector<CompletionPtr> merged;
  const auto work = slices(job->merge.bytes.hull(), machine_->devices().size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    Instruction instruction;
    instruction.after = arrived;
    instruction.done = std::make_shared<Completion>(cl_);
    instruction.run = [job, slice = work[i]](WaitList, Completion&, cl_event*) {
      job->run(slice);
      return CL_SUCCESS;
    };
    instruction.traced = tracer_.step("merge");
    merged.push_back(instruction.done);
    issuer_.issue(task, i, std::move(instruction));
  }
  std::erase_if(buffer.merges(), [](const CompletionPtr& old) { return old->over(); });
  buffer.merges().insert(buffer.merges().end(), merged.begin(), merged.end());
  job->merged = merged;
  buffer.journal().note(buffer.directory().state(), Journal::Effect::Writes, hostNode,
                        job->merge.bytes, merged);
  for (CompletionPtr& each : merged)
    buffer.accesses().add({hostNode, {}, job->merge.bytes, std::move(each), false});
  buffer.wrote(hostNode, job->merge.bytes);
}

void Merger::issue(Task& task, Launch& launch) {
  const std::vector<CompletionPtr> arrived = readParts(task, launch);
  for (const auto& job : launch.merges)
    issueMerge(task, launch, job, arrived);
  for (const auto& job : launch.merges)
    job->directoryVersion = launch.buffers[job->merge.buffer]->directory().version();
}

/// The host's memory gets back what the launch's own pieces there started from, so that they can be
/// done again; unless all of them are done, whose results stay. Throws LostBytes where that is
/// gone. Nothing of the launch is under way.
void Merger::restoreHost(Task& task, const Launch& launch, MergeJob& job) {
  bool isAnyDone = false, mayAnyHaveBegun = false;
  for (const Launch::Issued& each : launch.issued)
    if (!each.isRedone && machine_->devices()[each.device].node == hostNode) {
      const bool isThere = isDone(each, machine_->home());
      isAnyDone = isAnyDone || isThere;
      mayAnyHaveBegun =
          mayAnyHaveBegun || (!isThere && each.kernel && each.kernel->outcome() == Outcome::Failed);
    }
  if (isAnyDone && mayAnyHaveBegun)
    throw LostBytes(); // which bytes are whose cannot be told
  if (isAnyDone)
    return;
  const Staging kept = std::exchange(job.kept, {}); // the host's are the old ones from now on
  if (!mayAnyHaveBegun)
    return mover_.bring(task, *launch.buffers[job.merge.buffer], hostNode, job.merge.bytes);
  for (const ByteRange& range : job.merge.bytes.ranges())
    std::memcpy(job.host + range.begin, kept.base() + range.begin, range.size());
}

void Merger::redo(Task& task, Launch& launch) {
  auto isMerged = [](const std::shared_ptr<MergeJob>& job) {
    return !job->merged.empty() && std::ranges::all_of(job->merged, [](const CompletionPtr& done) {
      return done->succeeded();
    });
  };
  for (const auto& job : launch.merges)
    if (!isMerged(job))
      restoreHost(task, launch, *job);
  for (const auto& job : launch.merges)
    if (!isMerged(job))
      std::erase_if(job->parts, [&](const MergeJob::Part& part) {
        return part.node != hostNode &&
               std::ranges::any_of(launch.issued, [&](const Launch::Issued& each) {
                 return machine_->devices()[each.device].node == part.node && !each.isRedone &&
                        !isDone(each, machine_->home());
               });
      });
  const std::vector<CompletionPtr> arrived = readParts(task, launch);
  for (const auto& job : launch.merges)
    if (!isMerged(job))
      issueMerge(task, launch, job, arrived);
}

void Merger::finish(Launch& launch) {
  for (const auto& job : launch.merges) {
    Directory& directory = launch.buffers[job->merge.buffer]->directory();
    for (const MergeJob::Part& part : job->parts) {
      if (part.node == hostNode)
        continue;
      stats_.bytesMerged += part.bytes.size();
      stats_.bytesBetweenNodes += part.changed.size();
      stats_.transfers += !part.changed.empty();
      ByteSet changedElsewhere;
      for (const MergeJob::Part& other : job->parts)
        if (&other != &part)
          changedElsewhere.uniteWith(other.changed);
      if (!job->merge.update && directory.version() == job->directoryVersion)
        directory.confirm(part.node, subtract(part.bytes, changedElsewhere));
    }
  }
  launch.merges.clear();
}

} // namespace libsplit::runtime
