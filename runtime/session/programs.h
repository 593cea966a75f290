// The program's programs: what they were made from, their builds. Analyses begin as soon as it is
// known what there is to analyse (preparer.h).
#pragma once

#include "runtime/program/origin.h"
#include "runtime/session/preparer.h"
#include "runtime/session/scheduler.h"
#include "runtime/session/shared.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace libsplit::runtime {

/// A binary that a program is made from.
struct BinaryUse {
  cl_device_id device = nullptr;
  std::string_view bytes;
};

/// A program that another may include by `name` when it is compiled.
struct HeaderUse {
  std::string name;
  cl_program program = nullptr;
};

/// How long a driver may hold the kernel of a launch that is over.
inline constexpr std::chrono::seconds longestHeld(1);

/// Any thread, without the session's lock where nothing else is said.
class Programs {
public:
  Programs(Shared& shared, BinaryOrigins& binaries, Preparer& preparer, Scheduler& scheduler)
      : shared_(shared), cl_(shared.cl), options_(shared.options), binaries_(binaries),
        preparer_(preparer), scheduler_(scheduler) {}

  // Programs, as the application makes and drops them.
  /// From `source`; without one, `opaque` says why there is none.
  void created(cl_program program, cl_context context, std::optional<std::string> source,
               const std::string& opaque);
  void createdFrom(cl_program program, cl_context context, const std::vector<BinaryUse>& binaries);
  /// By binary: whether LIBSPLIT_REBUILD has it refused, so that the application builds from
  /// source.
  std::vector<bool> refused(const std::vector<BinaryUse>& binaries) const;
  /// It is no longer what it was made from: never split its kernels.
  void becameOpaque(cl_program program, const std::string& why);
  void retained(cl_program program);
  void released(cl_program program);

  /// The application is about to compile or build a program, which drivers refuse while there are
  /// kernels of it: waits for what libsplit does with its own, and drops them. Whether there may
  /// have been any, which the driver may hold for a moment yet; false as well if the driver must
  /// refuse, since the application or launches that wait have some.
  bool givesUpKernels(cl_program program);
  /// The driver refused that for as long as it may hold any.
  void refusedForGood(cl_program program);
  /// The application is about to build, after `givesUpKernels`, for these devices; none stands for
  /// all. The build before, for `built`; null if the driver must refuse, since there are kernels.
  std::shared_ptr<Build> building(cl_program program, std::vector<cl_device_id> devices,
                                  const char* options);
  /// What the driver said to it.
  void built(cl_program program, const std::shared_ptr<Build>& before, cl_int status,
             double seconds);
  /// The application is about to read the program's binaries, or how large they are. Waits until
  /// nothing is being built of it: PoCL collects what its cache has of the program, and aborts
  /// where that is being written.
  void readingBinaries(cl_program program);
  /// The application has read the program's binaries: one for each of its devices, null for those
  /// that it did not want.
  void binariesRead(cl_program program, std::span<const unsigned char* const> binaries);

  // Compiled in units and linked, linked.cpp.
  /// The application is about to compile a unit for these devices; none stands for all. What it was
  /// compiled from before, for `compiled`.
  SourceUnits compiling(cl_program program, std::vector<cl_device_id> devices, const char* options,
                        std::span<const HeaderUse> headers);
  /// What the driver said to it.
  void compiled(cl_program program, SourceUnits before, cl_int status);
  /// What a program that is linked from `inputs` is made from, by device; without those devices
  /// for which it is not known.
  std::map<cl_device_id, LinkedUnits> partsOfLink(cl_context context,
                                                  std::vector<cl_device_id> devices,
                                                  const char* options,
                                                  std::span<const cl_program> inputs) const;
  /// `program` was linked from `parts`; it may be a library.
  void linked(cl_program program, cl_context context,
              const std::map<cl_device_id, LinkedUnits>& parts);

  /// Null if it is not known. With the lock.
  std::shared_ptr<Program> find(cl_program program) const;
  /// One of its kernels is gone. With the lock; the caller keeps `program`.
  void lostKernel(const std::shared_ptr<Program>& program);

private:
  void add(std::shared_ptr<Program> program);
  std::shared_ptr<const HeaderSnapshot> seenHeaders(cl_program program, const char* options) const;
  bool isLaunched(const Program& program, std::deque<std::shared_ptr<Task>> Stream::* as) const;

  Shared& shared_;
  const Dispatch& cl_;
  const Options& options_;
  BinaryOrigins& binaries_;
  Preparer& preparer_;
  Scheduler& scheduler_;
  std::unordered_map<cl_program, std::shared_ptr<Program>> programs_;
};

} // namespace libsplit::runtime
