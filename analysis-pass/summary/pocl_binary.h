// What PoCL gives for CL_PROGRAM_BINARIES. It is a folder of files: LLVM's bitcode of the program,
// and machine code of the kernels that were launched.
//
// Little-endian, without padding (PoCL's lib/CL/pocl_binary.c, version 9, which is PoCL 3's):
//
//     8 bytes   "poclbin" and a null
//     u64       hash of the device
//     u32       version of the format
//     u32       number of kernels
//     u64       flags: 1 denormals are flushed to zero
//     u32       number of entries of the program's own
//     41 bytes  hash of the program, as text
//     u64       bytes of the program's files, each of which is
//       u32, then that many bytes: its name, such as "/program.bc"
//       u32, then that many bytes: what it holds
//     the kernels
#pragma once

#include <optional>
#include <string_view>

namespace libsplit {

inline constexpr std::string_view poclBinaryMagic{"poclbin\0", 8};

struct PoclBinary {
  std::string_view bitcode; ///< in the binary's own bytes
  bool flushesDenormals = false;
};

/// Nothing if it is of another version, whose IR nobody has looked at, holds no bitcode, or is
/// damaged where it would be. Takes any bytes.
std::optional<PoclBinary> readPoclBinary(std::string_view binary);

} // namespace libsplit
