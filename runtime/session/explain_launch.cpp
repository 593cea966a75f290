// LIBSPLIT_EXPLAIN: at the first launch of a kernel, splitc tells of its source, asked about that
// very launch. The program waits meanwhile: who asks wants to read it before what follows.
#include "runtime/session/launcher.h"

#include "runtime/core/log.h"

#include <cstring>

namespace libsplit::runtime {

namespace {

/// The launch in the words of splitc's command line.
std::vector<std::string> describe(const Kernel& kernel, const LaunchArguments& arguments) {
  std::vector<std::string> words;
  if (arguments.dimensions >= 1 && arguments.dimensions <= 3 && arguments.global &&
      arguments.local) {
    std::string global, local;
    for (cl_uint d = 0; d < arguments.dimensions; ++d) {
      global += (d ? "x" : "") + std::to_string(arguments.global[d]);
      local += (d ? "x" : "") + std::to_string(arguments.local[d]);
    }
    words.push_back("--range=" + global + "/" + local);
  }
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Argument& argument = kernel.arguments[i];
    std::int64_t number = 0;
    if (const auto object = kernel.memoryOf(i); object && object->buffer)
      number = static_cast<std::int64_t>(object->buffer->size());
    else if (kernel.code->kinds[i] == ArgumentKind::Value && !argument.value.empty() &&
             argument.value.size() <= sizeof number)
      std::memcpy(&number, argument.value.data(), argument.value.size());
    else
      continue;
    // A negative int is not a large long.
    if (argument.value.size() == sizeof(std::int32_t))
      number = static_cast<std::int32_t>(number);
    words.push_back("--argument=" + std::to_string(i) + "=" + std::to_string(number));
  }
  return words;
}

} // namespace

/// Prints the explanation once for each kernel of the name. Waits without the lock.
void Launcher::explainOnce(Lock& lock, cl_command_queue queue, const Kernel& kernel,
                           const LaunchArguments& arguments) {
  if (!explained_.insert(kernel.code->stats).second)
    return;
  const std::string& name = kernel.code->name;
  const auto stream = scheduler_.streamOf(lock, queue);
  const std::shared_ptr<Program> program = kernel.program;
  const auto made =
      stream ? program->build->origins.find(stream->device) : program->build->origins.end();
  if (made == program->build->origins.end()) {
    writeReport("libsplit: kernel " + name + ": " +
                (program->opaque.empty() ? "its program's text is not known" : program->opaque) +
                "\n");
    return;
  }
  auto words = describe(kernel, arguments);
  words.push_back("--kernel=" + name);
  words.push_back(reportsToTerminal() ? "--color=always" : "--color=never");
  preparer_.explain(lock, *program, made->second, stream->device, words);
}

} // namespace libsplit::runtime
