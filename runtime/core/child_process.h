// Runs a program with a text on its standard input and collects its standard output.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace libsplit::runtime {

struct ChildResult {
  bool succeeded = false; ///< exit status 0 within the time
  std::string output;     ///< standard output, whole
  std::string failure;    ///< why not, in words: "crashed (signal 11)", "gave no answer in 30 s"
  double spent = 0;       ///< seconds of its time, if it was killed
};

/// Whose child it is. A program that waits for any child, or is told of each one's end, finds those
/// that are its own. `Nobody`: it finds none of ours (unless the program takes in orphans); how the
/// child ended is not known, so its output must convince, and it has to end when its standard
/// output is closed, since it is not killed.
enum class Parent { Program, Nobody };

/// No shell. The child's environment is ours without LD_PRELOAD, OPENCL_LAYERS and LIBSPLIT_*; its
/// standard error goes nowhere, and it inherits no other file: who waits for the end of a pipe of
/// the program's does not wait for it. It is killed when it has used up its time: of the processor,
/// and that in which it slept, but not that in which others kept it waiting for a processor. Safe
/// in a process with threads and with SIGCHLD or SIGPIPE handled in any way. Ends early, as if the
/// time were over, once `cancelled` is set. Runs in `directory`, if that is not empty.
ChildResult runChild(const std::vector<std::string>& arguments, const std::string& input,
                     double timeoutSeconds, const std::atomic<bool>* cancelled = nullptr,
                     const std::string& directory = {}, Parent parent = Parent::Program);

} // namespace libsplit::runtime
