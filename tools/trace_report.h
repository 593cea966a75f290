// A trace as one page of HTML that needs nothing else: no network, no other file. Charts are drawn
// by D3 (https://d3js.org, BSD licence), which is part of the page.
//
// The page is tools/report/page.html; its script, page.js, reads the data as one JSON object:
//
//   program, sentence, notes, advice: texts
//   rows:     the timeline from top to bottom, each with its label, its kind (0 kernels, 1 copies
//   in,
//             2 copies out, 3 other commands, 4 calls) and spans that don't overlap:
//             [begin, end, name, index of the call, or -1, details, how many it stands for]
//   devices, kernels: rows of tables; launches: by kernel, shares by device and idle part
//   nodes, matrix: bytes from the row's memory to the column's
//   buffers:  the largest, with [time, bytes that are valid by node] for each change; `left`: of so
//             many changes one is there
//   graphs:   launches, with all that each issued: [number, device, kind, name, begin, end,
//   details,
//             numbers of what had to be over before]; `left`: so many more
//
// Times are in microseconds.
#pragma once

#include "tools/trace_reader.h"
#include "tools/trace_summary.h"

#include <cstddef>
#include <string>

namespace libsplit::tools {

/// At most `maxSpans` spans are drawn, plus one for each row; where there are more, those that are
/// short and follow each other closely are drawn as one, and the page says so.
std::string reportPage(const TraceContents& contents, const TraceSummary& summary,
                       std::size_t maxSpans = 40'000);

/// What libsplit gained on this run, by what was measured; a sentence or two. By the model:
/// gainByModel.
std::string gainSentence(const TraceSummary& summary);

} // namespace libsplit::tools
