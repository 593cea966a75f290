// Merges as instructions of a launch; merge.h says what they compute and why that is right.
//
// The host's memory is where everything comes together, since all nodes can be read from there:
//
//   before the pieces   the old bytes are brought to the host. A node that collects updates is
//                       filled with their neutral element; the host's old bytes are put aside if a
//                       device works in the host's memory and will overwrite them.
//   after the pieces    each other node's bytes are read into memory of their own, all at the same
//                       time, and merged into the host's: by all lanes, each a slice.
//
// Only the host's copy is valid then. Its old bytes stay what they were until all others have
// arrived, and whatever has to be allocated is allocated before anything begins: a plan whose
// merges find no memory is not begun, and where a piece or a transfer fails nothing is merged.
#include "runtime/launch.h"
#include "runtime/log.h"
#include "runtime/session.h"

#include <algorithm>
#include <cstring>

namespace libsplit::runtime {

namespace {

/// A slice smaller than this is not worth another thread.
constexpr std::uint64_t minSlice = std::uint64_t{256} << 10;

/// Elements never lie across two slices.
std::vector<ByteRange> slices(const ByteRange& range, std::size_t most) {
  constexpr std::uint64_t unit = 4096;
  const std::uint64_t count =
      std::clamp<std::uint64_t>(range.size() / minSlice, 1, std::max<std::size_t>(most, 1));
  const std::uint64_t step = (range.size() / count + unit - 1) / unit * unit;
  std::vector<ByteRange> result;
  for (std::uint64_t begin = range.begin; begin < range.end;) {
    const std::uint64_t end =
        result.size() + 1 == count ? range.end : std::min((begin + step) / unit * unit, range.end);
    result.push_back({begin, end});
    begin = end;
  }
  return result;
}

/// The host's own old bytes are put aside where devices overwrite them in place.
bool keepsOldBytes(const Merge& merge) {
  return !merge.update && merge.parts.front().node == hostNode;
}

/// What a merge reads and writes; holds the memory.
struct MergeJob {
  std::optional<UpdateKind> update;
  std::uint32_t grain = 1;
  std::vector<Merge::Part> parts;
  std::vector<Staging> staging; ///< by part
  Staging kept;                 ///< the host's old bytes, if they were put aside
  std::byte* host = nullptr;

  void run(const ByteRange& slice) const {
    std::vector<MergeCopy> copies;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].node != hostNode)
        copies.push_back({staging[i].base(), &parts[i].bytes});
    if (!update)
      return mergeDifferences(slice, grain, copies, kept ? kept.base() : host, host);
    for (const MergeCopy& copy : copies)
      mergeUpdates(slice, *update, copy, host);
  }
};

} // namespace

std::string Session::reserveMerges(Launch& launch, const LaunchPlan& plan) {
  for (const Merge& merge : plan.merges)
    for (const Merge::Part& part : merge.parts)
      if ((part.node != hostNode || keepsOldBytes(merge)) &&
          !launch.buffers[merge.buffer]->staging(*machine_, part.node, part.bytes.hull()))
        return "there is no host memory to merge in";
  return {};
}

void Session::prepareMerges(Task& task, Launch& launch, const LaunchPlan& plan) {
  for (const Merge& merge : plan.merges) {
    Buffer& buffer = *launch.buffers[merge.buffer];
    bring(task, buffer, hostNode, merge.bytes);
    for (const Merge::Part& part : merge.parts) {
      if (part.node == hostNode ? !keepsOldBytes(merge) : !merge.update)
        continue;
      const std::size_t device =
          part.node == hostNode ? machine_->home() : machine_->deviceOfNode(part.node);
      NodeHazards& hazards = buffer.hazards(part.node);
      Instruction instruction;
      instruction.done = std::make_shared<Completion>(cl_);
      CompletionPtr done = instruction.done;
      if (part.node == hostNode) {
        hazards.collect(false, instruction.after);
        instruction.after.insert(instruction.after.end(), buffer.merges().begin(),
                                 buffer.merges().end());
        instruction.run = [to = buffer.staging(*machine_, hostNode, part.bytes.hull()),
                           from = buffer.hostMemory(*machine_), bytes = part.bytes](cl_event*) {
          for (const ByteRange& range : bytes.ranges())
            std::memcpy(to.base() + range.begin, from + range.begin, range.size());
          return CL_SUCCESS;
        };
        hazards.addReader(done);
      } else {
        hazards.collect(true, instruction.after);
        instruction.queue = machine_->queueOf(device, buffer.context());
        instruction.run = [this, queue = instruction.queue, memory = buffer.on(*machine_, device),
                           neutral = neutralElement(*merge.update), width = merge.update->width,
                           bytes = part.bytes](cl_event* last) {
          cl_int status = CL_SUCCESS;
          for (const ByteRange& range : bytes.ranges()) {
            cl_event* event = &range == &bytes.ranges().back() ? last : nullptr;
            status = std::min(status,
                              cl_.clEnqueueFillBuffer(queue, memory, &neutral, width, range.begin,
                                                      range.size(), 0, nullptr, event));
          }
          return status;
        };
        hazards.setWriters({done});
      }
      issue(task, device, std::move(instruction));
    }
  }
}

void Session::issueMerges(Task& task, Launch& launch, const LaunchPlan& plan) {
  for (const Merge& merge : plan.merges) {
    Buffer& buffer = *launch.buffers[merge.buffer];
    auto job = std::make_shared<MergeJob>();
    job->update = merge.update;
    job->grain = merge.grain;
    job->parts = merge.parts;
    job->host = buffer.hostMemory(*machine_);
    std::vector<CompletionPtr> arrived;
    for (const Merge::Part& part : merge.parts) {
      job->staging.push_back({});
      if (part.node == hostNode) {
        if (keepsOldBytes(merge))
          job->kept = buffer.staging(*machine_, hostNode, part.bytes.hull());
        continue;
      }
      const Staging to = buffer.staging(*machine_, part.node, part.bytes.hull());
      job->staging.back() = to;
      const std::size_t device = machine_->deviceOfNode(part.node);
      Instruction copy;
      copy.queue = machine_->queueOf(device, buffer.context());
      copy.done = std::make_shared<Completion>(cl_);
      copy.immediate = machine_->devices()[device].isGpu;
      buffer.hazards(part.node).collect(false, copy.after);
      copy.after.insert(copy.after.end(), buffer.merges().begin(), buffer.merges().end());
      copy.run = [this, queue = copy.queue, memory = buffer.on(*machine_, device), to,
                  bytes = part.bytes](cl_event* last) {
        return copyBytes(cl_, queue, memory, to.base(), bytes, true, last);
      };
      buffer.hazards(part.node).addReader(copy.done);
      arrived.push_back(copy.done);
      auto issued =
          std::find_if(launch.issued.begin(), launch.issued.end(),
                       [&](const Launch::Issued& each) { return each.device == device; });
      if (issued != launch.issued.end())
        issued->transfers.push_back(copy.done);
      stats_.bytesBetweenNodes += part.bytes.size();
      stats_.bytesMerged += part.bytes.size();
      ++stats_.transfers;
      issue(task, device, std::move(copy));
    }
    buffer.hazards(hostNode).collect(true, arrived);
    std::vector<CompletionPtr> merged;
    const auto work = slices(merge.bytes.hull(), machine_->devices().size());
    for (std::size_t i = 0; i < work.size(); ++i) {
      Instruction instruction;
      instruction.after = arrived;
      instruction.done = std::make_shared<Completion>(cl_);
      instruction.run = [job, slice = work[i]](cl_event*) {
        job->run(slice);
        return CL_SUCCESS;
      };
      merged.push_back(instruction.done);
      issue(task, i, std::move(instruction));
    }
    std::erase_if(buffer.merges(), [](const CompletionPtr& old) { return old->over(); });
    buffer.merges().insert(buffer.merges().end(), merged.begin(), merged.end());
    buffer.hazards(hostNode).setWriters(std::move(merged));
    buffer.directory().wrote(hostNode, merge.bytes);
    log(LogLevel::Debug, "merged on the host: ", toString(merge.bytes));
  }
}

} // namespace libsplit::runtime
