// Random kernels against an interpreter: is what the analysis says true?
//
// Each kernel is generated as a tree that can be printed as OpenCL C and run here, work-item by
// work-item, noting every byte that is read or written. The printed text goes through front end,
// analysis and evaluation. For random launches and boxes of work-groups it must then hold that
//
//     bytes read ⊆ predicted reads,  bytes written ⊆ possible writes,  certain writes ⊆ written.
//
// Launches on which the kernel's behaviour is undefined (signed overflow, division by zero, an
// access beyond the buffer) or too long say nothing and are skipped.
//
//     random_kernels [KERNELS [FIRST_SEED]]      a failure names its seed
#include "analysis-pass/pass/analyze_program.h"
#include "analysis-pass/summary/evaluate.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>

namespace {

using namespace libsplit;

constexpr std::int64_t elements = 1 << 14; ///< of each buffer; indices are shifted to its middle
constexpr int maxSteps = 20000;

enum class Type { Int, Uint, Long, Ulong };
const char* nameOf(Type type) {
  static constexpr std::array names{"int", "uint", "long", "ulong"};
  return names[static_cast<std::size_t>(type)];
}

/// A number of one of the four types; `bits` as the type has them, extended to 64.
struct Value {
  Type type = Type::Int;
  std::int64_t bits = 0;
};

struct Undefined {};

Value convert(Value value, Type to) {
  switch (to) {
  case Type::Int:
    return {to, static_cast<std::int32_t>(value.bits)};
  case Type::Uint:
    return {to, static_cast<std::int64_t>(static_cast<std::uint32_t>(value.bits))};
  default:
    return {to, value.bits};
  }
}

Type common(Type a, Type b) {
  return std::max(a, b);
}
bool isUnsigned(Type type) {
  return type == Type::Uint || type == Type::Ulong;
}

/// A result computed in 128 bits, as the type takes it: signed overflow is undefined.
Value fit(__int128 result, Type type) {
  Value value = convert({Type::Long, static_cast<std::int64_t>(result)}, type);
  if (!isUnsigned(type) && result != static_cast<__int128>(value.bits))
    throw Undefined();
  return value;
}

__int128 number(Value value) {
  return value.type == Type::Ulong ? static_cast<__int128>(static_cast<std::uint64_t>(value.bits))
                                   : static_cast<__int128>(value.bits);
}

Value apply(char op, Value a, Value b) {
  if (op == '<' || op == '>') { // shifts by a constant, typed by the left side
    unsigned amount = static_cast<unsigned>(b.bits);
    if (op == '>')
      return convert({a.type, static_cast<std::int64_t>(number(a) >> amount)}, a.type);
    return convert(
        {a.type, static_cast<std::int64_t>(static_cast<std::uint64_t>(a.bits) << amount)}, a.type);
  }
  Type type = common(a.type, b.type);
  __int128 x = number(convert(a, type));
  __int128 y = number(convert(b, type));
  switch (op) {
  case '+':
    return fit(x + y, type);
  case '-':
    return fit(x - y, type);
  case '*':
    return fit(x * y, type);
  case '&':
    return fit(x & y, type);
  case '/':
  case '%':
    if (y == 0)
      throw Undefined();
    return fit(op == '/' ? x / y : x % y, type);
  default:
    std::abort();
  }
}

/// What the work-items did, and the state of the one that runs.
struct Run {
  std::vector<Value> variables;
  std::array<ByteSet, 3> reads, writes;
  std::array<ByteSet, 3> own; ///< written by the work-item that runs
  std::array<std::int64_t, 3> gid{}, lid{}, group{};
  int steps = 0;

  ByteRange bytes(Value index, std::int64_t elementSize, std::int64_t count) {
    __int128 first = number(index);
    if (++steps > maxSteps || first < 0 || first + count > elements)
      throw Undefined();
    auto begin = static_cast<std::uint64_t>(first * elementSize);
    return {begin, begin + static_cast<std::uint64_t>(elementSize * count)};
  }

  void write(unsigned buffer, Value index, std::int64_t elementSize, std::int64_t count) {
    ByteRange range = bytes(index, elementSize, count);
    writes[buffer].add(range);
    own[buffer].add(range);
  }

  /// Bytes that the work-item wrote itself before are no input: their load may be dropped.
  void read(unsigned buffer, Value index, std::int64_t elementSize) {
    ByteRange range = bytes(index, elementSize, 1);
    reads[buffer] = unite(reads[buffer], subtract(range, own[buffer]));
  }
};

enum class Flow { Next, Break, Continue, Return };

struct Expression {
  std::string text;
  Type type = Type::Int;
  std::function<Value(Run&)> eval;
};
struct Test {
  std::string text;
  std::function<bool(Run&)> eval;
};
struct Statement {
  std::string text;
  std::function<Flow(Run&)> run;
};

/// What the data buffer holds: the kernels branch on it, the analysis can't know it.
bool dataAt(std::int64_t i) {
  return (i * 2654435761u >> 7 & 3) == 0;
}

class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}

  struct Kernel {
    std::string text;
    std::size_t variables = 0;
    Statement body;
  };

  Kernel kernel() {
    std::string head = "kernel void k(global int* a, global short* b, global const int* d, int n, "
                       "int m, uint u, long w) {\n";
    for (const char* name : {"n", "m", "u", "w"})
      declare(name, std::strcmp(name, "u") == 0   ? Type::Uint
                    : std::strcmp(name, "w") == 0 ? Type::Long
                                                  : Type::Int);
    std::string locals;
    std::vector<std::pair<std::size_t, Expression>> initial;
    for (unsigned i = 0; i < 3; ++i) {
      Type type = pick(4) == 0 ? Type::Uint : Type::Int;
      Expression start = i < 2 ? cast(type, id(i)) : cast(type, expression(2));
      std::string name = "x" + std::to_string(i);
      locals += std::string("  ") + nameOf(type) + " " + name + " = " + start.text + ";\n";
      initial.emplace_back(declare(name, type), start);
    }
    Statement body = block(3, false);
    Kernel result{head + locals + "  int acc = 0;\n" + body.text + "  d;\n}\n", 0, {}};
    result.body.run = [initial, body](Run& run) {
      for (const auto& [slot, start] : initial)
        run.variables[slot] = start.eval(run);
      return body.run(run);
    };
    result.variables = slots_;
    return result;
  }

private:
  struct Variable {
    std::string name;
    Type type;
    std::size_t slot;
    bool mutableHere;
  };

  unsigned pick(unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random_); }
  std::int64_t between(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random_);
  }

  std::size_t declare(const std::string& name, Type type, bool isMutable = false) {
    scope_.push_back({name, type, slots_, isMutable});
    return slots_++;
  }

  Expression constant() {
    std::int64_t value = pick(4) == 0 ? between(-40, 70) : between(0, 6);
    return {"(" + std::to_string(value) + ")", Type::Int,
            [value](Run&) { return Value{Type::Int, value}; }};
  }

  Expression id(unsigned d) {
    switch (pick(6)) {
    case 0:
      return {"get_local_id(" + std::to_string(d) + ")", Type::Ulong,
              [d](Run& run) { return Value{Type::Ulong, run.lid[d]}; }};
    case 1:
      return {"get_group_id(" + std::to_string(d) + ")", Type::Ulong,
              [d](Run& run) { return Value{Type::Ulong, run.group[d]}; }};
    default:
      return {"get_global_id(" + std::to_string(d) + ")", Type::Ulong,
              [d](Run& run) { return Value{Type::Ulong, run.gid[d]}; }};
    }
  }

  Expression cast(Type type, Expression inner) {
    return {std::string("(") + nameOf(type) + ")(" + inner.text + ")", type,
            [type, inner](Run& run) { return convert(inner.eval(run), type); }};
  }

  Expression variable() {
    const Variable& v = scope_[pick(static_cast<unsigned>(scope_.size()))];
    return {v.name, v.type, [slot = v.slot](Run& run) { return run.variables[slot]; }};
  }

  Expression binary(char op, Expression a, Expression b) {
    bool shift = op == '<' || op == '>';
    std::string symbol = shift ? std::string(2, op) : std::string(1, op);
    return {"(" + a.text + " " + symbol + " " + b.text + ")",
            shift ? a.type : common(a.type, b.type), [op, a, b](Run& run) {
              Value x = a.eval(run);
              return apply(op, x, b.eval(run));
            }};
  }

  Expression expression(unsigned depth) {
    if (depth == 0)
      return pick(3) == 0 ? constant() : pick(6) == 0 ? id(pick(2)) : variable();
    switch (pick(14)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return binary('+', expression(depth - 1), expression(depth - 1));
    case 4:
      return binary('-', expression(depth - 1), expression(depth - 1));
    case 5:
    case 6:
      return binary('*', expression(depth - 1), pick(2) == 0 ? constant() : variable());
    case 7:
      return binary(pick(2) == 0 ? '/' : '%', expression(depth - 1),
                    pick(2) == 0 ? constant() : variable());
    case 8:
      return binary('&', expression(depth - 1), constant());
    case 9: {
      std::int64_t amount = between(0, 5);
      Expression by{std::to_string(amount), Type::Int,
                    [amount](Run&) { return Value{Type::Int, amount}; }};
      return binary(pick(2) == 0 ? '<' : '>', expression(depth - 1), by);
    }
    case 10: {
      Expression a = cast(Type::Int, expression(depth - 1));
      Expression b = cast(Type::Int, expression(depth - 1));
      bool low = pick(2) == 0;
      return {std::string(low ? "min(" : "max(") + a.text + ", " + b.text + ")", Type::Int,
              [low, a, b](Run& run) {
                Value x = a.eval(run), y = b.eval(run);
                return (x.bits < y.bits) == low ? x : y;
              }};
    }
    case 11: {
      Test test = condition(1, false);
      Expression a = expression(depth - 1), b = expression(depth - 1);
      Type type = common(a.type, b.type);
      return {"(" + test.text + " ? " + a.text + " : " + b.text + ")", type,
              [test, a, b, type](Run& run) {
                return convert(test.eval(run) ? a.eval(run) : b.eval(run), type);
              }};
    }
    case 12: {
      Expression inner = expression(depth - 1);
      if (pick(3) == 0)
        return {"((uchar)(" + inner.text + "))", Type::Int,
                [inner](Run& run) { return Value{Type::Int, inner.eval(run).bits & 255}; }};
      return cast(static_cast<Type>(pick(4)), inner);
    }
    default:
      return expression(depth - 1);
    }
  }

  Test condition(unsigned depth, bool mayUseData) {
    if (depth > 0 && pick(3) == 0) {
      Test a = condition(depth - 1, mayUseData), b = condition(depth - 1, mayUseData);
      bool both = pick(2) == 0;
      return {"(" + a.text + (both ? " && " : " || ") + b.text + ")", [a, b, both](Run& run) {
                return both ? a.eval(run) && b.eval(run) : a.eval(run) || b.eval(run);
              }};
    }
    if (depth > 0 && pick(6) == 0) {
      Test a = condition(depth - 1, mayUseData);
      return {"!(" + a.text + ")", [a](Run& run) { return !a.eval(run); }};
    }
    if (mayUseData && pick(6) == 0) {
      Expression at = index(1);
      return {"(d[" + at.text + "] != 0)", [at](Run& run) {
                Value i = at.eval(run);
                run.read(2, i, 4);
                return dataAt(i.bits);
              }};
    }
    static constexpr std::array symbols{"<", "<=", "==", "!=", ">", ">="};
    unsigned which = pick(6);
    Expression a = expression(1), b = expression(1);
    return {"(" + a.text + " " + symbols[which] + " " + b.text + ")", [which, a, b](Run& run) {
              Value left = a.eval(run), right = b.eval(run);
              Type type = common(left.type, right.type);
              __int128 x = number(convert(left, type)), y = number(convert(right, type));
              const std::array results{x < y, x <= y, x == y, x != y, x > y, x >= y};
              return static_cast<bool>(results[which]);
            }};
  }

  /// Near the middle of a buffer, so that small negative numbers stay inside.
  Expression index(unsigned depth) {
    Expression middle{"5000", Type::Int, [](Run&) { return Value{Type::Int, 5000}; }};
    return binary('+', expression(depth), middle);
  }

  Statement access() {
    Expression at = index(2 + pick(2));
    unsigned buffer = pick(2);
    std::int64_t size = buffer == 0 ? 4 : 2;
    std::string name = buffer == 0 ? "a" : "b";
    switch (pick(6)) {
    case 0:
      return {"acc += " + name + "[" + at.text + "]; " + name + "[0] = acc;\n", [=](Run& run) {
                run.read(buffer, at.eval(run), size);
                run.write(buffer, Value{}, size, 1);
                return Flow::Next;
              }};
    case 1:
      return {"vstore4((" + std::string(buffer == 0 ? "int4" : "short4") + ")(1), (" + at.text +
                  ") / 4, " + name + ");\n",
              [=](Run& run) {
                Value i = apply('/', at.eval(run), {Type::Int, 4});
                i = apply('*', convert(i, Type::Ulong), {Type::Int, 4});
                run.write(buffer, i, size, 4);
                return Flow::Next;
              }};
    default:
      return {name + "[" + at.text + "] = 1;\n", [=](Run& run) {
                run.write(buffer, at.eval(run), size, 1);
                return Flow::Next;
              }};
    }
  }

  Statement loop(unsigned depth) {
    std::size_t outer = scope_.size();
    Type type = pick(3) == 0 ? Type::Uint : Type::Int;
    Expression start = cast(type, expression(1));
    std::string name = "i" + std::to_string(slots_);
    bool upwards = pick(4) != 0;
    bool inclusive = pick(3) == 0;
    Expression bound = pick(3) == 0 ? expression(1) : cast(type, expression(1));
    std::int64_t step = pick(2) == 0 ? 1 : between(1, 5);
    std::size_t slot = declare(name, type);
    Statement inner = block(depth - 1, true);
    scope_.resize(outer);
    std::string compare = std::string(upwards ? " <" : " >") + (inclusive ? "= " : " ");
    std::string text = std::string("for (") + nameOf(type) + " " + name + " = " + start.text +
                       "; " + name + compare + bound.text + "; " + name +
                       (upwards ? " += " : " -= ") + std::to_string(step) + ") {\n" + inner.text +
                       "}\n";
    return {text, [=](Run& run) {
              run.variables[slot] = start.eval(run);
              for (;;
                   run.variables[slot] = convert(
                       apply(upwards ? '+' : '-', run.variables[slot], {Type::Int, step}), type)) {
                if (++run.steps > maxSteps)
                  throw Undefined();
                Value now = run.variables[slot], end = bound.eval(run);
                Type in = common(now.type, end.type);
                __int128 x = number(convert(now, in)), y = number(convert(end, in));
                bool goOn = upwards ? (inclusive ? x <= y : x < y) : (inclusive ? x >= y : x > y);
                if (!goOn)
                  return Flow::Next;
                Flow flow = inner.run(run);
                if (flow == Flow::Return)
                  return flow;
                if (flow == Flow::Break)
                  return Flow::Next;
              }
            }};
  }

  Statement statement(unsigned depth, bool inLoop) {
    if (depth == 0)
      return access();
    switch (pick(inLoop ? 10 : 8)) {
    case 0:
    case 1: {
      Test test = condition(2, true);
      Statement yes = block(depth - 1, inLoop);
      Statement no =
          pick(2) == 0 ? block(depth - 1, inLoop) : Statement{"", [](Run&) { return Flow::Next; }};
      return {"if " + ("(" + test.text + ")") + " {\n" + yes.text + "} else {\n" + no.text + "}\n",
              [=](Run& run) { return test.eval(run) ? yes.run(run) : no.run(run); }};
    }
    case 2:
    case 3:
      return loop(depth);
    case 4: {
      if (pick(3) != 0)
        return access();
      Test test = condition(1, true);
      return {"if (" + test.text + ") return;\n",
              [=](Run& run) { return test.eval(run) ? Flow::Return : Flow::Next; }};
    }
    case 5: {
      // Only the third local changes: the others stay what the analysis likes best.
      const Variable& v = scope_[6];
      Expression value = cast(v.type, expression(1));
      return {v.name + " = " + value.text + ";\n", [slot = v.slot, value](Run& run) {
                run.variables[slot] = value.eval(run);
                return Flow::Next;
              }};
    }
    case 8:
    case 9: {
      Test test = condition(1, true);
      bool leaves = pick(2) == 0;
      return {"if (" + test.text + (leaves ? ") break;\n" : ") continue;\n"), [=](Run& run) {
                return test.eval(run) ? (leaves ? Flow::Break : Flow::Continue) : Flow::Next;
              }};
    }
    default:
      return access();
    }
  }

  Statement block(unsigned depth, bool inLoop) {
    std::vector<Statement> statements;
    std::string text;
    for (unsigned i = 0, n = 1 + pick(3); i < n; ++i) {
      statements.push_back(statement(depth, inLoop));
      text += statements.back().text;
    }
    return {text, [statements](Run& run) {
              for (const Statement& s : statements)
                if (Flow flow = s.run(run); flow != Flow::Next)
                  return flow;
              return Flow::Next;
            }};
  }

  std::mt19937 random_;
  std::vector<Variable> scope_;
  std::size_t slots_ = 0;
};

struct Totals {
  unsigned compared = 0;
  std::uint64_t touched = 0, predicted = 0, certain = 0;
};

/// One launch and one box. False on a violation.
bool compare(const Generator::Kernel& kernel, const KernelSummary& summary, std::mt19937& random,
             Totals& totals) {
  auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  NDRange range;
  range.dimensions = 2;
  for (unsigned d = 0; d < 2; ++d) {
    range.local[d] = static_cast<std::uint64_t>(between(1, 3));
    range.global[d] = range.local[d] * static_cast<std::uint64_t>(between(1, 4));
    range.offset[d] = static_cast<std::uint64_t>(between(0, 3) == 0 ? between(0, 9) : 0);
  }
  GroupBox box = wholeBox(range);
  for (unsigned d = 0; d < 2; ++d)
    if (between(0, 1) == 0) {
      box.begin[d] = static_cast<std::uint64_t>(between(0, static_cast<int>(box.end[d]) - 1));
      box.end[d] = static_cast<std::uint64_t>(
          between(static_cast<int>(box.begin[d]) + 1, static_cast<int>(box.end[d])));
    }
  std::int32_t n = between(-3, 20), m = between(-20, 40);
  auto u = static_cast<std::uint32_t>(between(0, 30));
  std::int64_t w = between(-5, 50);

  Run all;
  for (std::uint64_t gy = box.begin[1] * range.local[1]; gy < box.end[1] * range.local[1]; ++gy)
    for (std::uint64_t gx = box.begin[0] * range.local[0]; gx < box.end[0] * range.local[0]; ++gx) {
      all.variables.assign(kernel.variables, {});
      all.own = {};
      all.variables[0] = {Type::Int, n};
      all.variables[1] = {Type::Int, m};
      all.variables[2] = {Type::Uint, u};
      all.variables[3] = {Type::Long, w};
      const std::array<std::uint64_t, 3> at{gx, gy, 0};
      for (unsigned d = 0; d < 3; ++d) {
        all.gid[d] = static_cast<std::int64_t>(at[d] + range.offset[d]);
        all.lid[d] = static_cast<std::int64_t>(at[d] % range.local[d]);
        all.group[d] = static_cast<std::int64_t>(at[d] / range.local[d]);
      }
      try {
        kernel.body.run(all);
      } catch (Undefined) {
        return true;
      }
    }

  std::vector<ArgumentValue> arguments(7);
  arguments[0].bufferSize = elements * 4;
  arguments[1].bufferSize = elements * 2;
  arguments[2].bufferSize = elements * 4;
  auto bytesOf = [](const auto& value) { return std::as_bytes(std::span(&value, 1)); };
  arguments[3].bytes = bytesOf(n);
  arguments[4].bytes = bytesOf(m);
  arguments[5].bytes = bytesOf(u);
  arguments[6].bytes = bytesOf(w);
  auto regions = evaluate(summary, range, arguments, box);

  ++totals.compared;
  bool good = true;
  auto demand = [&](const ByteSet& inner, const ByteSet& outer, const char* what, unsigned buffer) {
    if (outer.contains(inner))
      return;
    good = false;
    std::printf("%s of buffer %u: %s\n  outside of %s\n", what, buffer, toString(inner).c_str(),
                toString(outer).c_str());
  };
  for (unsigned buffer = 0; buffer < 3; ++buffer) {
    // Loads of `d` decide on branches; where both ways do the same, the load is rightly dropped.
    if (buffer != 2)
      demand(all.reads[buffer], regions[buffer].reads, "reads", buffer);
    demand(all.writes[buffer], regions[buffer].possibleWrites, "writes", buffer);
    demand(regions[buffer].certainWrites, all.writes[buffer], "certain writes", buffer);
    totals.touched += all.writes[buffer].size();
    totals.predicted += regions[buffer].possibleWrites.size();
    totals.certain += regions[buffer].certainWrites.size();
  }
  if (!good)
    std::printf("NDRange %llu x %llu by %llu x %llu from %llu, %llu; groups [%llu, %llu) x [%llu, "
                "%llu); n %d, m %d, u %u, w %lld\n",
                static_cast<unsigned long long>(range.global[0]),
                static_cast<unsigned long long>(range.global[1]),
                static_cast<unsigned long long>(range.local[0]),
                static_cast<unsigned long long>(range.local[1]),
                static_cast<unsigned long long>(range.offset[0]),
                static_cast<unsigned long long>(range.offset[1]),
                static_cast<unsigned long long>(box.begin[0]),
                static_cast<unsigned long long>(box.end[0]),
                static_cast<unsigned long long>(box.begin[1]),
                static_cast<unsigned long long>(box.end[1]), n, m, u, static_cast<long long>(w));
  return good;
}

} // namespace

int main(int argc, char** argv) {
  unsigned kernels = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 200;
  unsigned first = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  unsigned failures = 0;
  Totals totals;
  for (unsigned seed = first; seed < first + kernels; ++seed) {
    Generator::Kernel kernel = Generator(seed).kernel();
    ProgramInput input;
    input.text = kernel.text;
    ProgramSummary program = analyzeProgram(input);
    if (program.kernels.size() != 1) {
      std::printf("seed %u: %s\n%s", seed, program.failure.c_str(), kernel.text.c_str());
      ++failures;
      continue;
    }
    std::mt19937 random(seed);
    for (unsigned launch = 0; launch < 12; ++launch)
      if (!compare(kernel, program.kernels.front(), random, totals)) {
        std::printf("seed %u:\n%s\n", seed, kernel.text.c_str());
        ++failures;
        break;
      }
  }
  std::printf("%u kernels, %u launches compared, %u failures; bytes written %llu, possible %llu, "
              "certain %llu\n",
              kernels, totals.compared, failures, static_cast<unsigned long long>(totals.touched),
              static_cast<unsigned long long>(totals.predicted),
              static_cast<unsigned long long>(totals.certain));
  return failures == 0 ? 0 : 1;
}
