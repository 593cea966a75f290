// Random kernels as text, in programs of `kernelsPerProgram` seeds that follow each other. Three
// kinds of programs take turns:
//
// - Statements: nested loops, guards, div and mod, casts, helper functions, structs, vectors,
// pointers
//   that are chosen or walk, local memory and barriers. All have the same parameters. Half of them
//   write anywhere; the others write so that no two work-items meet, in one of many spellings.
// - Blocks of library code (blocks.h) in OpenCL C 1.2, with a shared header, often with one index,
//   condition or number changed.
// - The same in OpenCL C 2.0: also work-group and sub-group functions, generic pointers,
// program-scope
//   variables, smaller last work-groups.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace libsplit::oracle {

inline constexpr unsigned kernelsPerProgram = 20;

struct GeneratedParameter {
  enum class Kind { Buffer, Number, Local };
  Kind kind = Kind::Buffer;
  std::string type; ///< of a number, or of a buffer's elements
  std::string name;
  bool isConst = false; ///< a buffer that the kernel does not write
  /// Of a buffer, as the corpus's driver knows it: "ramp", "below:256"; empty: anything.
  std::string contents;
};

struct GeneratedKernel {
  std::string name;  ///< k<seed>
  std::string block; ///< which it is made of; "statements"
  std::string text;
  std::vector<GeneratedParameter> parameters;
  unsigned dimensions = 0;         ///< of its NDRange; 0: any
  std::array<unsigned, 3> local{}; ///< work-items; 0: any
  bool mayBeUneven = false;        ///< the last work-group may be smaller
  bool hasSmallLaunches = false;   ///< at most 24 x 16 work-items in two dimensions
  /// Depends on the order of work-groups such that it is not split.
  bool inOrder = false;
  bool huge = false;       ///< may be asked about NDRanges of any size
  unsigned bufferSize = 0; ///< bytes, of every buffer
};

/// What the kernels of a program share.
struct GeneratedProgram {
  std::string prelude;  ///< types, tables, helper functions
  std::string standard; ///< "CL2.0", or empty
  struct Header {
    std::string name, text;
  };
  std::vector<Header> headers; ///< found by -I
};

/// The same for the same number, everywhere.
GeneratedProgram generatedProgram(unsigned seed); ///< to which `seed` belongs
GeneratedKernel generatedKernel(unsigned seed);

} // namespace libsplit::oracle
