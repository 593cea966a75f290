#include "tools/trace_decoder.h"

#include "runtime/trace/trace_format.h"
#include "runtime/trace/trace_layout.h"
#include "tools/busy_time.h"
#include "tools/device_tracks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace libsplit::tools {

namespace {

namespace record = runtime::record;
using Json = nlohmann::ordered_json;
using Layout = runtime::TraceLayout;

/// More than any machine has. What a damaged file says is not made room for.
constexpr std::uint32_t mostDevices = 4096;

/// The parts of a record, in order.
class Parts {
public:
  explicit Parts(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename Part> Part take() {
    Part part;
    std::memcpy(&part, take(sizeof part).data(), sizeof part);
    return part;
  }
  template <typename Part> std::vector<Part> takeAll(std::uint64_t count) {
    if (count > rest_.size() / sizeof(Part))
      tooShort();
    std::vector<Part> parts(count);
    const auto bytes = take(count * sizeof(Part));
    if (!bytes.empty())
      std::memcpy(parts.data(), bytes.data(), bytes.size());
    return parts;
  }
  /// Filled up.
  std::string takeText(std::uint64_t length) {
    if (length > rest_.size())
      tooShort();
    const auto bytes = take(record::padded(length)).first(length);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  void requireEnd() const {
    if (!rest_.empty())
      throw TraceError("the record is longer than what it holds");
  }

private:
  [[noreturn]] static void tooShort() {
    throw TraceError("the record is shorter than what it holds");
  }
  std::span<const std::byte> take(std::size_t size) {
    if (size > rest_.size())
      tooShort();
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }

  std::span<const std::byte> rest_;
};

HostTime checked(HostTime time) {
  if (time <= -farAway || time >= farAway)
    throw TraceError("it has a time that none can be");
  return time;
}

class Decoder {
public:
  Decoder(std::istream& trace, const std::function<void(const Json&)>& use)
      : trace_(trace), use_(use) {}

  std::optional<std::uint64_t> decode() {
    readHead();
    std::vector<std::byte> bytes(sizeof(record::Head));
    for (std::uint64_t begin = sizeof(record::FileHead);; begin += bytes.size(), ++number_) {
      bytes.resize(sizeof(record::Head));
      if (const std::size_t got = read(bytes); got < bytes.size())
        return got == 0 ? std::nullopt : std::optional(begin);
      record::Head head;
      std::memcpy(&head, bytes.data(), sizeof head);
      try {
        const std::size_t fixed = fixedSize(head.kind);
        if (head.size < fixed || head.size % 8 != 0 || (head.size > fixed && !mayBeLonger(head)))
          throw TraceError("no such record can have " + std::to_string(head.size) + " bytes");
        if (!readRest(bytes, head.size))
          return begin;
        add(head.kind, Parts(bytes));
      } catch (const TraceError& error) {
        fail(begin, error.what());
      } catch (const Json::exception& error) {
        fail(begin, error.what());
      }
    }
  }

private:
  [[noreturn]] void fail(std::uint64_t byte, const std::string& what) const {
    throw TraceError("byte " + std::to_string(byte) + " (record " + std::to_string(number_) +
                     "): " + what);
  }

  std::size_t read(std::span<std::byte> bytes) {
    trace_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return static_cast<std::size_t>(trace_.gcount());
  }

  /// Behind the head. False if the file ends before. What a record says of its size takes no memory
  /// before it is there.
  bool readRest(std::vector<std::byte>& bytes, std::size_t size) {
    constexpr std::size_t step = 1 << 20;
    while (bytes.size() < size) {
      const std::size_t had = bytes.size();
      bytes.resize(std::min(size, had + step));
      if (read(std::span(bytes).subspan(had)) < bytes.size() - had)
        return false;
    }
    return true;
  }

  void readHead() {
    record::FileHead head;
    const std::size_t got = read(std::as_writable_bytes(std::span(&head, 1)));
    if (got < sizeof head || head.magic != record::magic)
      throw TraceError("byte 0: this is no trace");
    if (head.byteOrder != record::ownByteOrder)
      throw TraceError("byte 12: this trace was written on a machine with another byte order");
    if (head.version > record::version)
      throw TraceError("byte 8: version " + std::to_string(head.version) +
                       " of the format is newer than this splittrace");
    if (head.version < record::version)
      throw TraceError("byte 8: no version " + std::to_string(head.version) +
                       " of the format looks so");
    if (head.origin <= -farAway || head.origin >= farAway)
      throw TraceError("byte 16: no time can be " + std::to_string(head.origin));
    origin_ = head.origin;
    metadata(Layout::application, "libsplit_trace", {{"version", Layout::version}});
  }

  static std::size_t fixedSize(record::Kind kind) {
    switch (kind) {
    case record::Kind::Text:
      return sizeof(record::Text);
    case record::Kind::Program:
      return sizeof(record::Program);
    case record::Kind::Options:
      return sizeof(record::Options);
    case record::Kind::Device:
      return sizeof(record::Device);
    case record::Kind::Buffer:
      return sizeof(record::Buffer);
    case record::Kind::Kernel:
      return sizeof(record::Kernel);
    case record::Kind::Launch:
      return sizeof(record::Launch);
    case record::Kind::Native:
      return sizeof(record::Native);
    case record::Kind::NativeWrite:
      return sizeof(record::NativeWrite);
    case record::Kind::Task:
      return sizeof(record::Task);
    case record::Kind::Dropped:
      return sizeof(record::Dropped);
    }
    throw TraceError("there is no record of kind " +
                     std::to_string(static_cast<std::uint32_t>(kind)));
  }

  static bool mayBeLonger(const record::Head& head) {
    return head.kind == record::Kind::Text || head.kind == record::Kind::Kernel ||
           head.kind == record::Kind::Launch || head.kind == record::Kind::Task;
  }

  void add(record::Kind kind, Parts parts) {
    switch (kind) {
    case record::Kind::Text:
      return addText(parts);
    case record::Kind::Program:
      return addProgram(parts.take<record::Program>());
    case record::Kind::Options:
      return metadata(Layout::application, "libsplit_options",
                      {{"min_launch_us", parts.take<record::Options>().minLaunchSeconds * 1e6}});
    case record::Kind::Device:
      return addDevice(parts.take<record::Device>());
    case record::Kind::Buffer: {
      const auto buffer = parts.take<record::Buffer>();
      return metadata(Layout::application, "libsplit_buffer",
                      {{"buffer", buffer.number}, {"size", buffer.size}});
    }
    case record::Kind::Kernel:
      return addKernel(parts);
    case record::Kind::Launch:
      return addLaunch(parts);
    case record::Kind::Native: {
      const auto native = parts.take<record::Native>();
      return instant(native.thread, text(native.kernel), native.at,
                     {{"native", text(native.reason)}});
    }
    case record::Kind::NativeWrite: {
      const auto write = parts.take<record::NativeWrite>();
      return instant(write.thread, "native write", write.at,
                     {{"uses", Json::array({asJson(write.use)})}});
    }
    case record::Kind::Task:
      return addTask(parts);
    case record::Kind::Dropped: {
      const auto dropped = parts.take<record::Dropped>();
      return instant(0, std::to_string(dropped.count) + " events were dropped", dropped.at,
                     {{"dropped", dropped.count}});
    }
    }
  }

  void addText(Parts& parts) {
    const auto fixed = parts.take<record::Text>();
    if (fixed.number != texts_.size() + 1)
      throw TraceError("text " + std::to_string(fixed.number) + " is not the next one");
    texts_.push_back(parts.takeText(fixed.length));
    parts.requireEnd();
  }

  /// Empty: there was no room for it.
  std::string text(std::uint32_t number) const {
    if (number > texts_.size())
      throw TraceError("there is no text " + std::to_string(number));
    return number == 0 ? std::string() : texts_[number - 1];
  }

  void addProgram(const record::Program& program) {
    nameProcess(Layout::application,
                text(program.name) + " (" + std::to_string(program.process) + ")");
  }

  void addDevice(const record::Device& device) {
    if (device.number != devices_.size() || device.number >= mostDevices)
      throw TraceError("device " + std::to_string(device.number) + " is not the next one");
    const std::string label = text(device.label);
    devices_.push_back({label, device.node, {}});
    const int process = Layout::firstDevice + static_cast<int>(device.number);
    nameProcess(process, label + " " + text(device.name) + (device.isHome ? ", home" : ""));
    metadata(process, "libsplit_device",
             {{"label", label},
              {"node", device.node},
              {"gpu", device.isGpu},
              {"home", device.isHome},
              {"participates", device.participates},
              {"compute_units", device.computeUnits},
              {"megahertz", device.megahertz}});
  }

  void addKernel(Parts& parts) {
    const auto kernel = parts.take<record::Kernel>();
    const std::string summary = parts.takeText(kernel.summaryLength);
    const auto devices = parts.takeAll<std::uint64_t>(kernel.devices);
    parts.requireEnd();
    metadata(Layout::application, "libsplit_kernel",
             {{"code", kernel.code},
              {"kernel", text(kernel.name)},
              {"devices", devices},
              {"summary", summary}});
  }

  void addLaunch(Parts& parts) {
    const auto launch = parts.take<record::Launch>();
    if (launch.dimensions < 1 || launch.dimensions > 3)
      throw TraceError("an NDRange has 1 to 3 dimensions");
    const auto offset = parts.takeAll<std::uint64_t>(launch.dimensions);
    const auto global = parts.takeAll<std::uint64_t>(launch.dimensions);
    const auto local = parts.takeAll<std::uint64_t>(launch.dimensions);
    const auto lengths = parts.takeAll<std::uint64_t>(launch.parameters);
    const std::string bytes = parts.takeText(launch.valueBytes);
    Json values = Json::array();
    std::string_view rest = bytes;
    for (const std::uint64_t length : lengths) {
      if (length > rest.size())
        throw TraceError("a launch has fewer bytes of values than it says");
      std::string& digits = values.emplace_back("").get_ref<std::string&>();
      for (const char byte : rest.substr(0, length)) {
        const auto number = static_cast<unsigned char>(byte);
        digits += {"0123456789abcdef"[number / 16], "0123456789abcdef"[number % 16]};
      }
      rest.remove_prefix(length);
    }
    Json buffers = Json::array();
    for (const auto& each : parts.takeAll<record::LaunchBuffer>(launch.buffers))
      buffers.push_back(Json::array({each.parameter, each.buffer, each.origin, each.size}));
    parts.requireEnd();
    metadata(Layout::application, "libsplit_launch",
             {{"launch", launch.number},
              {"code", launch.code},
              {"range", text(launch.range)},
              {"classes", text(launch.classes)},
              {"offset", offset},
              {"global", global},
              {"local", local},
              {"values", values},
              {"buffers", buffers}});
  }

  /// A task's own part of the balance of a launch.
  struct Balance {
    bool isSplit = false; ///< it has pieces
    std::string kernel;
    std::uint64_t allGroups = 0;
    std::vector<double> groups; ///< by device
    std::vector<BusyTime> busy; ///< by device, in nanoseconds
    HostTime begin = 0;         ///< of the first work
  };

  void addTask(Parts& parts) {
    const auto task = parts.take<record::Task>();
    const auto uses = parts.takeAll<record::Use>(task.uses);
    if (!task.isAhead) {
      Json arguments = Json::object();
      if (task.kernel != 0)
        arguments["kernel"] = text(task.kernel);
      if (task.launch != 0 && task.kernel != 0)
        arguments["launch"] = task.launch;
      for (const record::Use& use : uses)
        arguments["uses"].push_back(asJson(use));
      slice(Layout::application, static_cast<int>(task.thread), text(task.name), task.begin,
            task.end, std::move(arguments));
    }
    Balance balance;
    balance.groups.resize(devices_.size());
    balance.busy.resize(devices_.size());
    balance.begin = task.retired;
    for (std::uint32_t i = 0; i < task.works; ++i)
      addWork(task, parts, balance);
    if (!task.isAhead && balance.isSplit)
      tell(balance);
    addHoldings(task, parts);
    parts.requireEnd();
  }

  void addWork(const record::Task& task, Parts& parts, Balance& balance) {
    const auto work = parts.take<record::Work>();
    const auto dependencies = parts.takeAll<std::uint64_t>(work.dependencies);
    if (work.device >= devices_.size())
      throw TraceError("there is no device " + std::to_string(work.device));
    if (work.track >= Layout::tracks)
      throw TraceError("there is no track " + std::to_string(work.track));
    const auto track = static_cast<Layout::Track>(work.track);
    DeviceState& device = devices_[work.device];
    // Without times of the device: between the enqueuing and when its end was noticed.
    HostTime begin = checked(work.before), end = checked(task.retired);
    if (work.overOnReturn)
      end = checked(work.after);
    HostTime uncertainty = task.retired - begin;
    if (work.queued != 0 && work.queued <= work.start && work.start <= work.end) {
      auto ofDevice = [](std::uint64_t time) { return checked(static_cast<HostTime>(time)); };
      device.clock.observe(ofDevice(work.queued), work.before, checked(work.after));
      begin = checked(device.clock.toHost(ofDevice(work.start)));
      end = checked(begin + (ofDevice(work.end) - ofDevice(work.start)));
      uncertainty = device.clock.uncertainty();
    }
    const int process = Layout::firstDevice + static_cast<int>(work.device);
    const auto place = tracks_.place(work.device, track, begin, end, uncertainty);
    if (place.isNew)
      nameThread(process, place, track);
    Json arguments = argumentsOf(work, track, text(task.reason));
    arguments["work"] = work.number;
    callOf_[work.number] = task.call;
    std::vector<std::uint64_t> after;
    for (const std::uint64_t before : dependencies)
      if (const auto found = callOf_.find(before); found != callOf_.end() &&
                                                   found->second == task.call &&
                                                   std::ranges::find(after, before) == after.end())
        after.push_back(before);
    if (!after.empty())
      arguments["after"] = after;
    arguments["enqueued_us_before"] =
        static_cast<double>(std::max<HostTime>(begin - work.before, 0)) * 1e-3;
    slice(process, place.thread, text(work.name), begin, end, std::move(arguments));
    arrow(task, process, place.thread, begin);
    balance.begin = std::min(balance.begin, begin);
    if (work.end > work.start)
      balance.busy[work.device].add(static_cast<double>(work.start), static_cast<double>(work.end));
    if (track == Layout::Track::Kernels && work.groups > 0) {
      balance.isSplit = true;
      balance.kernel = text(work.name);
      balance.allGroups = work.groups;
      balance.groups[work.device] += static_cast<double>(work.second - work.first);
    }
  }

  static Json argumentsOf(const record::Work& work, Layout::Track track,
                          const std::string& reason) {
    Json arguments = Json::object();
    if (track == Layout::Track::Kernels && work.groups > 0) {
      arguments["groups"] = work.second - work.first;
      arguments["first_group"] = work.first;
      arguments["all_groups"] = work.groups;
      arguments["dimension"] = work.dimension;
      if (!reason.empty())
        arguments["unsplit"] = reason;
    } else if (track == Layout::Track::Kernels) {
      arguments["unsplit"] = reason;
    } else if (track != Layout::Track::Commands) {
      arguments["bytes"] = work.second;
      if (work.first != 0)
        arguments["buffer"] = work.first;
      if (work.uncounted != static_cast<std::uint8_t>(record::Uncounted::No))
        arguments[work.uncounted == static_cast<std::uint8_t>(record::Uncounted::Home)
                      ? "home"
                      : "stopover"] = 1;
    }
    return arguments;
  }

  void tell(const Balance& balance) {
    Json shares = Json::object();
    double slowest = 0, sum = 0, busy = 0;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      shares[devices_[i].label] =
          std::min(balance.groups[i] / static_cast<double>(balance.allGroups), 1.0);
      slowest = std::max(slowest, balance.busy[i].length());
      sum += balance.groups[i] > 0 ? balance.busy[i].length() : 0;
      busy += balance.groups[i] > 0;
    }
    counter("shares of " + balance.kernel, balance.begin, std::move(shares));
    // The part of the devices' time that is lost by waiting for the slowest: 0 if all end together.
    if (slowest > 0)
      counter("imbalance of " + balance.kernel, balance.begin,
              {{"idle", 1 - sum / (busy * slowest)}});
  }

  /// Of each buffer the last that the task tells.
  void addHoldings(const record::Task& task, Parts& parts) {
    std::vector<std::pair<std::uint64_t, std::vector<std::uint64_t>>> holdings;
    for (std::uint32_t i = 0; i < task.holdings; ++i) {
      const auto fixed = parts.take<record::Holding>();
      auto bytes = parts.takeAll<std::uint64_t>(fixed.nodes);
      const auto earlier =
          std::ranges::find_if(holdings, [&](auto& each) { return each.first == fixed.buffer; });
      if (earlier != holdings.end())
        earlier->second = std::move(bytes);
      else
        holdings.emplace_back(fixed.buffer, std::move(bytes));
    }
    for (const auto& [buffer, bytes] : holdings) {
      Json held = Json::object();
      for (std::size_t node = 0; node < bytes.size(); ++node) {
        const auto device = std::ranges::find(devices_, node, &DeviceState::node);
        if (node == 0 || device != devices_.end())
          held[node == 0 ? "host" : device->label] = bytes[node];
      }
      counter("bytes of buffer " + std::to_string(buffer), task.retired, std::move(held));
    }
  }

  // Events.

  static Json asJson(const record::Use& use) {
    return Json::array({use.buffer, use.begin, use.end, use.writes});
  }

  double microseconds(HostTime at) const {
    return static_cast<double>(std::max<HostTime>(checked(at) - origin_, 0)) / 1e3;
  }

  void metadata(int process, const char* name, Json arguments, int thread = 0) {
    use_({{"ph", "M"},
          {"pid", process},
          {"tid", thread},
          {"name", name},
          {"args", std::move(arguments)}});
  }

  void nameProcess(int process, const std::string& name) {
    metadata(process, "process_name", {{"name", name}});
    metadata(process, "process_sort_index", {{"sort_index", process}});
  }

  void nameThread(int process, const DeviceTracks::Place& place, Layout::Track track) {
    static constexpr std::array<const char*, Layout::tracks> names{
        "kernels", "transfers to it", "transfers from it", "other commands"};
    std::string name = names[static_cast<std::size_t>(track)];
    if (place.beside > 0)
      name += " (" + std::to_string(place.beside + 1) + ")";
    metadata(process, "thread_name", {{"name", name}}, place.thread);
    metadata(process, "thread_sort_index", {{"sort_index", place.thread}}, place.thread);
  }

  void slice(int process, int thread, const std::string& name, HostTime begin, HostTime end,
             Json arguments) {
    Json event{{"ph", "X"},
               {"pid", process},
               {"tid", thread},
               {"ts", microseconds(begin)},
               {"dur", static_cast<double>(std::max<HostTime>(end - begin, 0)) / 1e3},
               {"name", name}};
    if (!arguments.empty())
      event["args"] = std::move(arguments);
    use_(event);
  }

  void instant(std::uint64_t thread, const std::string& name, HostTime at, Json arguments) {
    use_({{"ph", "i"},
          {"pid", Layout::application},
          {"tid", thread},
          {"ts", microseconds(at)},
          {"s", "t"},
          {"name", name},
          {"args", std::move(arguments)}});
  }

  void counter(const std::string& name, HostTime at, Json values) {
    use_({{"ph", "C"},
          {"pid", Layout::application},
          {"tid", 0},
          {"ts", microseconds(at)},
          {"name", name},
          {"args", std::move(values)}});
  }

  /// From the call to the beginning of what it caused.
  void arrow(const record::Task& task, int process, int thread, HostTime begin) {
    const std::uint64_t id = ++arrows_;
    use_({{"ph", "s"},
          {"pid", Layout::application},
          {"tid", task.thread},
          {"ts", microseconds(task.begin)},
          {"cat", "call"},
          {"id", id},
          {"name", "caused"}});
    use_({{"ph", "f"},
          {"pid", process},
          {"tid", thread},
          {"ts", microseconds(begin)},
          {"cat", "call"},
          {"id", id},
          {"bp", "e"},
          {"name", "caused"}});
  }

  struct DeviceState {
    std::string label;
    std::size_t node = 0;
    DeviceClock clock;
  };

  std::istream& trace_;
  const std::function<void(const Json&)>& use_;
  std::uint64_t number_ = 1; ///< of the record to come
  HostTime origin_ = 0;
  std::vector<std::string> texts_;
  std::vector<DeviceState> devices_;
  DeviceTracks tracks_;
  std::unordered_map<std::uint64_t, std::uint64_t> callOf_; ///< by work
  std::uint64_t arrows_ = 0;
};

} // namespace

bool isCompactTrace(int firstByte) {
  return firstByte == static_cast<unsigned char>(record::magic.front());
}

std::optional<std::uint64_t> decodeTrace(std::istream& trace,
                                         const std::function<void(const Json&)>& use) {
  return Decoder(trace, use).decode();
}

} // namespace libsplit::tools
