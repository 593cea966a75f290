// What the analysis knows of OpenCL C's built-in functions, by their names in the IR.
//
// A built-in that is not classified here is harmless if the IR says that it touches no memory, and
// an obstacle otherwise. To add one: give it a kind in builtins.cpp and a test.
#pragma once

#include "analysis-pass/summary/expr.h"

#include <llvm/ADT/StringRef.h>

#include <cstdint>
#include <optional>

namespace llvm {
class CallBase;
class DataLayout;
} // namespace llvm

namespace libsplit {

enum class BuiltinKind {
  Unknown,        ///< may do anything
  Harmless,       ///< touches no buffer; the same however the NDRange is cut
  IdQuery,        ///< `query` of the dimension in operand 0
  WorkDim,        ///< get_work_dim
  GlobalLinearId, ///< get_global_linear_id
  LocalLinearId,  ///< get_local_linear_id
  Barrier,        ///< of a work-group
  GroupSensitive, ///< work-group and sub-group functions: no buffer, but a group's shape
  IntegerMath,    ///< min, max, clamp, abs, mul24, mad24 and the like, on integers
  VectorLoad,     ///< vloadN and its half forms
  VectorStore,    ///< vstoreN and its half forms
  PointerResult,  ///< sincos, fract, ...: a second result through the last pointer operand
  AsyncCopy,      ///< async_work_group_copy
  AsyncStrided,   ///< async_work_group_strided_copy
  PointerCast,    ///< to_global, to_local, to_private
  Atomic,
  Printf,
  ImageQuery, ///< get_image_width and the like
  ImageRead,
  ImageWrite,
  Pipe,
  DeviceEnqueue,
};

struct Builtin {
  BuiltinKind kind = BuiltinKind::Unknown;
  Expr::Op query = Expr::Op::Unknown; ///< of IdQuery
  /// The answer changes when a launch covers only a part of the NDRange.
  bool needsPartitionArgument = false;
  /// … with how the device divides work-groups into sub-groups.
  bool asksSubGroups = false;
};

/// "get_global_id" of "_Z13get_global_idj", "sin" of PoCL's own "_Z7_cl_sinf"; names that are not
/// mangled are returned as they are.
llvm::StringRef builtinName(llvm::StringRef functionName);

/// Whether the first parameter of the function is an image, by its mangled name.
bool takesImage(llvm::StringRef functionName);

/// Classifies by the plain name alone; Unknown for names that are not in the table.
Builtin classifyBuiltin(llvm::StringRef plainName);

/// Classifies the callee, and makes use of what the IR says of it.
Builtin classifyCall(const llvm::CallBase& call);

struct ElementSize {
  std::uint64_t bytes = 0;   ///< from one element to the next
  std::uint64_t padding = 0; ///< of these, at the end: of a vector of three, one component's
};

/// The element type that pointer parameter `parameter` (counted among pointers) points to, read
/// from a mangled name: 16 bytes for the first of "_Z4copyPU3AS1Dv4_f". Nothing if it is no
/// arithmetic type.
std::optional<ElementSize> mangledPointeeSize(llvm::StringRef functionName, unsigned parameter);

/// What get_image_width and the like tell: the number of pixels, rows, slices or layers in this
/// dimension of ImageNumbers::size. Nothing for those that tell something else.
std::optional<unsigned> imageDimension(const llvm::CallBase& call);

/// What a vloadN or vstoreN touches.
struct VectorAccess {
  unsigned indexOperand = 0;
  unsigned pointerOperand = 0;
  std::uint64_t stride = 0;  ///< bytes per step of the index
  std::uint64_t length = 0;  ///< bytes
  std::uint64_t padding = 0; ///< bytes after these that a device may touch as well
  std::uint64_t element = 1; ///< bytes of a lane, to which the address is aligned
};
VectorAccess vectorAccess(const llvm::CallBase& call, const llvm::DataLayout& layout);

} // namespace libsplit
