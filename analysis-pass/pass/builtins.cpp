#include "analysis-pass/pass/builtins.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InstrTypes.h>

#include <algorithm>

using llvm::StringRef;

namespace libsplit {
namespace {

Builtin of(BuiltinKind kind) {
  return {.kind = kind};
}

Builtin ofSubGroups() {
  return {.kind = BuiltinKind::GroupSensitive, .asksSubGroups = true};
}

Builtin idQuery(Expr::Op op, bool needsPartitionArgument) {
  return {BuiltinKind::IdQuery, op, needsPartitionArgument};
}

const llvm::StringMap<Builtin>& namedBuiltins() {
  using Op = Expr::Op;
  static const llvm::StringMap<Builtin> table = [] {
    llvm::StringMap<Builtin> t;
    t["get_global_id"] = idQuery(Op::GlobalId, false);
    t["get_local_id"] = idQuery(Op::LocalId, false);
    t["get_group_id"] = idQuery(Op::GroupId, true);
    t["get_global_size"] = idQuery(Op::GlobalSize, true);
    t["get_local_size"] = idQuery(Op::LocalSize, false);
    t["get_enqueued_local_size"] = idQuery(Op::EnqueuedLocalSize, false);
    t["get_num_groups"] = idQuery(Op::NumGroups, true);
    t["get_global_offset"] = idQuery(Op::GlobalOffset, true);
    t["get_work_dim"] = of(BuiltinKind::WorkDim);
    t["get_global_linear_id"] = {BuiltinKind::GlobalLinearId, Op::Unknown, true};
    t["get_local_linear_id"] = of(BuiltinKind::LocalLinearId);

    for (StringRef name : {"barrier", "work_group_barrier"})
      t[name] = of(BuiltinKind::Barrier);
    for (StringRef name : {"sub_group_barrier", "wait_group_events"})
      t[name] = of(BuiltinKind::GroupSensitive);
    for (StringRef name :
         {"get_sub_group_size", "get_max_sub_group_size", "get_num_sub_groups",
          "get_enqueued_num_sub_groups", "get_sub_group_id", "get_sub_group_local_id"})
      t[name] = ofSubGroups();
    for (StringRef name :
         {"mem_fence", "read_mem_fence", "write_mem_fence", "prefetch", "atomic_work_item_fence",
          "get_fence", "__translate_sampler_initializer"})
      t[name] = of(BuiltinKind::Harmless);
    for (StringRef name :
         {"min", "max", "clamp", "abs", "mul24", "mad24", "abs_diff", "add_sat", "sub_sat"})
      t[name] = of(BuiltinKind::IntegerMath);
    for (StringRef name : {"sincos", "fract", "modf", "frexp", "remquo", "lgamma_r"})
      t[name] = of(BuiltinKind::PointerResult);
    for (StringRef name :
         {"to_global", "to_local", "to_private", "__to_global", "__to_local", "__to_private"})
      t[name] = of(BuiltinKind::PointerCast);
    t["async_work_group_copy"] = of(BuiltinKind::AsyncCopy);
    t["async_work_group_strided_copy"] = of(BuiltinKind::AsyncStrided);
    t["printf"] = of(BuiltinKind::Printf);
    return t;
  }();
  return table;
}

bool startsWithAny(StringRef name, std::initializer_list<StringRef> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](StringRef prefix) { return name.starts_with(prefix); });
}

/// Reads one arithmetic type off the front of an Itanium-mangled text.
std::optional<ElementSize> consumeArithmeticType(StringRef& text) {
  unsigned lanes = 1;
  if (text.consume_front("Dv") && (text.consumeInteger(10, lanes) || !text.consume_front("_")))
    return std::nullopt;
  auto of = [&](std::uint64_t lane) {
    if (lanes == 3) // takes the room of four
      return ElementSize{4 * lane, lane};
    return ElementSize{lanes * lane, 0};
  };
  if (text.consume_front("Dh"))
    return of(2);
  if (text.empty())
    return std::nullopt;
  char code = text.front();
  text = text.drop_front();
  switch (code) {
  case 'c':
  case 'a':
  case 'h':
    return of(1);
  case 's':
  case 't':
    return of(2);
  case 'i':
  case 'j':
  case 'f':
    return of(4);
  case 'l':
  case 'm':
  case 'd':
    return of(8);
  default:
    return std::nullopt;
  }
}

unsigned lanesOf(const llvm::Type* type) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return vector->getNumElements();
  return 1;
}

/// The mangled parameters of a function; empty if its name is not mangled.
StringRef mangledParameters(StringRef functionName) {
  const StringRef name = builtinName(functionName);
  return name.size() == functionName.size()
             ? StringRef()
             : StringRef(name.end(), static_cast<std::size_t>(functionName.end() - name.end()));
}

/// Whether `call` has the operands that the built-in function `name` is known by. A program may
/// declare others of that name.
bool hasOperands(const llvm::CallBase& call, StringRef name, BuiltinKind kind) {
  auto has = [&](unsigned count, std::initializer_list<unsigned> pointers) {
    return call.arg_size() >= count && llvm::all_of(pointers, [&](unsigned i) {
             return call.getArgOperand(i)->getType()->isPointerTy();
           });
  };
  switch (kind) {
  case BuiltinKind::IdQuery:
  case BuiltinKind::ImageQuery:
    return has(1, {});
  case BuiltinKind::IntegerMath:
    return has(name == "abs" ? 1 : name == "clamp" || name == "mad24" ? 3 : 2, {});
  case BuiltinKind::PointerCast:
    return has(1, {0});
  case BuiltinKind::VectorLoad:
    return has(2, {1}) && !call.getType()->isVoidTy();
  case BuiltinKind::VectorStore:
    return has(3, {2});
  case BuiltinKind::ImageWrite:
    return has(2, {});
  case BuiltinKind::AsyncCopy:
    return has(3, {0, 1});
  case BuiltinKind::AsyncStrided:
    return has(4, {0, 1});
  case BuiltinKind::PointerResult:
    return has(1, {static_cast<unsigned>(call.arg_size()) - 1});
  default:
    return true;
  }
}

} // namespace

StringRef builtinName(StringRef functionName) {
  StringRef rest = functionName;
  unsigned length = 0;
  if (!rest.consume_front("_Z") || rest.consumeInteger(10, length) || length > rest.size())
    return functionName;
  StringRef name = rest.take_front(length);
  name.consume_front("_cl_"); // PoCL's
  return name;
}

bool takesImage(StringRef functionName) {
  StringRef parameters = mangledParameters(functionName);
  unsigned length = 0;
  return !parameters.consumeInteger(10, length) && parameters.starts_with("ocl_image");
}

Builtin classifyBuiltin(StringRef name) {
  auto found = namedBuiltins().find(name);
  if (found != namedBuiltins().end())
    return found->second;
  if (startsWithAny(name, {"vload"}))
    return of(BuiltinKind::VectorLoad);
  if (startsWithAny(name, {"vstore"}))
    return of(BuiltinKind::VectorStore);
  if (startsWithAny(name, {"atomic_", "atom_", "__opencl_atomic_"}))
    return of(BuiltinKind::Atomic);
  if (name.starts_with("get_image_"))
    return of(BuiltinKind::ImageQuery);
  if (name.starts_with("read_image"))
    return of(BuiltinKind::ImageRead);
  if (name.starts_with("write_image"))
    return of(BuiltinKind::ImageWrite);
  if (startsWithAny(name, {"read_pipe", "write_pipe", "reserve_", "commit_", "work_group_reserve_",
                           "work_group_commit_", "sub_group_reserve_", "sub_group_commit_",
                           "get_pipe_", "__read_pipe", "__write_pipe", "__reserve_", "__commit_",
                           "__work_group_reserve_", "__work_group_commit_", "__sub_group_reserve_",
                           "__sub_group_commit_", "__get_pipe_", "is_valid_reserve_id"}))
    return of(BuiltinKind::Pipe);
  if (startsWithAny(name, {"enqueue_", "__enqueue_", "ndrange_", "get_default_queue", "get_kernel_",
                           "__get_kernel_", "create_user_event", "set_user_event", "retain_event",
                           "release_event", "is_valid_event", "capture_event"}))
    return of(BuiltinKind::DeviceEnqueue);
  if (name.starts_with("sub_group_") || name.starts_with("get_sub_group_"))
    return ofSubGroups();
  if (name.starts_with("work_group_"))
    return of(BuiltinKind::GroupSensitive);
  return {};
}

Builtin classifyCall(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration())
    return {};
  const StringRef name = builtinName(callee->getName());
  Builtin builtin = classifyBuiltin(name);
  if (!hasOperands(call, name, builtin.kind))
    return {};
  bool takesPointer = std::any_of(call.arg_begin(), call.arg_end(), [](const llvm::Use& operand) {
    return operand->getType()->isPtrOrPtrVectorTy();
  });
  switch (builtin.kind) {
  case BuiltinKind::Unknown:
    return call.doesNotAccessMemory() ? of(BuiltinKind::Harmless) : builtin;
  case BuiltinKind::Barrier:
  case BuiltinKind::GroupSensitive:
    // wait_group_events takes private events; the others take no pointer, so anything else that
    // does is a vendor's block read or write.
    if (takesPointer && name != "wait_group_events")
      return {};
    return builtin;
  case BuiltinKind::IntegerMath:
    return takesPointer ? Builtin{} : builtin;
  case BuiltinKind::ImageQuery:
  case BuiltinKind::ImageRead:
  case BuiltinKind::ImageWrite: // else it is the program's own of that name
    return takesImage(callee->getName()) ? builtin : Builtin{};
  default:
    return builtin;
  }
}

std::optional<ElementSize> mangledPointeeSize(StringRef functionName, unsigned parameter) {
  StringRef rest = mangledParameters(functionName);
  std::optional<ElementSize> size;
  for (unsigned pointer = 0;;) {
    bool substitution = false;
    if (rest.consume_front("P")) {
      while (!rest.empty()) {
        unsigned length = 0;
        if (rest.consume_front("U")) {
          if (rest.consumeInteger(10, length) || length > rest.size())
            return std::nullopt;
          rest = rest.drop_front(length);
        } else if (!rest.consume_front("K") && !rest.consume_front("V")) {
          break;
        }
      }
      // A substitution repeats a type that came before: among these built-ins always the element.
      if (rest.consume_front("S")) {
        std::size_t end = rest.find('_');
        if (end == StringRef::npos || !size)
          return std::nullopt;
        rest = rest.drop_front(end + 1);
        substitution = true;
      }
      if (!substitution)
        size = consumeArithmeticType(rest);
      if (!size || pointer++ == parameter)
        return size;
    } else if (!consumeArithmeticType(rest)) {
      return std::nullopt;
    }
  }
}

std::optional<unsigned> imageDimension(const llvm::CallBase& call) {
  const StringRef name = builtinName(call.getCalledFunction()->getName());
  if (name == "get_image_width")
    return 0;
  if (name == "get_image_height")
    return 1;
  if (name == "get_image_depth")
    return 2;
  if (name == "get_image_array_size")
    return call.getCalledFunction()->getName().contains("1d_array") ? 1 : 2;
  return std::nullopt;
}

VectorAccess vectorAccess(const llvm::CallBase& call, const llvm::DataLayout& layout) {
  StringRef name = builtinName(call.getCalledFunction()->getName());
  bool store = name.starts_with("vstore");
  bool half = name.contains("_half");
  bool aligned = name.starts_with("vloada") || name.starts_with("vstorea");
  llvm::Type* data = store ? call.getArgOperand(0)->getType() : call.getType();
  unsigned lanes = lanesOf(data);
  std::uint64_t element = half ? 2 : layout.getTypeStoreSize(data->getScalarType()).getFixedValue();
  VectorAccess access;
  access.indexOperand = store ? 1 : 0;
  access.pointerOperand = access.indexOperand + 1;
  access.length = element * lanes;
  access.element = element;
  access.padding = aligned && lanes == 3 ? element : 0;
  access.stride = access.length + access.padding;
  return access;
}

} // namespace libsplit
