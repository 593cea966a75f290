// The program's kernel objects and their arguments.
#pragma once

#include "runtime/session/memory_table.h"
#include "runtime/session/preparer.h"
#include "runtime/session/programs.h"
#include "runtime/session/shared.h"

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

namespace libsplit::runtime {

/// Any thread, without the session's lock where nothing else is said.
class Kernels {
public:
  Kernels(Shared& shared, Programs& programs, MemoryTable& memory, Preparer& preparer)
      : shared_(shared), cl_(shared.cl), programs_(programs), memory_(memory), preparer_(preparer) {
  }

  void created(cl_kernel kernel, cl_program program);
  void cloned(cl_kernel clone, cl_kernel original);
  void retained(cl_kernel kernel);
  void released(cl_kernel kernel);
  /// Whether the kernel and that parameter are known.
  bool hasParameter(cl_kernel handle, cl_uint index) const;
  void argumentSet(cl_kernel kernel, cl_uint index, std::size_t size, const void* value);
  /// The kernel got something that libsplit can't follow (an SVM pointer): never split it.
  void becameOpaque(cl_kernel kernel, const std::string& why);
  /// … as an argument, in place of what that was.
  void argumentUnfollowed(cl_kernel kernel, cl_uint index, const std::string& why);

  /// Null if it is not known. With the lock.
  std::shared_ptr<Kernel> find(cl_kernel kernel) const;
  /// Asks the driver what the kernel's parameters are, once. With the lock.
  void askForKinds(const Kernel& kernel) const;

private:
  void add(std::shared_ptr<Kernel> kernel);

  Shared& shared_;
  const Dispatch& cl_;
  Programs& programs_;
  MemoryTable& memory_;
  Preparer& preparer_;
  std::unordered_map<cl_kernel, std::shared_ptr<Kernel>> kernels_;
};

} // namespace libsplit::runtime
