#include "analysis-pass/tests/oracle/machine.h"

#include "analysis-pass/pass/analysis_managers.h"
#include "analysis-pass/pass/builtins.h"
#include "analysis-pass/pass/divisions.h"
#include "analysis-pass/pass/unroll_loops.h"
#include "analysis-pass/tests/oracle/builtin_library.h"
#include "analysis-pass/tests/oracle/fibers.h"
#include "analysis-pass/tests/oracle/group_functions.h"
#include "analysis-pass/tests/oracle/host_module.h"
#include "analysis-pass/tests/oracle/lone_components.h"
#include "analysis-pass/tests/oracle/record_accesses.h"
#include "analysis-pass/tests/oracle/recorder.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace libsplit::oracle {
namespace {

struct WorkItem {
  std::array<std::uint64_t, 3> local{};
  std::uint64_t number = 0; ///< in the whole NDRange
};

/// The launch under way.
struct Running {
  NDRange range;
  std::array<std::uint64_t, 3> group{};
  std::array<std::uint64_t, 3> localSize{};
  std::vector<WorkItem> items; ///< of the group
  Fibers* fibers = nullptr;
  Recorder* recorder = nullptr;
  std::uint64_t steps = 0; ///< that are left
  const WorkItem& item() const { return items[fibers->current()]; }
};
Running* running = nullptr;

[[noreturn]] void giveUp(const char* why) {
  running->recorder->undefined(why);
  running->fibers->abandonAll();
}

void atAccess(const char* why) {
  if (why)
    giveUp(why);
}
void reads(const void* at, std::uint64_t size) {
  atAccess(running->recorder->reads(at, size, running->item().number));
}
void willWrite(const void* at, std::uint64_t size) {
  atAccess(running->recorder->willWrite(at, size));
}
void wrote(const void* at, std::uint64_t size) {
  running->recorder->wrote(at, size, running->item().number);
}
void steps() {
  if (running->steps-- == 0)
    giveUp("endless loop");
}
/// The value of a division in the program itself: where it is unspecified, one of several.
std::int64_t quotient(std::uint32_t opcode, std::int64_t a, std::int64_t b, std::uint32_t bits) {
  const bool isSigned = opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::SRem;
  if (b == 0 || (isSigned && b == -1 && a == -(std::int64_t{1} << (bits - 1)))) {
    running->recorder->unspecified();
    const std::int64_t any[] = {0, -1, a, 5};
    return any[static_cast<std::uint64_t>(a) % std::size(any)];
  }
  switch (opcode) {
  case llvm::Instruction::SDiv:
    return a / b;
  case llvm::Instruction::SRem:
    return b == -1 ? 0 : a % b;
  case llvm::Instruction::UDiv:
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) / static_cast<std::uint64_t>(b));
  default:
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) % static_cast<std::uint64_t>(b));
  }
}
/// In PoCL's functions, which the program must not make divide by 0.
void divides(std::int64_t a, std::int64_t b, std::uint32_t bits) {
  if (b == 0)
    giveUp("division by zero");
  if (bits > 0 && b == -1 && a == -(std::int64_t{1} << (bits - 1)))
    giveUp("signed overflow");
}
void computes(std::uint32_t operation, std::int64_t a, std::int64_t b, std::uint32_t bits) {
  __int128 x = a, y = b;
  __int128 result = operation == '+' ? x + y : operation == '-' ? x - y : x * y;
  __int128 limit = __int128{1} << (bits - 1);
  if (result < -limit || result >= limit)
    giveUp("signed overflow");
}

std::uint64_t globalId(std::uint32_t d) {
  return d > 2 ? 0
               : running->range.offset[d] + running->group[d] * running->range.local[d] +
                     running->item().local[d];
}
std::uint64_t localId(std::uint32_t d) {
  return d > 2 ? 0 : running->item().local[d];
}
std::uint64_t groupId(std::uint32_t d) {
  return d > 2 ? 0 : running->group[d];
}
std::uint64_t globalSize(std::uint32_t d) {
  return d > 2 ? 1 : running->range.global[d];
}
std::uint64_t localSize(std::uint32_t d) {
  return d > 2 ? 1 : running->localSize[d];
}
std::uint64_t enqueuedLocalSize(std::uint32_t d) {
  return d > 2 ? 1 : running->range.local[d];
}
std::uint64_t numGroups(std::uint32_t d) {
  return d > 2 ? 1 : running->range.groups(d);
}
std::uint64_t globalOffset(std::uint32_t d) {
  return d > 2 ? 0 : running->range.offset[d];
}
std::uint32_t workDim() {
  return running->range.dimensions;
}
std::uint64_t globalLinearId() {
  auto at = [](unsigned d) { return globalId(d) - running->range.offset[d]; };
  return (at(2) * globalSize(1) + at(1)) * globalSize(0) + at(0);
}
std::uint64_t localLinearId() {
  return (localId(2) * localSize(1) + localId(1)) * localSize(0) + localId(0);
}
void barrier() {
  running->fibers->yield();
}
void nothing() {}
SubGroup subGroup() {
  return {running->fibers->current(), running->items.size()};
}
void beginUpdate(std::uint32_t kind) {
  running->recorder->beginUpdate(kind);
}
void endUpdate() {
  running->recorder->endUpdate();
}

void* answer(std::uint32_t (*function)()) {
  return reinterpret_cast<void*>(function);
}

const std::pair<const char*, void*> namedFunctions[] = {
    {"oracle_begin_update", reinterpret_cast<void*>(beginUpdate)},
    {"oracle_end_update", reinterpret_cast<void*>(endUpdate)},
    {"oracle_reads", reinterpret_cast<void*>(reads)},
    {"oracle_will_write", reinterpret_cast<void*>(willWrite)},
    {"oracle_wrote", reinterpret_cast<void*>(wrote)},
    {"oracle_steps", reinterpret_cast<void*>(steps)},
    {"oracle_divides", reinterpret_cast<void*>(divides)},
    {"oracle_quotient", reinterpret_cast<void*>(quotient)},
    {"oracle_computes", reinterpret_cast<void*>(computes)},
    {"_Z13get_global_idj", reinterpret_cast<void*>(globalId)},
    {"_Z12get_local_idj", reinterpret_cast<void*>(localId)},
    {"_Z12get_group_idj", reinterpret_cast<void*>(groupId)},
    {"_Z15get_global_sizej", reinterpret_cast<void*>(globalSize)},
    {"_Z14get_local_sizej", reinterpret_cast<void*>(localSize)},
    {"_Z23get_enqueued_local_sizej", reinterpret_cast<void*>(enqueuedLocalSize)},
    {"_Z14get_num_groupsj", reinterpret_cast<void*>(numGroups)},
    {"_Z17get_global_offsetj", reinterpret_cast<void*>(globalOffset)},
    {"_Z12get_work_dimv", reinterpret_cast<void*>(workDim)},
    {"_Z20get_global_linear_idv", reinterpret_cast<void*>(globalLinearId)},
    {"_Z19get_local_linear_idv", reinterpret_cast<void*>(localLinearId)},
    {"_Z7barrierj", reinterpret_cast<void*>(barrier)},
    {"_Z18work_group_barrierj", reinterpret_cast<void*>(barrier)},
    {"_Z18work_group_barrierj12memory_scope", reinterpret_cast<void*>(barrier)},
    // What async copies copy is there when they return; the group must wait for all of them.
    {"_Z17wait_group_eventsiPU3AS49ocl_event", reinterpret_cast<void*>(barrier)},
    {"_Z17wait_group_eventsiP9ocl_event", reinterpret_cast<void*>(barrier)},
    {"_Z9mem_fencej", reinterpret_cast<void*>(nothing)},
    {"_Z14read_mem_fencej", reinterpret_cast<void*>(nothing)},
    {"_Z15write_mem_fencej", reinterpret_cast<void*>(nothing)},
    {"_Z18get_sub_group_sizev", answer([] { return subGroup().size(); })},
    {"_Z22get_max_sub_group_sizev", answer([] { return std::uint32_t{subGroupSize}; })},
    {"_Z18get_num_sub_groupsv", answer([] { return subGroup().count(); })},
    {"_Z27get_enqueued_num_sub_groupsv", answer([] { return subGroup().count(); })},
    {"_Z16get_sub_group_idv", answer([] { return subGroup().id(); })},
    {"_Z22get_sub_group_local_idv", answer([] { return subGroup().localId(); })},
};

std::vector<std::pair<const char*, void*>> hostFunctions() {
  std::vector<std::pair<const char*, void*>> all(std::begin(namedFunctions),
                                                 std::end(namedFunctions));
  for (std::size_t i = 0; i < groupFunctionNames.size(); ++i)
    all.emplace_back(groupFunctionNames[i], groupFunctions[i]);
  return all;
}

std::vector<std::string> suppliedNames() {
  std::vector<std::string> names;
  for (const auto& function : hostFunctions())
    names.emplace_back(function.first);
  return names;
}

/// Which operation an atomic function is, such that two of one kind commute; 0 where they don't.
/// Functions of one name and one type are of one kind; additions and subtractions are of one.
std::uint32_t updateKind(llvm::StringRef function) {
  const llvm::StringRef name = builtinName(function);
  llvm::StringRef operation = name;
  if (!operation.consume_front("atomic_") && !operation.consume_front("atom_"))
    return 0;
  const bool isC11 = operation.consume_front("fetch_") && operation.consume_back("_explicit");
  // Of the operand; inc and dec have none but the pointer's.
  const char type = isC11 ? function.split("_Atomic").second.front() : function.back();
  const std::uint32_t wide = type == 'l' || type == 'm';
  if (operation == "add" || operation == "sub" || operation == "inc" || operation == "dec")
    return 1 + wide;
  if (operation == "and" || operation == "or" || operation == "xor")
    return 8 + 8 * static_cast<std::uint32_t>(operation.front() - 'a') + wide;
  if (operation == "min" || operation == "max")
    return 1024 + 256 * (operation == "min") + static_cast<std::uint32_t>(type);
  return 0;
}

/// Tells the recorder of atomics whose result nobody uses.
void markUpdates(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      const std::uint32_t kind = callee && callee->isDeclaration() && call->use_empty()
                                     ? updateKind(callee->getName())
                                     : 0;
      if (kind == 0)
        continue;
      llvm::IRBuilder<> before(call), after(call->getNextNode());
      before.CreateCall(module.getOrInsertFunction("oracle_begin_update", before.getVoidTy(),
                                                   before.getInt32Ty()),
                        {before.getInt32(kind)});
      after.CreateCall(module.getOrInsertFunction("oracle_end_update", after.getVoidTy()));
    }
}

template <typename Pass> auto onFunctions(Pass pass) {
  return llvm::createModuleToFunctionPassAdaptor(std::move(pass));
}

/// Lets the machine answer the divisions that may give an unspecified value.
void answerDivisions(llvm::Module& module) {
  std::vector<std::pair<llvm::Instruction*, llvm::Instruction::BinaryOps>> divisions;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto opcode = totalDivision(instruction))
        divisions.emplace_back(&instruction, *opcode);
  for (auto [division, opcode] : divisions) {
    llvm::IRBuilder<> code(division);
    const bool isSigned = opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::SRem;
    auto wide = [&](unsigned i) {
      return code.CreateIntCast(division->getOperand(i), code.getInt64Ty(), isSigned);
    };
    auto callee =
        module.getOrInsertFunction("oracle_quotient", code.getInt64Ty(), code.getInt32Ty(),
                                   code.getInt64Ty(), code.getInt64Ty(), code.getInt32Ty());
    llvm::Value* answer =
        code.CreateCall(callee, {code.getInt32(opcode), wide(0), wide(1),
                                 code.getInt32(division->getType()->getIntegerBitWidth())});
    division->replaceAllUsesWith(code.CreateTrunc(answer, division->getType()));
    division->eraseFromParent();
  }
}

/// Makes components of vectors memory locations of their own. With Form::Lean, drops what nobody
/// uses, as every compiler does: values, branches, and loads with them; stores that the next one
/// overwrites, and what they stored; of vectors each part by itself, of loops that the analysis
/// unrolls each iteration by itself.
void cleanUp(llvm::Module& module, Kernel::Form form) {
  makeComponentsLone(module);
  makeDivisionsTotal(module);
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && function.hasInternalLinkage() &&
        !function.hasFnAttribute(llvm::Attribute::NoInline))
      function.addFnAttr(llvm::Attribute::AlwaysInline);
  AnalysisManagers managers;
  llvm::FunctionPassManager perFunction;
  perFunction.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  perFunction.addPass(llvm::ScalarizerPass());
  if (form == Kernel::Form::Lean) {
    perFunction.addPass(llvm::InstSimplifyPass());
    perFunction.addPass(llvm::EarlyCSEPass());
    perFunction.addPass(llvm::LoopSimplifyPass());
    perFunction.addPass(UnrollLoopsPass());
    perFunction.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    for (int round = 0; round < 2; ++round) {
      perFunction.addPass(PlainDivisionsPass());
      perFunction.addPass(llvm::SimplifyCFGPass());
      perFunction.addPass(llvm::EarlyCSEPass());
      perFunction.addPass(llvm::InstSimplifyPass());
    }
    perFunction.addPass(llvm::SimplifyCFGPass());
    perFunction.addPass(llvm::ADCEPass());
  }
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(onFunctions(std::move(perFunction)));
  passes.run(module, managers.modules);
  answerDivisions(module);
  markUpdates(module);
}

void instrument(llvm::Module& module) {
  AnalysisManagers managers;
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(onFunctions(RecordAccesses()));
  passes.run(module, managers.modules);
}

std::string text(llvm::Error error) {
  return llvm::toString(std::move(error));
}

} // namespace

Memories::Memories() {
  void* room = mmap(nullptr, Recorder::slotSize * capacity, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    throw std::bad_alloc();
  base_ = static_cast<std::byte*>(room);
  for (unsigned i = 0; i < capacity; ++i)
    if (mprotect(base_ + Recorder::slotSize * i + Recorder::slotSize / 2, Recorder::maxObject,
                 PROT_READ | PROT_WRITE) != 0)
      throw std::bad_alloc();
}

Memories::~Memories() {
  munmap(base_, Recorder::slotSize * capacity);
}

std::span<std::byte> Memories::add(std::size_t size) {
  if (count() == capacity || size > Recorder::maxObject)
    throw std::bad_alloc();
  sizes_.push_back(size);
  auto bytes = at(count() - 1);
  std::memset(bytes.data(), 0, size);
  return bytes;
}

std::span<std::byte> Memories::at(unsigned i) const {
  return {base_ + Recorder::slotSize * i + Recorder::slotSize / 2, sizes_[i]};
}

struct Kernel::Code {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

Kernel::~Kernel() = default;

std::vector<std::unique_ptr<Kernel>> Kernel::compile(const ProgramInput& program,
                                                     const std::vector<std::string>& wanted,
                                                     std::vector<std::string>& missing, Form form) {
  static const bool ready =
      !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  std::vector<std::unique_ptr<Kernel>> kernels;
  CompiledProgram compiled = libsplit::compile(program);
  if (!compiled.module || !ready) {
    missing.push_back("the program: " + compiled.failure);
    return kernels;
  }
  auto machine = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!machine) {
    missing.push_back(text(machine.takeError()));
    return kernels;
  }
  machine->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*machine).create();
  if (!jit) {
    missing.push_back(text(jit.takeError()));
    return kernels;
  }
  auto code = std::make_shared<Code>();
  code->jit = std::move(*jit);
  llvm::orc::SymbolMap host;
  for (const auto& [name, address] : hostFunctions())
    host[code->jit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                              llvm::JITSymbolFlags::Exported |
                                                  llvm::JITSymbolFlags::Callable};
  llvm::orc::ThreadSafeContext context(std::move(compiled.context));
  for (const std::string& name : wanted) {
    auto module = extractKernel(*compiled.module, name);
    if (!module) {
      missing.push_back(name + ": images, pipes or the like");
      continue;
    }
    cleanUp(*module, form);
    module->setTargetTriple(code->jit->getTargetTriple().str());
    module->setDataLayout(code->jit->getDataLayout());
    useHostConventions(*module);
    if (std::string why = linkBuiltins(*module, suppliedNames()); !why.empty()) {
      missing.push_back(name + ": " + why);
      continue;
    }
    useHostConventions(*module);
    for (llvm::Function& function : *module)
      if (!function.isDeclaration() && function.getName() != name) {
        function.setComdat(nullptr);
        function.setLinkage(llvm::GlobalValue::InternalLinkage);
      }
    instrument(*module);
    const std::string entry = "oracle_entry";
    addEntry(*module->getFunction(name), entry);
    auto library = code->jit->createJITDylib(name);
    if (!library) {
      missing.push_back(name + ": " + text(library.takeError()));
      continue;
    }
    library->addToLinkOrder(code->jit->getMainJITDylib());
    auto processSymbols = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
        code->jit->getDataLayout().getGlobalPrefix());
    if (processSymbols)
      library->addGenerator(std::move(*processSymbols));
    llvm::cantFail(library->define(llvm::orc::absoluteSymbols(host)));
    if (auto error = code->jit->addIRModule(*library, {std::move(module), context})) {
      missing.push_back(name + ": " + text(std::move(error)));
      continue;
    }
    auto found = code->jit->lookup(*library, entry);
    if (!found) {
      missing.push_back(name + ": " + text(found.takeError()));
      continue;
    }
    std::unique_ptr<Kernel> kernel(new Kernel);
    kernel->name_ = name;
    kernel->code_ = code;
    kernel->entry_ = found->toPtr<void (*)(void**)>();
    kernels.push_back(std::move(kernel));
  }
  compiled.module.reset(); // before its context
  return kernels;
}

Observation Kernel::run(const NDRange& range, std::span<const Argument> arguments,
                        const Memories& memories, std::uint64_t maxSteps) const {
  const GroupBox whole = wholeBox(range);
  return run(range, arguments, memories, maxSteps, {&whole, 1});
}

Observation Kernel::run(const NDRange& range, std::span<const Argument> arguments,
                        const Memories& memories, std::uint64_t maxSteps,
                        std::span<const GroupBox> boxes) const {
  Observation result;
  std::vector<std::vector<std::byte>> local;
  std::vector<void*> slots;
  for (const Argument& argument : arguments)
    switch (argument.kind) {
    case Argument::Kind::Value:
      slots.push_back(const_cast<std::byte*>(argument.value.data()));
      break;
    case Argument::Kind::Buffer:
      slots.push_back(argument.address);
      break;
    case Argument::Kind::Local: {
      static unsigned char garbage = 0; // another each time
      auto& room = local.emplace_back(argument.size + 128, std::byte{garbage += 0x3b});
      auto address = reinterpret_cast<std::uintptr_t>(room.data());
      slots.push_back(room.data() + (128 - address % 128));
      break;
    }
    }

  static Fibers fibers;
  Recorder recorder(memories, [&](const std::byte* at) {
    // The program's constants and local variables lie beside its code.
    constexpr std::uintptr_t near = std::uintptr_t{1} << 21;
    auto distance =
        reinterpret_cast<std::uintptr_t>(at) + near / 2 - reinterpret_cast<std::uintptr_t>(entry_);
    return distance < near || fibers.isOnStack(at) ||
           std::ranges::any_of(
               local,
               [&](const auto& room) {
                 return at >= room.data() && at < room.data() + room.size();
               });
  });
  Running state;
  state.range = range;
  state.steps = maxSteps;
  state.fibers = &fibers;
  state.recorder = &recorder;
  running = &state;
  std::uint64_t number = 0;
  auto& group = state.group;
  groupUnderWay.fibers = &fibers;
  for (const GroupBox& box : boxes)
    for (group[2] = box.begin[2]; group[2] < box.end[2]; ++group[2])
      for (group[1] = box.begin[1]; group[1] < box.end[1]; ++group[1])
        for (group[0] = box.begin[0]; group[0] < box.end[0]; ++group[0]) {
          for (unsigned d = 0; d < 3; ++d)
            groupUnderWay.size[d] = state.localSize[d] =
                std::min(range.local[d], range.global[d] - group[d] * range.local[d]);
          state.items.clear();
          for (std::uint64_t z = 0; z < state.localSize[2]; ++z)
            for (std::uint64_t y = 0; y < state.localSize[1]; ++y)
              for (std::uint64_t x = 0; x < state.localSize[0]; ++x)
                state.items.push_back({{x, y, z}, ++number});
          recorder.beginGroup();
          fibers.run(
              state.items.size(), [&] { entry_(slots.data()); }, [&] { recorder.nextPhase(); });
          if (!recorder.undefined().empty()) {
            result.undefined = recorder.undefined();
            running = nullptr;
            return result;
          }
          result.numbers.push_back(group);
          result.groups.push_back(recorder.endGroup());
        }
  running = nullptr;
  result.racy = recorder.racy();
  result.unspecified = recorder.isUnspecified();
  return result;
}

} // namespace libsplit::oracle
