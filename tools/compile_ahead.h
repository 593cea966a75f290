// `splitrun --compile-ahead`, which libsplit runs beside a program (compile_order.h).
#pragma once

#include <istream>

namespace libsplit::tools {

/// Has drivers compile what the orders on `input` ask for, and keep it, and ends the process. Exit
/// status: 0 if they did, which it also says; it ends sooner where nobody reads that.
[[noreturn]] void compileAhead(std::istream& input);

} // namespace libsplit::tools
