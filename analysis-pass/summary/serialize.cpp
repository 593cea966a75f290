// Writer and reader of the format that FORMAT.md specifies. One table per vocabulary serves both
// directions, so that they can't disagree.
#include "analysis-pass/summary/serialize.h"

#include <bit>
#include <charconv>
#include <cstdio>
#include <utility>

namespace libsplit {

namespace {

template <typename T> struct Word {
  T value;
  std::string_view text;
};

constexpr Word<ParameterKind> parameterKinds[] = {
    {ParameterKind::GlobalBuffer, "global-buffer"},
    {ParameterKind::ConstantBuffer, "constant-buffer"},
    {ParameterKind::LocalBuffer, "local-buffer"},
    {ParameterKind::Scalar, "scalar"},
    {ParameterKind::Image, "image"},
    {ParameterKind::Sampler, "sampler"},
    {ParameterKind::Other, "other"}};

constexpr Word<Effect> effects[] = {{Effect::Read, "read"},
                                    {Effect::Write, "write"},
                                    {Effect::Rewrite, "rewrite"},
                                    {Effect::Update, "update"}};

constexpr Word<UpdateKind::Operation> operations[] = {
    {UpdateKind::Operation::Add, "add"},
    {UpdateKind::Operation::And, "and"},
    {UpdateKind::Operation::Or, "or"},
    {UpdateKind::Operation::Xor, "xor"},
    {UpdateKind::Operation::Min, "min"},
    {UpdateKind::Operation::Max, "max"},
    {UpdateKind::Operation::FloatAdd, "float-add"}};

constexpr Word<bool> signs[] = {{true, "s"}, {false, "u"}};

constexpr Word<bool> certainties[] = {{true, "certain"}, {false, "possible"}};

constexpr Word<bool> exactnesses[] = {{true, "exact"}, {false, "bound"}};

constexpr Word<Guard::Relation> relations[] = {{Guard::Relation::Less, "less"},
                                               {Guard::Relation::LessEqual, "less-equal"},
                                               {Guard::Relation::Equal, "equal"},
                                               {Guard::Relation::NotEqual, "not-equal"}};

constexpr Word<Obstacle::Kind> obstacleKinds[] = {
    {Obstacle::Kind::Printf, "printf"},
    {Obstacle::Kind::Atomic, "atomic"},
    {Obstacle::Kind::Image, "image"},
    {Obstacle::Kind::Pipe, "pipe"},
    {Obstacle::Kind::DeviceEnqueue, "device-enqueue"},
    {Obstacle::Kind::UnknownCall, "unknown-call"},
    {Obstacle::Kind::UnknownPointer, "unknown-pointer"},
    {Obstacle::Kind::Other, "other"}};

constexpr Word<Expr::Op> idOps[] = {
    {Expr::Op::GlobalId, "G"},   {Expr::Op::LocalId, "L"},
    {Expr::Op::GroupId, "W"},    {Expr::Op::GlobalSize, "GS"},
    {Expr::Op::LocalSize, "LS"}, {Expr::Op::EnqueuedLocalSize, "ELS"},
    {Expr::Op::NumGroups, "NG"}, {Expr::Op::GlobalOffset, "GO"}};

constexpr Word<Expr::Op> operators[] = {
    {Expr::Op::Add, "add"},      {Expr::Op::Mul, "mul"},      {Expr::Op::Min, "min"},
    {Expr::Op::Max, "max"},      {Expr::Op::DivTrunc, "div"}, {Expr::Op::DivFloor, "div-floor"},
    {Expr::Op::RemTrunc, "rem"}, {Expr::Op::Shl, "shl"},      {Expr::Op::ShrArith, "shr"},
    {Expr::Op::And, "and"},      {Expr::Op::Or, "or"},        {Expr::Op::Xor, "xor"},
    {Expr::Op::Select, "select"}};

constexpr unsigned maxLoops = 64;

template <typename T, std::size_t N> std::string_view wordFor(const Word<T> (&table)[N], T value) {
  for (const Word<T>& w : table)
    if (w.value == value)
      return w.text;
  return "?";
}

template <typename T, std::size_t N>
std::optional<T> valueOf(const Word<T> (&table)[N], std::string_view text) {
  for (const Word<T>& w : table)
    if (w.text == text)
      return w.value;
  return std::nullopt;
}

bool isNary(Expr::Op op) {
  return op == Expr::Op::Add || op == Expr::Op::Mul || op == Expr::Op::Min || op == Expr::Op::Max;
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string hex(std::uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

} // namespace

const char* nameOf(UpdateKind::Operation operation) {
  return wordFor(operations, operation).data();
}

namespace {

class Writer {
public:
  std::string take() { return std::move(out_); }

  void write(const ProgramSummary& program) {
    out_ += "(program";
    if (!program.failure.empty())
      field("failure", program.failure);
    for (const std::string& macro : program.unknownMacros)
      field("macro", macro);
    for (const IncludedFile& file : program.includes) {
      out_ += "\n (include ";
      quoted(file.path);
      out_ += ' ' + hex(file.hash) + ')';
    }
    for (const KernelSummary& kernel : program.kernels)
      write(kernel);
    if (!program.flatSource.empty())
      field("flat", program.flatSource);
    if (!program.partitionSource.empty())
      field("source", program.partitionSource);
    out_ += ")\n";
  }

private:
  void field(std::string_view name, const std::string& text) {
    out_.append("\n (").append(name).append(" ");
    quoted(text);
    out_ += ')';
  }

  void write(const KernelSummary& kernel) {
    out_ += "\n (kernel ";
    quoted(kernel.name);
    for (const Parameter& p : kernel.parameters) {
      out_ += "\n  (parameter ";
      quoted(p.name);
      out_ += ' ';
      quoted(p.type);
      word(wordFor(parameterKinds, p.kind));
      number(p.size);
      out_ += ')';
    }
    for (const Access& access : kernel.accesses)
      write(access);
    for (const Obstacle& o : kernel.obstacles) {
      out_ += "\n  (obstacle";
      word(wordFor(obstacleKinds, o.kind));
      out_ += ' ';
      quoted(o.reason.text);
      write(o.reason.where);
      out_ += ')';
    }
    if (kernel.dependsOnGroups)
      out_ += "\n  (depends-on-groups)";
    if (kernel.dependsOnGroupsIfShared)
      out_ += "\n  (depends-on-groups-if-shared)";
    if (kernel.dependsOnSubGroups)
      out_ += "\n  (depends-on-sub-groups)";
    if (kernel.dependsOnOrder)
      out_ += "\n  (depends-on-order)";
    if (kernel.idsFromGroups)
      out_ += "\n  (ids-from-groups)";
    if (kernel.needsPartitionArgument)
      out_ += "\n  (needs-partition-argument)";
    if (kernel.requiredLocal != std::array<std::uint64_t, 3>{0, 0, 0}) {
      out_ += "\n  (required-local";
      for (const std::uint64_t size : kernel.requiredLocal)
        number(size);
      out_ += ')';
    }
    out_ += "\n  (code " + hex(kernel.codeHash) + "))";
  }

  void write(const Access& access) {
    out_ += "\n  (access";
    number(access.parameter);
    word(wordFor(effects, access.effect));
    word(wordFor(certainties, access.certain));
    number(access.length);
    write(access.offset);
    if (access.effect == Effect::Update) {
      out_ += " (by";
      word(wordFor(operations, access.update.operation));
      number(access.update.width);
      word(wordFor(signs, access.update.isSigned));
      out_ += ')';
    }
    if (access.grain != 1) {
      out_ += " (grain";
      number(access.grain);
      out_ += ')';
    }
    if (access.changes)
      out_ += " (changes)";
    for (const Guard& guard : access.guards) {
      out_ += guard.isInspected ? " (inspected " : " (";
      out_ += wordFor(relations, guard.relation);
      write(guard.left);
      write(guard.right);
      out_ += ')';
    }
    for (const Loop& loop : access.loops) {
      out_ += " (loop";
      word(wordFor(exactnesses, loop.exact));
      write(loop.count);
      out_ += ')';
    }
    write(access.where);
    out_ += ')';
  }

  void write(const SourceLine& where) {
    if (where == SourceLine{})
      return;
    out_ += " (at ";
    quoted(where.file);
    number(where.line);
    out_ += ')';
  }

  void write(const Expr& e) {
    switch (e.op()) {
    case Expr::Op::Constant:
      out_ += ' ' + std::to_string(e.value());
      return;
    case Expr::Op::WorkDim:
      word("WD");
      return;
    case Expr::Op::LoopVariable:
      word("k" + std::to_string(e.index()));
      return;
    case Expr::Op::Argument:
      out_ += " (arg";
      number(e.index());
      word(e.isSigned() ? "s" : "u");
      number(e.width());
      number(e.bit());
      out_ += ')';
      return;
    case Expr::Op::Unknown:
      out_ += " (unknown ";
      quoted(e.text());
      number(e.line());
      out_ += ')';
      return;
    case Expr::Op::Wrap:
      out_ += " (wrap";
      word(e.isSigned() ? "s" : "u");
      number(e.width());
      write(e.operands()[0]);
      out_ += ')';
      return;
    case Expr::Op::Load:
      out_ += " (load";
      number(e.index());
      word(e.isSigned() ? "s" : "u");
      number(e.width());
      write(e.operands()[0]);
      out_ += ')';
      return;
    default:
      break;
    }
    if (e.operands().empty()) {
      word(wordFor(idOps, e.op()));
      out_ += std::to_string(e.index());
      return;
    }
    out_.append(" (").append(wordFor(operators, e.op()));
    for (const Expr& operand : e.operands())
      write(operand);
    out_ += ')';
  }

  void word(std::string_view text) { out_.append(" ").append(text); }
  void number(std::uint64_t value) { out_ += ' ' + std::to_string(value); }

  void quoted(std::string_view text) {
    out_ += '"';
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (c == '\n') {
        out_ += "\\n";
      } else if (byte < 0x20 || byte == 0x7f) {
        char escape[5];
        std::snprintf(escape, sizeof escape, "\\x%02x", byte);
        out_ += escape;
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }

  std::string out_;
};

/// Recursive descent. The first error is kept and makes every later step a no-op, so callers test
/// `ok()` only where they loop.
class SummaryReader {
public:
  explicit SummaryReader(std::string_view text) : text_(text) {}

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }

  ProgramSummary program() {
    ProgramSummary result;
    expect("(program");
    while (ok() && open()) {
      const std::string_view name = word();
      if (name == "failure") {
        once(result.failure.empty(), "failure");
        result.failure = quoted();
      } else if (name == "macro") {
        result.unknownMacros.push_back(quoted());
      } else if (name == "source") {
        once(result.partitionSource.empty(), "source");
        result.partitionSource = quoted();
      } else if (name == "flat") {
        once(result.flatSource.empty(), "flat");
        result.flatSource = quoted();
      } else if (name == "include") {
        IncludedFile file;
        file.path = quoted();
        file.hash = parse<std::uint64_t>(word(), 16);
        result.includes.push_back(std::move(file));
      } else if (name == "kernel") {
        result.kernels.push_back(kernel());
      } else {
        fail("unknown field '" + std::string(name) + "'");
      }
      close();
    }
    close();
    skipSpace();
    if (ok() && at_ != text_.size())
      fail("text after the end");
    return result;
  }

private:
  KernelSummary kernel() {
    KernelSummary result;
    result.name = quoted();
    while (ok() && open()) {
      const std::string_view name = word();
      if (name == "parameter") {
        Parameter p;
        p.name = quoted();
        p.type = quoted();
        p.kind = choice(parameterKinds);
        p.size = parse<std::uint32_t>(word());
        result.parameters.push_back(std::move(p));
      } else if (name == "access") {
        result.accesses.push_back(access());
      } else if (name == "obstacle") {
        Obstacle o;
        o.kind = choice(obstacleKinds);
        o.reason.text = quoted();
        if (ok() && open()) {
          if (word() != "at")
            fail("'at' expected");
          o.reason.where = where();
          close();
        }
        result.obstacles.push_back(std::move(o));
      } else if (name == "depends-on-groups") {
        result.dependsOnGroups = true;
      } else if (name == "depends-on-groups-if-shared") {
        result.dependsOnGroupsIfShared = true;
      } else if (name == "depends-on-sub-groups") {
        result.dependsOnSubGroups = true;
      } else if (name == "depends-on-order") {
        result.dependsOnOrder = true;
      } else if (name == "ids-from-groups") {
        result.idsFromGroups = true;
      } else if (name == "needs-partition-argument") {
        result.needsPartitionArgument = true;
      } else if (name == "required-local") {
        for (std::uint64_t& size : result.requiredLocal)
          size = parse<std::uint64_t>(word());
      } else if (name == "code") {
        result.codeHash = parse<std::uint64_t>(word(), 16);
      } else {
        fail("unknown field '" + std::string(name) + "'");
      }
      close();
    }
    if (ok() && highestParameter_ >= result.parameters.size() && usesParameters_)
      fail("parameter " + std::to_string(highestParameter_) + " does not exist");
    highestParameter_ = 0;
    usesParameters_ = false;
    return result;
  }

  Access access() {
    Access result;
    highestLoop_ = 0;
    result.parameter = parameterIndex();
    result.effect = choice(effects);
    result.certain = choice(certainties);
    result.length = parse<std::uint64_t>(word());
    result.offset = expr();
    while (ok() && open()) {
      const std::string_view name = word();
      if (name == "loop") {
        Loop loop;
        loop.exact = choice(exactnesses);
        loop.count = expr();
        result.loops.push_back(std::move(loop));
      } else if (name == "at") {
        result.where = where();
      } else if (name == "by" && result.effect == Effect::Update) {
        result.update.operation = choice(operations);
        result.update.width = parse<std::uint32_t>(word());
        result.update.isSigned = choice(signs);
        if (ok() && result.update.width != 4 && result.update.width != 8)
          fail("an update of another width than 4 or 8");
      } else if (name == "grain" && result.effect == Effect::Write) {
        result.grain = parse<std::uint32_t>(word());
        if (ok() && (!std::has_single_bit(result.grain) || result.grain > 16))
          fail("a grain that is no power of two up to 16");
      } else if (name == "changes" && result.effect == Effect::Write) {
        result.changes = true;
      } else if (name == "inspected") {
        const auto relation = choice(relations);
        result.guards.push_back(guard(relation));
        result.guards.back().isInspected = true;
      } else if (auto relation = valueOf(relations, name)) {
        result.guards.push_back(guard(*relation));
      } else {
        fail("unknown field '" + std::string(name) + "'");
      }
      close();
    }
    if (ok() && (highestLoop_ > result.loops.size() || result.loops.size() > maxLoops))
      fail("loop variable without its loop");
    return result;
  }

  Guard guard(Guard::Relation relation) {
    Guard result;
    result.relation = relation;
    result.left = expr();
    result.right = expr();
    return result;
  }

  SourceLine where() {
    SourceLine result;
    result.file = quoted();
    result.line = parse<unsigned>(word());
    return result;
  }

  Expr expr() {
    if (depth_ >= Expr::maxDepth) {
      fail("expression nested too deep");
      return {};
    }
    skipSpace();
    if (!ok() || at_ >= text_.size()) {
      fail("expression expected");
      return {};
    }
    if (text_[at_] != '(')
      return leaf(word());
    open();
    ++depth_;
    Expr result = compound(word());
    --depth_;
    close();
    return result;
  }

  Expr leaf(std::string_view token) {
    if (token == "WD")
      return Expr::workDim();
    if (token.size() >= 2 && token.front() == 'k') {
      const unsigned index = parse<unsigned>(token.substr(1));
      if (index >= maxLoops)
        fail("loop variable out of range");
      highestLoop_ = std::max(highestLoop_, index + 1);
      return Expr::loop(index);
    }
    if (token.size() >= 2 && token.back() >= '0' && token.back() <= '2')
      if (auto op = valueOf(idOps, token.substr(0, token.size() - 1)))
        return Expr::id(*op, static_cast<unsigned>(token.back() - '0'));
    return Expr::constant(parse<std::int64_t>(token));
  }

  Expr compound(std::string_view name) {
    if (name == "arg") {
      const unsigned parameter = parameterIndex();
      const bool isSigned = sign();
      const unsigned width = parse<unsigned>(word());
      const unsigned bit = parse<unsigned>(word());
      if (width == 0 || width > 64)
        fail("argument width out of range");
      return Expr::argument(parameter, width, isSigned, bit);
    }
    if (name == "wrap") {
      const bool isSigned = sign();
      const unsigned width = parse<unsigned>(word());
      if (width == 0 || width > 64)
        fail("wrap width out of range");
      return Expr::wrap(expr(), width, isSigned);
    }
    if (name == "load") {
      const unsigned parameter = parameterIndex();
      const bool isSigned = sign();
      const unsigned width = parse<unsigned>(word());
      if (width != 8 && width != 16 && width != 32 && width != 64)
        fail("load width out of range");
      return Expr::load(parameter, expr(), width, isSigned);
    }
    if (name == "unknown") {
      std::string why = quoted();
      return Expr::unknown(std::move(why), parse<unsigned>(word()));
    }
    const std::optional<Expr::Op> op = valueOf(operators, name);
    if (!op) {
      fail("unknown operator '" + std::string(name) + "'");
      return {};
    }
    std::vector<Expr> operands;
    while (ok() && peek() != ')' && operands.size() <= Expr::maxSize)
      operands.push_back(expr());
    const std::size_t arity = *op == Expr::Op::Select ? 4 : 2;
    if (isNary(*op) ? operands.size() < arity : operands.size() != arity)
      fail("wrong number of operands for '" + std::string(name) + "'");
    return ok() ? Expr::node(*op, std::move(operands)) : Expr{};
  }

  unsigned parameterIndex() {
    const unsigned index = parse<unsigned>(word());
    usesParameters_ = true;
    highestParameter_ = std::max(highestParameter_, index);
    return index;
  }

  bool sign() {
    const std::string_view token = word();
    if (token != "s" && token != "u")
      fail("'s' or 'u' expected");
    return token == "s";
  }

  template <typename T, std::size_t N> T choice(const Word<T> (&table)[N]) {
    const std::string_view token = word();
    const std::optional<T> value = valueOf(table, token);
    if (!value)
      fail("unexpected '" + std::string(token) + "'");
    return value.value_or(table[0].value);
  }

  template <typename T> T parse(std::string_view token, int base = 10) {
    T value{};
    const auto [end, code] =
        std::from_chars(token.data(), token.data() + token.size(), value, base);
    if (code != std::errc{} || end != token.data() + token.size()) {
      fail("number expected, not '" + std::string(token) + "'");
      return T{};
    }
    return value;
  }

  std::string quoted() {
    std::string result;
    if (peek() != '"') {
      fail("text expected");
      return result;
    }
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\') {
        result += text_[at_];
        continue;
      }
      const char kind = ++at_ < text_.size() ? text_[at_] : '\0';
      if (kind == 'n') {
        result += '\n';
      } else if (kind == '"' || kind == '\\') {
        result += kind;
      } else if (kind == 'x' && at_ + 2 < text_.size()) {
        result += static_cast<char>(parse<unsigned char>(text_.substr(at_ + 1, 2), 16));
        at_ += 2;
      } else {
        fail("unknown escape");
        return result;
      }
    }
    if (at_ >= text_.size())
      fail("text without its end");
    else
      ++at_;
    return result;
  }

  std::string_view word() {
    skipSpace();
    const std::size_t begin = at_;
    while (at_ < text_.size() && !isSpace(text_[at_]) && text_[at_] != '(' && text_[at_] != ')' &&
           text_[at_] != '"')
      ++at_;
    if (at_ == begin)
      fail("word expected");
    return text_.substr(begin, at_ - begin);
  }

  bool open() {
    if (peek() != '(')
      return false;
    ++at_;
    return true;
  }

  void close() {
    if (peek() != ')')
      fail("')' expected");
    else
      ++at_;
  }

  void expect(std::string_view token) {
    skipSpace();
    if (text_.substr(at_, token.size()) != token)
      fail("'" + std::string(token) + "' expected");
    else
      at_ += token.size();
  }

  void once(bool first, const char* name) {
    if (!first)
      fail(std::string("second ") + name);
  }

  char peek() {
    skipSpace();
    return ok() && at_ < text_.size() ? text_[at_] : '\0';
  }

  static bool isSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  void skipSpace() {
    while (at_ < text_.size() && isSpace(text_[at_]))
      ++at_;
  }

  void fail(std::string what) {
    if (error_.empty())
      error_ = std::move(what) + " at byte " + std::to_string(at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
  unsigned depth_ = 0;
  unsigned highestParameter_ = 0; // named in the current kernel
  bool usesParameters_ = false;
  unsigned highestLoop_ = 0; // one past the highest loop variable in the current access
};

constexpr std::string_view magic = "libsplit-summary ";

} // namespace

std::string serialize(const ProgramSummary& summary) {
  Writer writer;
  writer.write(summary);
  const std::string body = writer.take();
  return std::string(magic) + std::to_string(summaryFormatVersion) + ' ' + hex(fnv1a(body)) + '\n' +
         body;
}

std::optional<ProgramSummary> parseProgramSummary(std::string_view text, std::string* error) {
  auto refuse = [&](std::string why) {
    if (error)
      *error = std::move(why);
    return std::nullopt;
  };
  const std::size_t lineEnd = text.find('\n');
  if (!text.starts_with(magic) || lineEnd == std::string_view::npos)
    return refuse("not a libsplit summary");
  const std::string_view body = text.substr(lineEnd + 1);
  const std::string head = std::string(magic) + std::to_string(summaryFormatVersion) + ' ';
  if (!text.starts_with(head))
    return refuse("summary of another version");
  if (text.substr(head.size(), lineEnd - head.size()) != hex(fnv1a(body)))
    return refuse("checksum differs");

  SummaryReader reader(body);
  ProgramSummary result = reader.program();
  if (!reader.ok())
    return refuse(reader.error());
  return result;
}

} // namespace libsplit
