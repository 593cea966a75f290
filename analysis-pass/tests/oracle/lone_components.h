// Vectors' components, loaded and stored by themselves: as a program means `f[i].x = f[i + 1].y`,
// and not as Clang says it, by a load of the whole vector and a store of all of it. On Clang's own
// output, before any pass: there it can still be told from `t = f[i]; t.x = 1; f[i] = t`.
#pragma once

namespace llvm {
class Module;
}

namespace libsplit::oracle {

void makeComponentsLone(llvm::Module& module);

} // namespace libsplit::oracle
