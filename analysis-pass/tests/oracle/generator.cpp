#include "analysis-pass/tests/oracle/generator.h"

#include "analysis-pass/tests/oracle/blocks.h"
#include "analysis-pass/tests/oracle/template_text.h"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace libsplit::oracle {
namespace {

/// A kernel made of random statements.
class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string kernel(unsigned seed) {
    disjoint_ = random_.oneIn(2);
    bool grouped = random_.oneIn(4);
    std::string text = "kernel void k" + std::to_string(seed) +
                       "(global int* a, global short* b, global const int* d, global Rec* s,\n"
                       "    global int* c, int n, int m, uint u, long w) {\n";
    for (unsigned i = 0; i < 3; ++i) {
      std::string name = "x" + std::to_string(i);
      std::string type = random_.oneIn(4) ? "uint" : "int";
      text +=
          "  " + type + " " + name + " = (" + type + ")" + (i < 2 ? id(i) : expression(2)) + ";\n";
      names_.push_back(name);
    }
    if (random_.oneIn(3)) {
      text += "  int2 v = (int2)(" + expression(1) + ", " + expression(1) + ");\n";
      names_.push_back("v.x");
      names_.push_back("v.y");
    }
    if (random_.oneIn(3)) {
      text += "  Rec r; r.x = " + expression(1) + "; r.y = " + expression(1) + ";\n";
      names_.push_back("r.x");
      names_.push_back("r.y");
    }
    if (random_.oneIn(4)) {
      text += "  int p[4]; for (int q = 0; q < 4; ++q) p[q] = q * 3 + 1;\n";
      names_.push_back("p[" + std::to_string(random_.below(4)) + "]");
    }
    text += "  uint acc = 1;\n";
    if (disjoint_)
      text += "  int at = " + linear() + ";\n";
    if (grouped) {
      mayReturn_ = false;
      text += "  local int t[64];\n  t[get_local_id(0)] = (int)get_global_id(0);\n" +
              block(2, false) +
              "  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
              "  acc += t[get_local_size(0) - 1 - get_local_id(0)];\n";
      mayReturn_ = true;
    }
    text += block(3, false);
    return text + (disjoint_ ? "  c[10000 + at] = (int)acc;\n}\n\n" : "  a[0] = (int)acc;\n}\n\n");
  }

private:
  std::string number(int low, int high) {
    return "(" +
           std::to_string(low +
                          static_cast<int>(random_.below(static_cast<unsigned>(high - low + 1)))) +
           ")";
  }

  std::string id(unsigned d) {
    std::string in = "(" + std::to_string(d) + ")";
    return random_.of({"get_local_id", "get_group_id", "get_global_id", "get_global_id",
                       "get_global_id", "get_global_id"}) +
           in;
  }

  const std::string& name() { return names_[random_.below(static_cast<unsigned>(names_.size()))]; }

  std::string leaf() {
    switch (random_.below(8)) {
    case 0:
      return random_.oneIn(3) ? number(-40, 70) : number(0, 6);
    case 1:
      return id(random_.below(2));
    case 2:
      return random_.of({"n", "m", "u", "w"});
    default:
      return name();
    }
  }

  /// Clang takes a division by a literal 0 for undefined, and may make a loop endless by it; OpenCL
  /// C only leaves its value open.
  static std::string divisor(const std::string& leaf) { return leaf == "(0)" ? "(1)" : leaf; }

  std::string expression(unsigned depth) {
    if (depth == 0)
      return leaf();
    auto next = [&] { return expression(depth - 1); };
    auto two = [&](const char* op, const std::string& right) {
      return "(" + next() + " " + op + " " + right + ")";
    };
    switch (random_.below(18)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return two("+", next());
    case 4:
      return two("-", next());
    case 5:
    case 6:
      return two("*", random_.oneIn(2) ? number(0, 9) : leaf());
    case 7:
      return two(random_.of({"/", "%"}), random_.oneIn(2) ? number(1, 9) : divisor(leaf()));
    case 8:
      return two("&", number(0, 63));
    case 9:
      return two(random_.of({"<<", ">>"}), std::to_string(random_.below(5)));
    case 10:
      return std::string(random_.of({"min", "max"})) + "((int)" + next() + ", (int)" + next() + ")";
    case 11:
      return "clamp((int)" + next() + ", " + number(-5, 3) + ", " + number(4, 40) + ")";
    case 12:
      return "(" + condition(1, false) + " ? " + next() + " : " + next() + ")";
    case 13:
      return std::string("(") + random_.of({"uchar", "short", "int", "uint", "long", "ulong"}) +
             ")" + next();
    case 14:
      return "twice(" + next() + ", " + leaf() + ")";
    case 15:
      return "table[" + next() + " & 7]";
    case 16: // the number itself, by way of a buffer
      return "(d[(" + next() + ") + 4000] - 4000)";
    default:
      return next();
    }
  }

  std::string condition(unsigned depth, bool mayUseData) {
    if (depth > 0 && random_.oneIn(3))
      return "(" + condition(depth - 1, mayUseData) + (random_.oneIn(2) ? " && " : " || ") +
             condition(depth - 1, mayUseData) + ")";
    if (depth > 0 && random_.oneIn(6))
      return "!" + condition(depth - 1, mayUseData);
    if (mayUseData && random_.oneIn(6))
      return "(((acc += (uint)d[" + place() + "]) & 3) == 1)"; // used, or it would be none
    return "(" + expression(1) + " " + random_.of({"<", "<=", "==", "!=", ">", ">="}) + " " +
           expression(1) + ")";
  }

  /// Near the middle of a buffer, so that small negative numbers stay inside.
  std::string place() { return "(" + expression(2) + ") + 4000"; }

  /// A number of its own for each work-item, whatever the sizes.
  std::string linear() {
    std::string x = "((int)get_global_id(0) - (int)get_global_offset(0))";
    std::string y = "((int)get_global_id(1) - (int)get_global_offset(1))";
    switch (random_.below(8)) {
    case 0:
      return y + " * (int)get_global_size(0) + " + x;
    case 1:
      return x + " * (int)get_global_size(1) + " + y;
    case 2: // the same, through groups
      return "((int)get_group_id(1) * (int)get_local_size(1) + (int)get_local_id(1)) * "
             "(int)get_global_size(0) + (int)get_group_id(0) * (int)get_local_size(0) + "
             "(int)get_local_id(0)";
    case 3:
      return "(int)(get_global_size(0) * get_global_size(1)) - 1 - (" + y +
             " * (int)get_global_size(0) + " + x + ")";
    case 4: // taken apart and put together
      return "reverse(" + y + " * (int)get_global_size(0) + " + x + ", (int)get_global_size(0))";
    case 5:
      return y + " * 40 + " + x;
    case 6: // around the edge
      return y + " * 40 + (" + x + " + 3) % (int)get_global_size(0)";
    default: // one record after the other
      return "3 * (" + y + " * (int)get_global_size(0) + " + x + ") + 1";
    }
  }

  /// What is written: anything that does not depend on order.
  std::string value() {
    switch (random_.below(5)) {
    case 0:
      return "1";
    case 1:
      return "(int)(acc + (uint)(" + expression(1) + "))";
    case 2:
      return disjoint_ ? "(int)(acc ^ (uint)d[" + place() + "])" : "1";
    default:
      return disjoint_ ? "(int)(7u * (uint)(" + leaf() + ") + acc)" : "2";
    }
  }

  /// A component of a vector whose others are the next work-items': each has its own in four
  /// vectors.
  static std::string component(unsigned k) {
    return "((global int4*)c)[" + std::to_string(1200 + k) + " + at]." + "xyzw"[k];
  }

  /// Bytes of `a` and `c` are cut into fields of 4 elements for each work-item; `at` is its own.
  std::string access() {
    if (!disjoint_) {
      switch (random_.below(12)) {
      case 0:
        return "acc += a[" + place() + "]; a[0] = (int)acc;\n";
      case 1:
        return "vstore4((int4)(" + value() + "), (" + place() + ") / 4, a);\n";
      case 2:
        return "vstore2((short2)(1), (" + place() + ") / 2, b);\n";
      case 3:
        return "s[(" + expression(2) + ") + 1000]." + random_.of({"x", "y", "z[1]"}) + " = 1;\n";
      case 4:
        return "(" + condition(1, true) + " ? a : c)[" + place() + "] = " + value() + ";\n";
      case 5:
        return "put(" + std::string(random_.of({"a", "c"})) + ", " + place() + ", 1);\n";
      case 6:
        return "((global short*)a)[" + place() + "] = 1;\n";
      case 7:
        return "{ global int* q = a + (" + place() + "); for (int z = 0; z < " + number(0, 5) +
               "; ++z) *q++ = 1; }\n";
      case 8:
        return "acc += s[(" + expression(2) + ") + 1000].x;\n";
      case 9:
        return "((global int4*)a)[(" + place() + ") / 4]." +
               random_.of(
                   {"x = 1", "w = 1", "yw = (int2)(1)", "hi = (int2)(1)", "zyx = (int3)(1)"}) +
               ";\n";
      case 10:
        return "((global short2*)b)[(" + place() + ") / 2]." + random_.of({"x = 1", "y = 1"}) +
               ";\n";
      default:
        return std::string(random_.of({"a", "b", "c"})) + "[" + place() + "] = 1;\n";
      }
    }
    std::string field = std::to_string(random_.below(4));
    switch (random_.below(12)) {
    case 0:
      return "a[at + " + field + " * 3000] = " + value() + ";\n";
    case 1:
      return "a[12000 + 4 * at + " + field + "] = " + value() + ";\n";
    case 2:
      return "vstore4((int4)(" + value() + ", 2, 3, " + value() + "), at, c);\n";
    case 3:
      return "b[2 * at + " + std::to_string(random_.below(2)) + "] = (short)acc;\n";
    case 4:
      return "s[at]." + std::string(random_.of({"x", "y", "z[1]", "z[0]"})) + " = (short)acc;\n";
    case 5:
      return "put(c, 4 * at + " + field + ", " + value() + ");\n";
    case 6:
      return "acc += (uint)(" +
             std::string(random_.of({"a[at]", "c[4 * at + 1]", "s[at].x", "b[2 * at]"})) +
             ") & 255;\n";
    case 7:
      return "{ global int* q = " + condition(1, true) + " ? a + at : c + 4 * at; *q = " + value() +
             "; }\n";
    case 8:
      return component(random_.below(4)) + " = " + value() + ";\n";
    case 9:
      return component(0) + random_.of({" += 3", " = (int)acc", " ^= 1"}) + "; " + component(1) +
             " = " + value() + ";\n";
    case 10: // each its own component of vectors that four share
      return "((global int4*)a)[at / 4][at % 4] = " + value() + ";\n";
    default:
      return "acc += (uint)d[" + place() + "];\n";
    }
  }

  std::string loop(unsigned depth) {
    std::string counter = "i" + std::to_string(counters_++);
    std::string type = random_.oneIn(3) ? "uint" : "int";
    std::string start = "(" + type + ")(" + expression(1) + ")";
    std::string bound = random_.oneIn(3) ? expression(1) : "(" + type + ")" + expression(1);
    std::size_t outer = names_.size();
    names_.push_back(counter);
    std::string inner = block(depth - 1, true);
    names_.resize(outer);
    std::string step = std::to_string(random_.oneIn(2) ? 1 : 1 + random_.below(5));
    if (random_.oneIn(8))
      return "for (" + type + " " + counter + " = " + number(1, 3) + "; " + counter + " < 50; " +
             counter + " *= 2) {\n" + inner + "}\n";
    if (random_.oneIn(8))
      return wrapping(counter) + " {\n" + inner + "}\n";
    bool upwards = !random_.oneIn(4);
    std::string compare = upwards ? " <" : " >";
    if (random_.oneIn(3))
      compare += "=";
    std::string move = counter + (upwards ? " += " : " -= ") + step;
    std::string test = counter + compare + " " + bound;
    if (random_.oneIn(6))
      test += " && " + condition(0, true);
    return "for (" + type + " " + counter + " = " + start + "; " + test + "; " + move + ") {\n" +
           inner + "}\n";
  }

  /// The head of a loop that ends when its variable wraps around.
  std::string wrapping(const std::string& counter) {
    const std::string few = "((" + expression(1) + ") & 7)";
    const std::string step = std::to_string(1 + random_.below(3));
    if (random_.oneIn(2)) {
      const char* types[] = {"uint", "size_t", "ushort", "uchar"};
      const std::string type = types[random_.below(4)];
      return "for (" + type + " " + counter + " = (" + type + ")" + few + "; " + counter +
             " < 8; " + counter + " -= " + step + ")";
    }
    const bool isShort = random_.oneIn(2);
    const std::string type = isShort ? "short" : "char";
    return "for (" + type + " " + counter + " = (" + type + ")(" + (isShort ? "32767" : "127") +
           " - " + few + "); " + counter + " > 0; " + counter + " += " + step + ")";
  }

  std::string statement(unsigned depth, bool inLoop) {
    if (depth == 0)
      return access();
    switch (random_.below(inLoop ? 11 : 9)) {
    case 0:
    case 1: {
      std::string text = "if (" + condition(2, true) + ") {\n" + block(depth - 1, inLoop) + "}";
      if (random_.oneIn(2))
        text += " else {\n" + block(depth - 1, inLoop) + "}";
      return text + "\n";
    }
    case 2:
    case 3:
      return loop(depth);
    case 4:
      return mayReturn_ && random_.oneIn(3) ? "if (" + condition(1, true) + ") return;\n"
                                            : access();
    case 5:
      // Only one local changes: the others stay what an analysis likes best.
      return "x2 = " + expression(1) + ";\n";
    case 6: {
      std::string text = "switch (" + expression(1) + ") {\n";
      for (unsigned i = 0, cases = 1 + random_.below(3); i < cases; ++i)
        text += "case " + std::to_string(i * 2) + ": " + access() +
                (random_.oneIn(3) ? "" : "break;\n");
      return text + "default: " + access() + "}\n";
    }
    case 9:
    case 10:
      return "if (" + condition(1, true) + ") " + random_.of({"break", "continue"}) + ";\n";
    default:
      return access();
    }
  }

  std::string block(unsigned depth, bool inLoop) {
    std::string text;
    for (unsigned i = 0, count = 1 + random_.below(3); i < count; ++i)
      text += statement(depth, inLoop);
    return text;
  }

  Random random_;
  std::vector<std::string> names_;
  unsigned counters_ = 0;
  bool disjoint_ = false;
  bool mayReturn_ = true; ///< no barrier follows
};

constexpr const char* statementsPrelude = R"(typedef struct { int x; short y; short z[3]; } Rec;
constant int table[8] = {3, 0, 5, 1, -2, 7, 4, 12};
int twice(int x, int y) { return 2 * x + (y & 3); }
int reverse(int i, int width) {
  int x = i % width, y = i / width;
  return y * width + (width - 1 - x);
}
void put(global int* p, int at, int value) {
  if (at >= 0) p[at] = value;
}

)";

GeneratedKernel statementsKernel(unsigned seed) {
  GeneratedKernel kernel;
  kernel.block = "statements";
  kernel.text = Generator(seed).kernel(seed);
  using Kind = GeneratedParameter::Kind;
  kernel.parameters = {
      {Kind::Buffer, "int", "a", false, ""},    {Kind::Buffer, "short", "b", false, ""},
      {Kind::Buffer, "int", "d", true, "ramp"}, {Kind::Buffer, "Rec", "s", false, ""},
      {Kind::Buffer, "int", "c", false, ""},    {Kind::Number, "int", "n", false, ""},
      {Kind::Number, "int", "m", false, ""},    {Kind::Number, "uint", "u", false, ""},
      {Kind::Number, "long", "w", false, ""}};
  kernel.dimensions = 2;
  kernel.hasSmallLaunches = true;
  kernel.bufferSize = 1 << 16;
  return kernel;
}

enum class ProgramKind { Statements, Blocks, Blocks2 };

ProgramKind kindOf(unsigned seed) {
  return static_cast<ProgramKind>(seed / kernelsPerProgram % 3);
}

/// How a block may spell its ids.
Names spellings(unsigned seed, ProgramKind kind, bool plain) {
  Names names;
  for (const auto& [name, d] : {std::pair{"I", '0'}, {"J", '1'}, {"K", '2'}}) {
    const std::string in = std::string("(") + d + ")";
    names[name] = "(int)get_global_id" + in;
    if (plain)
      continue;
    names[name] =
        "$((int)get_global_id" + in + "##(int)get_global_id" + in + "##(int)(get_global_id" + in +
        " - get_global_offset" + in + ")##(int)(get_group_id" + in + " * get_local_size" + in +
        " + get_local_id" + in + ")" +
        (kind == ProgramKind::Blocks2 ? "##(int)(get_group_id" + in + " * get_enqueued_local_size" +
                                            in + " + get_local_id" + in + ")"
                                      : "") +
        "##~(int)get_group_id" + in + "##~(int)get_local_id" + in + ")";
  }
  names["L"] = "(int)get_local_id(0)";
  names["G"] = "(int)get_group_id(0)";
  names["S"] = "(int)get_local_size(0)";
  names["N"] = "(int)get_global_size(0)";
  names["M"] = "(int)get_global_size(1)";
  names["SEED"] = std::to_string(seed);
  return names;
}

/// "@rising:6 global const int* row".
GeneratedParameter parseParameter(std::string_view text, std::string& declaration) {
  GeneratedParameter parameter;
  std::istringstream words{std::string(text)};
  std::string word;
  std::vector<std::string> all;
  while (words >> word)
    if (word.front() == '@')
      parameter.contents = word.substr(1);
    else
      all.push_back(word);
  for (const std::string& each : all)
    declaration += (&each == all.data() ? "" : " ") + each;
  parameter.name = all.back();
  parameter.isConst = std::ranges::count(all, "const") > 0;
  parameter.type = all[all.size() - 2];
  if (parameter.type.back() == '*')
    parameter.type.pop_back();
  using Kind = GeneratedParameter::Kind;
  parameter.kind = text.find('*') == std::string_view::npos ? Kind::Number
                   : all.front() == "local"                 ? Kind::Local
                                                            : Kind::Buffer;
  return parameter;
}

GeneratedKernel blockKernel(unsigned seed, ProgramKind kind) {
  Random random(seed);
  const unsigned version = kind == ProgramKind::Blocks2 ? 200 : 120;
  const Block* block = nullptr;
  do
    block = &blocks()[random.below(static_cast<unsigned>(blocks().size()))];
  while (block->standard > version || (version == 200 && block->standard < 200 && random.oneIn(2)));

  GeneratedKernel kernel;
  kernel.block = block->name;
  kernel.dimensions = block->dimensions;
  for (unsigned d = 0; d < 3; ++d)
    kernel.local[d] = block->local[d];
  kernel.inOrder = block->kind == BlockKind::InOrder;
  kernel.huge = block->kind == BlockKind::Huge;
  kernel.mayBeUneven = version == 200 && block->local[0] == 0;
  kernel.bufferSize = 1 << 14;
  std::string parameters, body = expand(block->body, spellings(seed, kind, kernel.inOrder), random);
  std::istringstream list{block->parameters};
  for (std::string each; std::getline(list, each, ',');) {
    if (!parameters.empty())
      parameters += ", ";
    kernel.parameters.push_back(parseParameter(each, parameters));
  }
  const bool required = block->local[0] > 0 && random.oneIn(2);
  if (body.find("kept" + std::to_string(seed)) != std::string::npos)
    kernel.text = "global int kept" + std::to_string(seed) + " = 3;\n";
  kernel.text += "// " + std::string(block->name) + "\nkernel " +
                 (required ? "__attribute__((reqd_work_group_size(4, 4, 1))) " : "") + "void k" +
                 std::to_string(seed) + "(" + parameters + ") {\n" + body + "\n}\n\n";
  std::set<std::string, std::less<>> buffers;
  for (const GeneratedParameter& parameter : kernel.parameters)
    if (parameter.kind == GeneratedParameter::Kind::Buffer)
      buffers.insert(parameter.name);
  if (!kernel.inOrder)
    for (unsigned changes = random.below(6); changes < 2; ++changes)
      kernel.text = mutate(kernel.text, buffers, random);
  return kernel;
}

} // namespace

GeneratedProgram generatedProgram(unsigned seed) {
  const ProgramKind kind = kindOf(seed);
  if (kind == ProgramKind::Statements)
    return {statementsPrelude, "", {}};
  Random random(seed / kernelsPerProgram * 7 + 3);
  Names names;
  names["T"] = random.of({"int", "int", "uint", "long", "short"});
  GeneratedProgram program;
  program.prelude = random.of({"#include \"shared.h\"\n", "#include <shared.h>\n",
                               "#define HEADER \"shared.h\"\n#include HEADER\n#include HEADER\n"});
  program.standard = kind == ProgramKind::Blocks2 ? "CL2.0" : random.oneIn(2) ? "CL1.2" : "";
  program.headers = {{"shared.h", expand(sharedHeader, names, random)},
                     {"inner.h", expand(innerHeader, names, random)}};
  return program;
}

GeneratedKernel generatedKernel(unsigned seed) {
  const ProgramKind kind = kindOf(seed);
  GeneratedKernel kernel =
      kind == ProgramKind::Statements ? statementsKernel(seed) : blockKernel(seed, kind);
  kernel.name = "k" + std::to_string(seed);
  return kernel;
}

} // namespace libsplit::oracle
