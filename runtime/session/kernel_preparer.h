// How a kernel is made ready for its launches to be split: its analysis, the machine, kernels for
// the other devices, and what else a launch asks of it.
#pragma once

#include "runtime/program/kernel_builder.h"
#include "runtime/program/program_analyses.h"
#include "runtime/session/merger.h"
#include "runtime/session/shared.h"

#include <map>
#include <memory>
#include <string>

namespace libsplit::runtime {

/// Why nothing is split where nobody is there to share the work with.
inline constexpr const char* noSecondDevice = "there is no second device";

/// Slow: never with the session's lock, which it takes for a moment where others look on. One
/// thread at a time.
class KernelPreparer {
public:
  /// `onlyWhatPays`: nobody waits for it, so it keeps below the program's own priority, and devices
  /// that join late are left for later.
  KernelPreparer(Shared& shared, ProgramAnalyses& analyses, DriverTrial& trial, Merger& merger,
                 bool onlyWhatPays)
      : shared_(shared), cl_(shared.cl), options_(shared.options), machine_(shared.machine),
        analyses_(analyses), trial_(trial), merger_(merger), onlyWhatPays_(onlyWhatPays),
        builder_(cl_, machine_, trial, onlyWhatPays) {}

  /// What is known of a kernel on the program's own device.
  struct Analysed {
    std::shared_ptr<const Origin> origin;
    std::shared_ptr<const ProgramSummary> program; ///< which `kernel` is one of
    const KernelSummary* kernel = nullptr;
  };
  /// Has `code`, one of `program`'s, analysed for launches on the device `home`, and makes the
  /// machine. Why it can't be split, if so.
  std::string analyse(const Program& program, Build& build, KernelCode& code, cl_device_id home,
                      const std::string& opaque, Analysed& analysed);
  /// Then fills in `code`: what it takes to launch it on the other devices. Why it can't be split,
  /// if so. Nobody else reads what it writes until the code's state says Ready, but for what it
  /// writes last.
  std::string build(const Program& program, Build& build, KernelCode& code,
                    const Analysed& analysed);
  /// Has the programs built that `kernels`, by name, are in, as far as an earlier run left what
  /// that takes.
  void buildAhead(const Program& program, Build& build, const Origin& origin, const Place& place,
                  const std::map<std::string, double>& kernels);
  /// Builds a kernel that is ready for the devices that join late.
  void buildLate(const Program& program, Build& build, KernelCode& code);
  /// Builds a kernel that is ready so that it takes windows on `device`. Null if it can't be.
  std::shared_ptr<LaneKernel> buildWindowed(const Program& program, Build& build,
                                            const KernelCode& code, std::size_t device);
  /// Makes the machine, and reads what is known of its speeds, if it is not there yet. Why there is
  /// nobody to share work with, if so.
  std::string ensureMachine(cl_context context, cl_device_id home);

private:
  std::unique_ptr<KnownSpeeds> loadSpeeds(const Machine& machine) const;
  void noteSummaries(const Program& program, Build& build, KernelCode& code,
                     const std::shared_ptr<const Origin>& origin, const KernelSummary& home) const;
  std::string buildForAll(const Program& program, Build& build, KernelCode& code,
                          const Origin& origin);
  void noteInspections(const Program& program, KernelCode& code) const;

  Shared& shared_;
  const Dispatch& cl_;
  const Options& options_;
  const std::unique_ptr<Machine>& machine_;
  ProgramAnalyses& analyses_;
  DriverTrial& trial_;
  Merger& merger_;
  const bool onlyWhatPays_;
  KernelBuilder builder_;
};

/// Keeps what was measured in this run, where it is to be kept. Takes the session's lock.
void saveSpeeds(Shared& shared);

} // namespace libsplit::runtime
