// The numbers by which whoever reads the events of a trace tells what is where in them.
#pragma once

namespace libsplit::runtime {

struct TraceLayout {
  /// Of what trace.schema.json says; an event names it. Version 2 also says what libsplit knew when
  /// it decided: devices, kernels, launches, buffers and who holds them, what waited for what.
  /// Traces that name no version are of version 1. Version 3 is no text (trace_format.h), and says
  /// the same as version 2.
  static constexpr int version = 2;

  static constexpr int application = 1; ///< process number; device i is `firstDevice + i`
  static constexpr int firstDevice = 2;

  /// What a track of a device holds.
  enum class Track { Kernels, TransfersIn, TransfersOut, Commands };
  static constexpr int tracks = 4;

  /// Thread number of a device's track; more tracks of a kind stand `beside` its first.
  static constexpr int threadOf(Track track, int beside) {
    return 1 + static_cast<int>(track) + tracks * beside;
  }
  /// `thread` is at least 1.
  static constexpr Track trackOf(int thread) { return static_cast<Track>((thread - 1) % tracks); }
};

} // namespace libsplit::runtime
