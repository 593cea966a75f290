#include "analysis-pass/pass/spirv_rewriter.h"

#include "analysis-pass/summary/partition_argument.h"

#include <spirv-tools/libspirv.h>
#include <spirv/unified1/spirv.hpp11>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace libsplit {
namespace {

using Id = std::uint32_t;
using Words = std::vector<std::uint32_t>;
using spv::BuiltIn;
using spv::Op;

constexpr std::size_t headerWords = 5;
constexpr std::size_t boundWord = 3;
constexpr spv_target_env environment = SPV_ENV_UNIVERSAL_1_6;

/// Why a module can't be rewritten.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Instruction {
  Op op = Op::OpNop;
  Words words; ///< the first one too, which holds opcode and length
  Id result = 0;
  std::vector<unsigned> ids; ///< positions in `words` that hold ids, the result's not
};

Instruction make(Op op, Words operands) {
  Instruction made{op, {}, 0, {}};
  made.words.push_back(static_cast<std::uint32_t>((operands.size() + 1) << 16) |
                       static_cast<std::uint32_t>(op));
  made.words.insert(made.words.end(), operands.begin(), operands.end());
  return made;
}

void append(Instruction& instruction, std::uint32_t word) {
  instruction.words.push_back(word);
  instruction.words[0] += 1u << 16;
}

/// A literal string from word `first` on.
std::string textAt(const Words& words, std::size_t first) {
  const auto* begin = reinterpret_cast<const char*>(words.data() + first);
  return {begin, strnlen(begin, (words.size() - first) * sizeof(std::uint32_t))};
}

void appendText(Instruction& instruction, const std::string& text) {
  for (std::size_t i = 0; i <= text.size(); i += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, text.data() + i, std::min(sizeof word, text.size() - i));
    append(instruction, word);
  }
}

struct ContextDeleter {
  void operator()(spv_context context) const { spvContextDestroy(context); }
};
using Context = std::unique_ptr<spv_context_t, ContextDeleter>;

/// A message of SPIRV-Tools, freed.
std::string take(spv_diagnostic diagnostic) {
  std::string text = diagnostic && diagnostic->error ? diagnostic->error : "no reason is given";
  spvDiagnosticDestroy(diagnostic);
  return text;
}

/// Of another instruction's result.
bool namesAnId(spv_operand_type_t type) {
  return type == SPV_OPERAND_TYPE_ID || type == SPV_OPERAND_TYPE_TYPE_ID ||
         type == SPV_OPERAND_TYPE_SCOPE_ID || type == SPV_OPERAND_TYPE_MEMORY_SEMANTICS_ID;
}

bool isDebugInfo(spv_ext_inst_type_t set) {
  return set == SPV_EXT_INST_TYPE_DEBUGINFO || set == SPV_EXT_INST_TYPE_OPENCL_DEBUGINFO_100 ||
         set == SPV_EXT_INST_TYPE_NONSEMANTIC_SHADER_DEBUGINFO_100;
}

/// Debug information is left out: producers make modules whose debug information the validator
/// refuses, and parts of a launch have no use for it.
std::vector<Instruction> parse(const Context& context, const Words& module) {
  std::vector<Instruction> instructions;
  auto keep = [](void* user, const spv_parsed_instruction_t* parsed) {
    if (isDebugInfo(parsed->ext_inst_type))
      return SPV_SUCCESS;
    Instruction instruction{static_cast<Op>(parsed->opcode),
                            {parsed->words, parsed->words + parsed->num_words},
                            parsed->result_id,
                            {}};
    for (unsigned i = 0; i < parsed->num_operands; ++i)
      if (namesAnId(parsed->operands[i].type))
        instruction.ids.push_back(parsed->operands[i].offset);
    static_cast<std::vector<Instruction>*>(user)->push_back(std::move(instruction));
    return SPV_SUCCESS;
  };
  spv_diagnostic diagnostic = nullptr;
  if (spvBinaryParse(context.get(), &instructions, module.data(), module.size(), nullptr, keep,
                     &diagnostic) != SPV_SUCCESS)
    throw Refusal("SPIRV-Tools can't read it: " + take(diagnostic));
  return instructions;
}

void validate(const Context& context, const Words& module, const char* what) {
  spv_const_binary_t binary{module.data(), module.size()};
  spv_diagnostic diagnostic = nullptr;
  if (spvValidate(context.get(), &binary, &diagnostic) != SPV_SUCCESS)
    throw Refusal(std::string(what) + " is not valid: " + take(diagnostic));
}

/// The built-in variables that a part gets wrong.
bool isMisleading(BuiltIn builtIn) {
  switch (builtIn) {
  case BuiltIn::WorkgroupId:
  case BuiltIn::NumWorkgroups:
  case BuiltIn::GlobalSize:
  case BuiltIn::GlobalOffset:
  case BuiltIn::GlobalLinearId:
    return true;
  default:
    return false;
  }
}

class Rewriter {
public:
  explicit Rewriter(Words module)
      : context_(spvContextCreate(environment)), module_(std::move(module)),
        instructions_(parse(context_, module_)), bound_(module_[boundWord]) {}

  PartitionRewrite run();

private:
  struct Function {
    Id type = 0;      ///< OpTypeFunction
    Id parameter = 0; ///< the trailing one, once it is needy
    std::set<Id> callees;
    bool loadsMisleading = false;
    bool isNeedy = false;
  };

  void readDeclarations();
  void readFunctions();
  void closeOverCalls();
  void checkUses() const;
  Id find(Op op, const Words& operands) const;
  Id findOrDeclare(Op op, const Words& operands);
  Id freshId() { return bound_++; }
  void declareTypes();
  void rewriteLoad(const Instruction& load, Id parameter, std::vector<Instruction>& out);
  std::vector<Instruction> rewritten();
  Words assembled(const std::vector<Instruction>& instructions) const;
  std::vector<std::string> needyKernels() const;

  Context context_;
  Words module_;
  std::vector<Instruction> instructions_;
  Id bound_;

  std::map<Id, BuiltIn> builtIns_; ///< variables
  std::map<Id, Function> functions_;
  std::vector<Instruction> declarations_; ///< new ones, for the end of the module's own
  std::vector<Instruction> decorations_;  ///< new ones
  Id ulong_ = 0, ulong3_ = 0, ulong16_ = 0;
  Id globalId_ = 0; ///< variable; only if a function asks for its linear id
};

void Rewriter::readDeclarations() {
  for (const Instruction& instruction : instructions_) {
    const Words& words = instruction.words;
    if (instruction.op == Op::OpDecorate &&
        static_cast<spv::Decoration>(words[2]) == spv::Decoration::BuiltIn)
      builtIns_[words[1]] = static_cast<BuiltIn>(words[3]);
    if (instruction.op == Op::OpMemoryModel &&
        static_cast<spv::AddressingModel>(words[1]) != spv::AddressingModel::Physical64)
      throw Refusal("SPIR-V with other than 64-bit addresses");
  }
}

void Rewriter::readFunctions() {
  Function* current = nullptr;
  for (const Instruction& instruction : instructions_) {
    const Words& words = instruction.words;
    if (instruction.op == Op::OpFunction) {
      current = &functions_[instruction.result];
      current->type = words[4];
    } else if (instruction.op == Op::OpFunctionEnd) {
      current = nullptr;
    } else if (current && instruction.op == Op::OpFunctionCall) {
      current->callees.insert(words[3]);
    } else if (current && instruction.op == Op::OpLoad) {
      auto variable = builtIns_.find(words[3]);
      current->loadsMisleading |= variable != builtIns_.end() && isMisleading(variable->second);
    }
  }
}

void Rewriter::closeOverCalls() {
  for (auto& [id, function] : functions_)
    function.isNeedy = function.loadsMisleading;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [id, function] : functions_)
      for (Id callee : function.callees)
        if (!function.isNeedy && functions_[callee].isNeedy)
          changed = function.isNeedy = true;
  }
}

/// Misleading variables are loaded and needy functions are called, and nothing else is done.
void Rewriter::checkUses() const {
  for (const Instruction& instruction : instructions_)
    for (unsigned position : instruction.ids) {
      Id id = instruction.words[position];
      switch (instruction.op) {
      case Op::OpName:
      case Op::OpDecorate:
      case Op::OpEntryPoint:
      case Op::OpExecutionMode:
      case Op::OpExecutionModeId:
        continue;
      default:
        break;
      }
      auto variable = builtIns_.find(id);
      if (variable != builtIns_.end() && isMisleading(variable->second) &&
          !(instruction.op == Op::OpLoad && position == 3))
        throw Refusal("a work-item variable is used other than by a load of all of it");
      auto function = functions_.find(id);
      if (function != functions_.end() && function->second.isNeedy &&
          !(instruction.op == Op::OpFunctionCall && position == 3))
        throw Refusal("a function that asks for group ids or sizes is used other than by a call");
    }
}

/// The type that is declared like this, or 0. All operands but the result's id.
Id Rewriter::find(Op op, const Words& operands) const {
  for (const auto* list : {&instructions_, &declarations_})
    for (const Instruction& instruction : *list)
      if (instruction.op == op && instruction.words.size() == operands.size() + 2 &&
          std::equal(operands.begin(), operands.end(), instruction.words.begin() + 2))
        return instruction.words[1];
  return 0;
}

Id Rewriter::findOrDeclare(Op op, const Words& operands) {
  if (Id found = find(op, operands))
    return found;
  Words all{freshId()};
  all.insert(all.end(), operands.begin(), operands.end());
  declarations_.push_back(make(op, all));
  return all[0];
}

void Rewriter::declareTypes() {
  ulong_ = findOrDeclare(Op::OpTypeInt, {64, 0});
  ulong3_ = findOrDeclare(Op::OpTypeVector, {ulong_, 3});
  ulong16_ = findOrDeclare(Op::OpTypeVector, {ulong_, 16});
  for (auto& [id, function] : functions_) {
    if (!function.isNeedy)
      continue;
    function.parameter = freshId();
    auto type = std::ranges::find_if(instructions_, [&](const Instruction& instruction) {
      return instruction.op == Op::OpTypeFunction && instruction.result == function.type;
    });
    if (type == instructions_.end())
      throw Refusal("a function without a type");
    Words operands(type->words.begin() + 2, type->words.end());
    operands.push_back(ulong16_);
    function.type = findOrDeclare(Op::OpTypeFunction, operands);
  }

  bool asksForLinearId = std::ranges::any_of(instructions_, [&](const Instruction& instruction) {
    auto variable =
        instruction.op == Op::OpLoad ? builtIns_.find(instruction.words[3]) : builtIns_.end();
    return variable != builtIns_.end() && variable->second == BuiltIn::GlobalLinearId;
  });
  if (!asksForLinearId)
    return;
  for (const auto& [variable, builtIn] : builtIns_)
    if (builtIn == BuiltIn::GlobalInvocationId)
      globalId_ = variable;
  if (globalId_ != 0)
    return;
  constexpr auto input = static_cast<std::uint32_t>(spv::StorageClass::Input);
  Id pointer = findOrDeclare(Op::OpTypePointer, {input, ulong3_});
  globalId_ = freshId();
  declarations_.push_back(make(Op::OpVariable, {pointer, globalId_, input}));
  decorations_.push_back(
      make(Op::OpDecorate, {globalId_, static_cast<std::uint32_t>(spv::Decoration::BuiltIn),
                            static_cast<std::uint32_t>(BuiltIn::GlobalInvocationId)}));
}

void Rewriter::rewriteLoad(const Instruction& load, Id parameter, std::vector<Instruction>& out) {
  const Id type = load.words[1], result = load.words[2];
  const BuiltIn builtIn = builtIns_.at(load.words[3]);
  if (type != (builtIn == BuiltIn::GlobalLinearId ? ulong_ : ulong3_))
    throw Refusal("a work-item variable of a type of its own");
  auto pick = [&](Id as, std::uint32_t first) {
    out.push_back(make(Op::OpVectorShuffle,
                       {ulong3_, as, parameter, parameter, first, first + 1, first + 2}));
  };
  auto compute = [&](Op op, Id of, Id left, Id right, std::optional<Id> as = {}) {
    Id id = as ? *as : freshId();
    out.push_back(make(op, {of, id, left, right}));
    return id;
  };
  switch (builtIn) {
  case BuiltIn::WorkgroupId: {
    Instruction own = load;
    own.words[2] = freshId();
    Id first = freshId();
    pick(first, partition_word::FirstGroup);
    out.push_back(own);
    compute(Op::OpIAdd, ulong3_, own.words[2], first, result);
    return;
  }
  case BuiltIn::NumWorkgroups:
    return pick(result, partition_word::NumGroups);
  case BuiltIn::GlobalSize:
    return pick(result, partition_word::GlobalSize);
  case BuiltIn::GlobalOffset:
    return pick(result, partition_word::GlobalOffset);
  default:
    break;
  }
  // ((z * sizeY) + y) * sizeX + x, of the id without the offset.
  Id id = freshId(), offset = freshId();
  out.push_back(make(Op::OpLoad, {ulong3_, id, globalId_}));
  pick(offset, partition_word::GlobalOffset);
  Id from0 = compute(Op::OpISub, ulong3_, id, offset);
  auto extract = [&](Id composite, std::uint32_t index) {
    Id component = freshId();
    out.push_back(make(Op::OpCompositeExtract, {ulong_, component, composite, index}));
    return component;
  };
  Id rows = compute(Op::OpIMul, ulong_, extract(from0, 2),
                    extract(parameter, partition_word::GlobalSize + 1));
  Id row = compute(Op::OpIAdd, ulong_, rows, extract(from0, 1));
  Id before = compute(Op::OpIMul, ulong_, row, extract(parameter, partition_word::GlobalSize));
  compute(Op::OpIAdd, ulong_, before, extract(from0, 0), result);
}

std::vector<std::string> Rewriter::needyKernels() const {
  std::vector<std::string> names;
  for (const Instruction& instruction : instructions_)
    if (instruction.op == Op::OpEntryPoint && functions_.contains(instruction.words[2]) &&
        functions_.at(instruction.words[2]).isNeedy)
      names.push_back(textAt(instruction.words, 3));
  std::ranges::sort(names);
  return names;
}

/// "kernel_arg_type.NAME.float*,int," lists a kernel's arguments for clGetKernelArgInfo.
void addToArgumentList(Instruction& string, const std::vector<std::string>& kernels) {
  std::string text = textAt(string.words, 2);
  for (const std::string& kernel : kernels)
    for (auto [list, entry] :
         {std::pair{"kernel_arg_type.", "ulong16,"}, {"kernel_arg_type_qual.", ","}})
      if (text.starts_with(list + kernel + ".")) {
        string = make(Op::OpString, {string.words[1]});
        appendText(string, text + entry);
        return;
      }
}

std::vector<Instruction> Rewriter::rewritten() {
  std::vector<Instruction> out;
  const std::vector<std::string> kernels = needyKernels();
  std::set<spv::Capability> capabilities;
  for (const Instruction& instruction : instructions_)
    if (instruction.op == Op::OpCapability)
      capabilities.insert(static_cast<spv::Capability>(instruction.words[1]));
  for (spv::Capability needed : {spv::Capability::Vector16, spv::Capability::Int64})
    if (!capabilities.contains(needed))
      out.push_back(make(Op::OpCapability, {static_cast<std::uint32_t>(needed)}));

  const Function* current = nullptr;
  bool declared = false, decorated = false, hasParameter = false;
  for (Instruction instruction : instructions_) {
    const Words& words = instruction.words;
    // The first declaration ends the decorations, the first function the declarations.
    const bool declares = instruction.op >= Op::OpTypeVoid && instruction.op <= Op::OpTypePipe;
    if ((declares || instruction.op == Op::OpFunction) && !std::exchange(decorated, true))
      out.insert(out.end(), decorations_.begin(), decorations_.end());
    if (instruction.op == Op::OpFunction && !std::exchange(declared, true))
      out.insert(out.end(), declarations_.begin(), declarations_.end());

    switch (instruction.op) {
    case Op::OpString:
      addToArgumentList(instruction, kernels);
      break;
    case Op::OpEntryPoint: {
      auto kernel = functions_.find(words[2]);
      bool isNeedy = kernel != functions_.end() && kernel->second.isNeedy;
      if (isNeedy && globalId_ != 0 &&
          std::none_of(instruction.ids.begin(), instruction.ids.end(),
                       [&](unsigned position) { return words[position] == globalId_; }))
        append(instruction, globalId_);
      break;
    }
    case Op::OpFunction:
      current = &functions_[instruction.result];
      hasParameter = false;
      if (current->isNeedy)
        instruction.words[4] = current->type;
      break;
    case Op::OpLabel:
      if (current && current->isNeedy && !std::exchange(hasParameter, true))
        out.push_back(make(Op::OpFunctionParameter, {ulong16_, current->parameter}));
      break;
    case Op::OpFunctionCall:
      if (functions_[words[3]].isNeedy)
        append(instruction, current->parameter);
      break;
    case Op::OpLoad: {
      auto variable = builtIns_.find(words[3]);
      if (variable != builtIns_.end() && isMisleading(variable->second)) {
        rewriteLoad(instruction, current->parameter, out);
        continue;
      }
      break;
    }
    default:
      break;
    }
    out.push_back(std::move(instruction));
  }
  return out;
}

/// The module of these instructions.
Words Rewriter::assembled(const std::vector<Instruction>& instructions) const {
  Words module(module_.begin(), module_.begin() + headerWords);
  module[boundWord] = bound_;
  for (const Instruction& instruction : instructions)
    module.insert(module.end(), instruction.words.begin(), instruction.words.end());
  return module;
}

PartitionRewrite Rewriter::run() {
  PartitionRewrite result;
  validate(context_, assembled(instructions_), "the SPIR-V");
  readDeclarations();
  readFunctions();
  closeOverCalls();
  checkUses();
  result.kernels = needyKernels();
  if (result.kernels.empty())
    return result;
  declareTypes();
  const Words module = assembled(rewritten());
  validate(context_, module, "the rewritten SPIR-V");
  result.source.assign(reinterpret_cast<const char*>(module.data()),
                       module.size() * sizeof(std::uint32_t));
  return result;
}

} // namespace

PartitionRewrite rewriteSpirv(const std::string& module) {
  Words words(module.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), module.data(), words.size() * sizeof(std::uint32_t));
  if (words.size() < headerWords || module.size() % sizeof(std::uint32_t) != 0 ||
      words[0] != spv::MagicNumber)
    return {.failure = "not SPIR-V in this machine's byte order"};
  try {
    return Rewriter(std::move(words)).run();
  } catch (const Refusal& refusal) {
    return {.failure = refusal.what()};
  }
}

} // namespace libsplit
