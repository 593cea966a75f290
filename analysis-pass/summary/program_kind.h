// What a program is, by its first bytes: the same answer for splitc and for the runtime.
#pragma once

#include "analysis-pass/summary/linked_program.h"
#include "analysis-pass/summary/pocl_binary.h"

#include <string_view>

namespace libsplit {

enum class ProgramKind {
  OpenclC,
  Linked, ///< linked_program.h
  SpirV,
  Bitcode,
  PoclBinary ///< pocl_binary.h
};

inline ProgramKind kindOf(std::string_view program) {
  using namespace std::string_view_literals;
  for (std::string_view magic : {"\x03\x02\x23\x07"sv, "\x07\x23\x02\x03"sv})
    if (program.starts_with(magic))
      return ProgramKind::SpirV;
  // LLVM's own magic number, and that of its wrapper.
  for (std::string_view magic : {"BC\xC0\xDE"sv, "\xDE\xC0\x17\x0B"sv})
    if (program.starts_with(magic))
      return ProgramKind::Bitcode;
  if (program.starts_with(poclBinaryMagic))
    return ProgramKind::PoclBinary;
  return program.starts_with(linkedProgramMagic) ? ProgramKind::Linked : ProgramKind::OpenclC;
}

/// Whether it is compiled for the device from OpenCL C, so that the device's macros matter.
inline bool isSource(ProgramKind kind) {
  return kind == ProgramKind::OpenclC || kind == ProgramKind::Linked;
}

} // namespace libsplit
