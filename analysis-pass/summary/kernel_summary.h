// What the analysis says of a kernel: which bytes of which buffer a range of work-groups touches,
// and what stands in the way of splitting it. Result types only: no LLVM, no OpenCL.
//
// Worked example. For
//
//     kernel void scale(global float* out, global const float* in, int n) {
//       int i = get_global_id(0);
//       if (i < n) out[i] = 2 * in[i];
//     }
//
// the summary holds two accesses, both guarded by `G0 < arg2`:
//     read  arg1 at 4*G0, 4 bytes
//     write arg0 at 4*G0, 4 bytes, certain
// Nothing is evaluated here: `evaluate.h` turns this, the argument values, the NDRange and a box of
// work-groups into byte sets at launch, when everything but the ids is a number.
#pragma once

#include "analysis-pass/summary/expr.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace libsplit {

/// Where something stands in the program's source. Line 0: unknown.
struct SourceLine {
  std::string file; ///< empty for the program's own text
  unsigned line = 0;
  bool operator==(const SourceLine&) const = default;
};

/// Why something is not known or can't be done, in words for the user: "index loaded from `col`".
struct Reason {
  std::string text;
  SourceLine where;
  bool operator==(const Reason&) const = default;
};

enum class ParameterKind {
  GlobalBuffer,
  ConstantBuffer,
  LocalBuffer,
  Scalar,
  Image,
  Sampler,
  Other
};

/// What an argument that is an image is to expressions: a struct of these, which Expr::argument
/// names by bits. A launch gives them in ArgumentValue::bytes.
///
/// The image's bytes are counted as clEnqueueReadImage packs them: pixel (x, y, z) begins at byte
/// pixel * ((z * size[1] + y) * size[0] + x). The layers of an array count as rows (1-D) or slices.
struct ImageNumbers {
  std::uint64_t pixel = 0; ///< bytes
  std::array<std::uint64_t, 3> size{1, 1, 1};
  bool operator==(const ImageNumbers&) const = default;

  static Expr pixelOf(unsigned parameter) { return Expr::argument(parameter, 64, false, 0); }
  static Expr sizeOf(unsigned parameter, unsigned dimension) {
    return Expr::argument(parameter, 64, false, 64 * (dimension + 1));
  }
};
static_assert(sizeof(ImageNumbers) == 32);

struct Parameter {
  std::string name; ///< as in the source; "arg3" where the IR has no names
  std::string type; ///< as in the source, for messages
  ParameterKind kind = ParameterKind::Other;
  std::uint32_t size = 0; ///< bytes of a by-value argument; 0 for pointers
  /// For reports, and no part of the text form: ".size.x" and the like of a struct, by first bit.
  std::map<unsigned, std::string> members{};
  bool operator==(const Parameter&) const = default;
};

enum class Effect {
  Read,
  Write,
  /// What the program does not write, but the device's code may: beside a component of a vector
  /// that is written, the others, with what they held. Nobody but the device that does so must
  /// take it for a write, and on one memory nobody else may write there meanwhile.
  Rewrite,
  Update
};

/// What an atomic read-modify-write does to an element when nobody uses its result. Updates of one
/// kind commute: whatever their order, the same value stays. Only FloatAdd rounds as it goes.
struct UpdateKind {
  enum class Operation { Add, And, Or, Xor, Min, Max, FloatAdd }; ///< Add: sub, inc and dec too
  Operation operation = Operation::Add;
  std::uint32_t width = 4; ///< bytes of the element, 4 or 8; its address is a multiple
  bool isSigned = false;   ///< min and max only
  bool operator==(const UpdateKind&) const = default;
};

/// "add", "and", ... as in the text form.
const char* nameOf(UpdateKind::Operation operation);

/// `left < right`, `left <= right` or `left == right`, over mathematical integers.
struct Guard {
  enum class Relation { Less, LessEqual, Equal, NotEqual };
  Expr left;
  Relation relation = Relation::Less;
  Expr right;
  /// About elements of buffers, one or more for each work-item. To look at all of them at every
  /// launch is not worth it but in an inspection (inspection.h): evaluation leaves it out, and what
  /// it guards is never certain.
  bool isInspected = false;
  bool operator==(const Guard&) const = default;
};

/// A loop around an access: its variable runs over [0, count), count evaluated at launch.
/// Expressions name it by its position in `Access::loops` (Expr::loop).
struct Loop {
  Expr count;
  bool exact = true; ///< false: `count` is an upper bound (early exits)
  /// For reports, and no part of the text form: the program's own variable, which is
  /// first + step * (this one). Empty if its name is not known.
  std::string name{};
  Expr first{};
  Expr step{};
};

/// One load or store (or builtin that acts as one) of a buffer parameter, or of an image's pixels.
/// It touches bytes [offset, offset + length) from the argument's address, for every work-item of
/// the box that satisfies all guards and every value of the loop variables.
struct Access {
  unsigned parameter = 0;
  Effect effect = Effect::Read;
  /// For reads and writes: every work-item that satisfies the guards really reads or writes these
  /// bytes. False wherever a condition that is not among `guards` decides.
  bool certain = false;
  UpdateKind update; ///< for updates; `length` is its width
  /// Writes: a power of two, in bytes. Each aligned block of this size is touched as a whole or
  /// not at all: a scalar's width, where its address is a multiple of that.
  std::uint32_t grain = 1;
  /// Writes: what is written comes from what stood there, as in `out[i] += x`. Where several
  /// devices do that to one place, what all but one of them added would be lost.
  bool changes = false;
  Expr offset; ///< bytes, may be Unknown with a reason: then any byte of the argument
  std::uint64_t length = 0;
  std::vector<Guard> guards; ///< conjunction
  std::vector<Loop> loops;   ///< outermost first
  SourceLine where;
  /// For reports, and no part of the text form: why a write is not certain.
  Reason doubt{};
};

/// Whether the accesses happen at the same work-items and iterations.
inline bool sameConditions(const Access& a, const Access& b) {
  return a.guards == b.guards &&
         std::ranges::equal(a.loops, b.loops, [](const Loop& x, const Loop& y) {
           return x.exact == y.exact && x.count == y.count;
         });
}

/// Calls `visit` for each Load on which the access's place, loops and guards rest.
inline void eachLoad(const Access& access, const std::function<void(const Expr& load)>& visit) {
  eachLoad(access.offset, visit);
  for (const Loop& loop : access.loops)
    eachLoad(loop.count, visit);
  for (const Guard& guard : access.guards) {
    eachLoad(guard.left, visit);
    eachLoad(guard.right, visit);
  }
}

/// A variable of the program that holds one value throughout: `i` for get_global_id(0).
struct NamedValue {
  std::string name;
  Expr value;
};

/// What forbids splitting the kernel whatever the regions are.
struct Obstacle {
  enum class Kind {
    Printf,
    Atomic,
    Image,
    Pipe,
    DeviceEnqueue,
    UnknownCall,
    UnknownPointer, ///< found in memory, or computed: it may lead anywhere
    Other
  };
  Kind kind = Kind::Other;
  Reason reason;
};

struct KernelSummary {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Access> accesses;
  std::vector<Obstacle> obstacles;
  /// The kernel's result depends on how the NDRange is cut into work-groups (local or group ids,
  /// local sizes, local memory, barriers that order something): with a NULL local size it can't be
  /// split.
  bool dependsOnGroups = false;
  /// … and on how a device divides these into sub-groups, which another may do otherwise.
  bool dependsOnSubGroups = false;
  /// … on work-groups only where another argument shares a buffer with one that it writes: nowhere
  /// else does it show what its barriers order.
  bool dependsOnGroupsIfShared = false;
  /// What a work-group writes may depend on which of its work-items are first: it uses atomic
  /// operations on local memory. Done twice, on devices that are equal, it may write other bytes.
  bool dependsOnOrder = false;
  /// It puts global ids together from group and local ids, and must therefore find work-groups of
  /// one size, their numbers as if the whole NDRange were made of such, and all of that below 2^31.
  bool idsFromGroups = false;
  /// The partition-ready variant takes the trailing argument described in partition_argument.h.
  bool needsPartitionArgument = false;
  /// reqd_work_group_size, or all 0.
  std::array<std::uint64_t, 3> requiredLocal{0, 0, 0};
  /// Of what it computes: the same text may be other code for another device, whose compiler
  /// defines other macros.
  std::uint64_t codeHash = 0;
  /// For reports, and no part of the text form.
  std::vector<NamedValue> variables;
};

/// A file that the program's text included.
struct IncludedFile {
  std::string path;
  std::uint64_t hash = 0; ///< XXH3 64 of its contents
  bool operator==(const IncludedFile&) const = default;
};

/// Everything that splitc says of one program for one device's macros.
struct ProgramSummary {
  std::vector<KernelSummary> kernels;
  std::vector<IncludedFile> includes; ///< a cached answer holds while these are unchanged
  /// The program with its includes in place. Empty if it includes nothing.
  std::string flatSource;
  /// Partition-ready OpenCL C. Empty if no kernel needs a rewrite: the program's own text serves.
  std::string partitionSource;
  /// Set when the program as a whole could not be analysed (does not parse, unknown macro, ...).
  std::string failure;
  /// Macros that the text asks for, of which only the device's compiler knows whether and how it
  /// sets them. There may be more once these are known.
  std::vector<std::string> unknownMacros;

  /// Null if there is none of that name.
  const KernelSummary* find(const std::string& kernel) const {
    for (const KernelSummary& each : kernels)
      if (each.name == kernel)
        return &each;
    return nullptr;
  }
};

} // namespace libsplit
