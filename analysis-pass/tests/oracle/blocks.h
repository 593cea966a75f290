// Blocks of the code that libraries are made of, as templates (template_text.h).
#pragma once

#include <span>

namespace libsplit::oracle {

/// What a block is about where no other launch would tell.
enum class BlockKind {
  Plain,
  /// Its work-groups race by what they do, or it depends on order in ways that make libsplit run it
  /// unsplit: work-groups in order give one result.
  InOrder,
  /// Looks at ids of any size, in buffers of ordinary sizes.
  Huge,
};

struct Block {
  const char* name;
  unsigned standard;   ///< of OpenCL C, at least: 120, 200
  unsigned dimensions; ///< of its NDRange; 0: any
  unsigned local[3];   ///< 0: any
  /// As OpenCL C has them; before a buffer may stand what it holds: `@rising:6 global const int*
  /// row`.
  const char* parameters;
  const char* body;
  BlockKind kind = BlockKind::Plain;
};

std::span<const Block> blocks();

/// The header that all blocks of a program include, and one that this header includes.
extern const char* const sharedHeader;
extern const char* const innerHeader;

} // namespace libsplit::oracle
