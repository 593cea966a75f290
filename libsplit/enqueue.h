// How commands are handed to the session: put off if need be, or at once.
#pragma once

#include "libsplit/door.h"

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace libsplit {

/// For a command that drivers refuse, if they look: when it is put off, its error would come too
/// late for the application. So everything before it is finished, and the driver is asked at once.
/// All old bytes are brought home, since a refused command changes none.
inline cl_int atOnce(const runtime::Command& command, std::vector<runtime::BufferUse> uses,
                     const runtime::NativeCall& call) {
  for (runtime::BufferUse& use : uses)
    use.reads = true;
  auto enqueuing = session().commands().enqueuing(command.queue);
  if (const cl_int status = session().commands().settle(enqueuing, command, uses))
    return status;
  return call(command.blocking, command.waitCount, command.waitList, command.event);
}

/// For a command that the standard has drivers refuse.
inline cl_int toBeRefused(runtime::Command command, std::vector<runtime::BufferUse> uses,
                          const runtime::NativeCall& call) {
  command.refusal = runtime::Refusal::All;
  return atOnce(command, std::move(uses), call);
}

/// Those that there are for migrating memory.
inline bool areMigrationFlags(cl_mem_migration_flags flags) {
  constexpr cl_mem_migration_flags known =
      CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  return (flags & ~known) == 0;
}

/// A copy of an array of the application's; where there is nothing to copy, its address.
template <class T> class Copied {
public:
  Copied(T* values, std::size_t count)
      : given_(values), values_(values, values ? values + count : values) {}
  T* data() const { return values_.empty() ? given_ : const_cast<T*>(values_.data()); }
  bool empty() const { return values_.empty(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

private:
  T* given_;
  std::vector<std::remove_const_t<T>> values_;
};

/// Any other goes as the session decides. Some drivers refuse a flag that is neither CL_TRUE nor
/// CL_FALSE. What only some refuse is put off where the program can't be held up: they would tell
/// it late.
template <class Call>
cl_int enqueue(runtime::Refusal refusal, runtime::Command command,
               std::initializer_list<runtime::BufferUse> uses, const Call& call) {
  command.refusal = refusal;
  const bool isDoubtful = refusal == runtime::Refusal::Some;
  const bool isRefused = refusal == runtime::Refusal::All || command.blocking > CL_TRUE;
  return isRefused || (isDoubtful && !session().commands().mayWaitForProgram(command.queue))
             ? atOnce(command, uses, call)
             : session().commands().enqueue(command, uses, call);
}
/// `isWrong`: the standard has drivers refuse it.
template <class Call>
cl_int enqueue(bool isWrong, const runtime::Command& command,
               std::initializer_list<runtime::BufferUse> uses, const Call& call) {
  return enqueue(isWrong ? runtime::Refusal::All : runtime::Refusal::No, command, uses, call);
}

} // namespace libsplit
