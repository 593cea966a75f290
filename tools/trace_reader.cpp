#include "tools/trace_reader.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace libsplit::tools {

namespace {

using Json = nlohmann::ordered_json;
using Layout = runtime::TraceLayout;

constexpr std::string_view idlePrefix = "imbalance of ", sharesPrefix = "shares of ",
                           holdingPrefix = "bytes of buffer ";

std::vector<TraceUse> usesOf(const Json& arguments) {
  std::vector<TraceUse> uses;
  for (const Json& use : arguments.value("uses", Json::array()))
    uses.push_back({use.at(0), use.at(1), use.at(2), use.at(3) != 0});
  return uses;
}

std::vector<std::byte> bytesOf(const std::string& hexadecimal) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoul(hexadecimal.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::array<std::uint64_t, 3> sizesOf(const Json& numbers, std::uint64_t others) {
  if (numbers.empty() || numbers.size() > 3)
    throw TraceError("an NDRange has 1 to 3 dimensions");
  std::array<std::uint64_t, 3> sizes{others, others, others};
  for (std::size_t d = 0; d < numbers.size(); ++d)
    sizes[d] = numbers.at(d);
  return sizes;
}

TraceLaunch launchOf(const Json& arguments) {
  TraceLaunch launch;
  launch.code = arguments.at("code");
  launch.range = arguments.at("range");
  launch.classes = arguments.at("classes");
  launch.ndrange = {static_cast<unsigned>(arguments.at("global").size()),
                    sizesOf(arguments.at("offset"), 0), sizesOf(arguments.at("global"), 1),
                    sizesOf(arguments.at("local"), 1)};
  for (const std::uint64_t local : launch.ndrange.local)
    if (local == 0)
      throw TraceError("a work-group has no work-items");
  for (const Json& value : arguments.at("values"))
    launch.values.push_back(bytesOf(value));
  for (const Json& buffer : arguments.at("buffers"))
    launch.buffers.push_back({buffer.at(0), buffer.at(1), buffer.at(2), buffer.at(3)});
  return launch;
}

/// Of versions 1 and 2 it reads line by line: each event stands on one of its own.
class Reader {
public:
  TraceContents read(std::istream& trace) {
    if (isCompactTrace(trace.peek()))
      contents_.cutAt = decodeTrace(trace, [this](const Json& event) { add(event); });
    else
      readLines(trace);
    // A call may stand behind what it caused: bytes that are sent ahead of the launch.
    for (const auto& [place, work] : caused_)
      if (auto call = calls_.find(place); call != calls_.end())
        contents_.calls[call->second].works.push_back(work);
    findIdleStarts();
    return std::move(contents_);
  }

private:
  [[noreturn]] void fail(std::uint64_t byte, const std::string& what) const {
    throw TraceError("byte " + std::to_string(byte) + " (line " + std::to_string(number_) +
                     "): " + what);
  }

  void readLines(std::istream& trace) {
    std::string line;
    bool isFirst = true;
    while (std::getline(trace, line)) {
      ++number_;
      const std::uint64_t begin = begin_;
      begin_ += line.size() + !trace.eof();
      // Only the last line may be cut short.
      if (contents_.cutAt) {
        --number_;
        fail(*contents_.cutAt, "this is no event of a trace");
      }
      while (!line.empty() && (line.back() == ',' || line.back() == '\r'))
        line.pop_back();
      if (line.empty() || line == "[" || line == "]")
        continue;
      readEvent(line, begin);
      if (contents_.cutAt && isFirst)
        fail(*contents_.cutAt, "this is no trace");
      isFirst = false;
    }
    if (number_ == 0)
      throw TraceError("this is no trace: the file is empty");
  }

  void readEvent(const std::string& line, std::uint64_t begin) {
    Json event;
    try {
      event = Json::parse(line);
    } catch (const Json::parse_error& error) {
      contents_.cutAt = begin + (error.byte > 0 ? error.byte - 1 : 0);
      return;
    }
    try {
      add(event);
    } catch (const Json::exception& error) {
      fail(begin, std::string("this is no event of a trace: ") + error.what());
    } catch (const TraceError& error) {
      fail(begin, error.what());
    } catch (const std::logic_error&) { // text that is no number
      fail(begin, "this is no event of a trace");
    }
  }

  void findIdleStarts() {
    std::vector<TraceWork*> works;
    for (TraceWork& work : contents_.works)
      works.push_back(&work);
    std::sort(works.begin(), works.end(),
              [](const TraceWork* a, const TraceWork* b) { return a->begin < b->begin; });
    std::map<std::size_t, double> ends; // of earlier work, by device
    for (TraceWork* work : works) {
      double& end = ends[work->device];
      const double enqueued = work->begin - work->arguments.value("enqueued_us_before", 0.0);
      work->idleBefore = std::max(0.0, work->begin - std::max(enqueued, end));
      end = std::max(end, work->end);
    }
  }

  using Place = std::tuple<int, int, double>;

  void add(const Json& event) {
    const std::string phase = event.at("ph");
    const int process = event.at("pid");
    const std::string name = event.at("name");
    const Json arguments = event.value("args", Json::object());
    if (!arguments.is_object())
      throw TraceError("its arguments are no object");
    if (phase == "M") {
      describe(process, name, arguments);
      return;
    }
    const double at = event.at("ts");
    const Place place{process, event.at("tid"), at};
    if (phase == "X" && process == Layout::application) {
      calls_[place] = contents_.calls.size();
      contents_.calls.push_back({name,
                                 arguments.value("kernel", ""),
                                 {},
                                 std::get<1>(place),
                                 at,
                                 at + event.at("dur").get<double>(),
                                 arguments.value("launch", std::uint64_t{0}),
                                 usesOf(arguments)});
    } else if (phase == "X") {
      works_[place] = contents_.works.size();
      contents_.works.push_back({deviceOf(process), trackOf(std::get<1>(place)), name, at,
                                 at + event.at("dur").get<double>(), arguments,
                                 std::get<1>(place)});
    } else if (phase == "s") {
      origins_[event.at("id")] = place;
    } else if (phase == "f") {
      const auto origin = origins_.extract(event.at("id").get<std::uint64_t>());
      if (origin.empty())
        throw TraceError("an arrow has no beginning");
      if (auto work = works_.find(place); work != works_.end())
        caused_.emplace_back(origin.mapped(), work->second);
    } else if (phase == "C" && name.starts_with(idlePrefix)) {
      const std::string kernel = name.substr(idlePrefix.size());
      contents_.idle[kernel].push_back(arguments.at("idle"));
      if (!contents_.shares.empty() && contents_.shares.back().kernel == kernel)
        contents_.shares.back().idle = arguments.at("idle");
    } else if (phase == "C" && name.starts_with(sharesPrefix)) {
      TraceShares& shares =
          contents_.shares.emplace_back(TraceShares{name.substr(sharesPrefix.size()), at, {}, 0});
      for (const auto& [device, share] : arguments.items())
        shares.shares.emplace_back(device, share.get<double>());
    } else if (phase == "C" && name.starts_with(holdingPrefix)) {
      TraceHolding& holding = contents_.holdings.emplace_back(
          TraceHolding{std::stoull(name.substr(holdingPrefix.size())), at, {}});
      for (const auto& [node, bytes] : arguments.items())
        holding.bytes.emplace_back(node, bytes.get<std::uint64_t>());
    } else if (phase == "i" && arguments.contains("uses")) {
      contents_.nativeWrites.push_back({at, usesOf(arguments)});
    } else if (phase == "i" && arguments.contains("native")) {
      contents_.natives.push_back({name, arguments.at("native"), at});
    } else if (phase == "i" && arguments.contains("dropped")) {
      contents_.dropped = arguments.at("dropped");
    }
  }

  void describe(int process, const std::string& name, const Json& arguments) {
    if (name == "process_name") {
      nameProcess(process, arguments.at("name"));
    } else if (name == "libsplit_trace") {
      contents_.version = arguments.at("version");
      if (contents_.version > Layout::version)
        throw TraceError("version " + arguments.at("version").dump() +
                         " of the format is newer than this splittrace");
    } else if (name == "libsplit_options") {
      contents_.minLaunchSeconds = arguments.at("min_launch_us").get<double>() * 1e-6;
    } else if (name == "libsplit_device") {
      const std::size_t device = deviceOf(process);
      contents_.known.resize(std::max(contents_.known.size(), device + 1));
      contents_.known[device] = {arguments.at("label"),
                                 arguments.at("node"),
                                 arguments.at("gpu") != 0,
                                 arguments.at("home") != 0,
                                 arguments.at("participates") != 0,
                                 arguments.at("compute_units"),
                                 arguments.at("megahertz")};
    } else if (name == "libsplit_buffer") {
      contents_.buffers[arguments.at("buffer")] = arguments.at("size");
    } else if (name == "libsplit_kernel") {
      TraceKernel& kernel = contents_.kernels[arguments.at("code")];
      kernel.name = arguments.at("kernel");
      for (const std::size_t device : arguments.at("devices")) {
        deviceOf(Layout::firstDevice + static_cast<int>(std::min<std::size_t>(device, 1 << 16)));
        kernel.summaries.resize(std::max(kernel.summaries.size(), device + 1));
        kernel.summaries[device] = arguments.at("summary");
      }
    } else if (name == "libsplit_launch") {
      contents_.launches[arguments.at("launch")] = launchOf(arguments);
    }
  }

  static std::size_t deviceOf(int process) {
    if (process < Layout::firstDevice || process > Layout::firstDevice + 4096)
      throw TraceError("there is work on process " + std::to_string(process));
    return static_cast<std::size_t>(process - Layout::firstDevice);
  }

  static TraceWork::Track trackOf(int thread) {
    if (thread < 1)
      throw TraceError("there is work on thread " + std::to_string(thread) + " of a device");
    return Layout::trackOf(thread);
  }

  void nameProcess(int process, const std::string& name) {
    if (process == Layout::application) {
      contents_.program = name;
      return;
    }
    const std::size_t device = deviceOf(process);
    contents_.devices.resize(std::max(contents_.devices.size(), device + 1));
    contents_.devices[device] = name;
  }

  TraceContents contents_;
  std::map<Place, std::size_t> calls_, works_;
  std::map<std::uint64_t, Place> origins_;
  std::vector<std::pair<Place, std::size_t>> caused_; ///< the call's place, and the work
  std::uint64_t begin_ = 0;                           ///< of the line to come, in bytes
  std::uint64_t number_ = 0;                          ///< of the line last read
};

} // namespace

TraceContents readTrace(std::istream& trace) {
  return Reader().read(trace);
}

} // namespace libsplit::tools
