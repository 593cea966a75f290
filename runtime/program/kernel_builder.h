// Builds the program's kernels again, for the devices that are to run parts of their launches.
//
// Each device gets one program for all kernels that it can take in the same form: as it was made
// (source, IL, linked units), or rewritten so that its kernels do a part of the NDRange and see the
// whole. What has been built for a device is kept with the program's build.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"
#include "runtime/device/machine.h"
#include "runtime/program/driver_trial.h"
#include "runtime/program/program.h"

#include <functional>
#include <memory>
#include <string>

namespace libsplit::runtime {

/// Not under any lock: drivers compile. One thread at a time.
class KernelBuilder {
public:
  /// `machine` is there when something is to be built. `yields`: drivers are called below the
  /// program's own priority. All must outlive this.
  KernelBuilder(const Dispatch& cl, const std::unique_ptr<Machine>& machine, DriverTrial& trial,
                bool yields)
      : cl_(cl), machine_(machine), trial_(trial), yields_(yields) {}

  /// The program that has `kernel`, one of `summary`'s, for a device; null if it can't be built
  /// there.
  Ref<cl_program> programFor(const Program& program, Build& build, const Origin& origin,
                             std::size_t device, const ProgramSummary& summary,
                             const KernelSummary& kernel);
  /// The kernel as a device runs it; null if it can't be built there. What `code` says of the
  /// device is its summary, and one of its owners has that.
  std::shared_ptr<LaneKernel> kernelFor(const Program& program, Build& build,
                                        const KernelCode& code, const Origin& origin,
                                        std::size_t device);
  /// The same that takes windows, out of the text that `windowed` makes of the one that the device
  /// builds otherwise.
  using MakeWindowed = std::function<std::string(const std::string&)>;
  std::shared_ptr<LaneKernel> windowedKernelFor(const Program& program, Build& build,
                                                const KernelCode& code, const Origin& origin,
                                                std::size_t device, const MakeWindowed& windowed);

private:
  Ref<cl_program> programIn(const Program& program, Build& build, const Origin& origin,
                            std::size_t device, const std::string& source, ProgramForm form);
  bool isRewritten(const Origin& origin, std::size_t device, const ProgramSummary& summary,
                   const KernelSummary& kernel) const;
  std::shared_ptr<LaneKernel> kernelIn(const Ref<cl_program>& built, const KernelCode& code,
                                       std::size_t device) const;
  Ref<cl_program> create(cl_context context, cl_device_id device, const std::string& text) const;
  Ref<cl_program> createLinked(cl_context context, cl_device_id device, const std::string& text,
                               const std::string& options) const;
  std::string optionsFor(std::size_t device) const;
  void beside(const std::function<void()>& work) const;

  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  DriverTrial& trial_;
  const bool yields_;
};

} // namespace libsplit::runtime
