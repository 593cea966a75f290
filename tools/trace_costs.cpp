#include "tools/trace_costs.h"

#include "tools/busy_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libsplit::tools {

namespace {

using Track = TraceWork::Track;

double secondsOf(const TraceWork& work) {
  return (work.end - work.begin) * 1e-6;
}

bool moves(const TraceWork& work) {
  return work.track == Track::TransfersIn || work.track == Track::TransfersOut;
}

std::size_t homeOf(const TraceContents& contents) {
  const auto home = std::ranges::find(contents.known, true, &TraceDevice::isHome);
  return static_cast<std::size_t>(home - contents.known.begin());
}

/// Seconds against bytes, as a line. Each copy counts by how far it is off relatively: short ones
/// tell what beginning takes, long ones the rate.
TraceCosts::Link linkOf(const std::vector<std::pair<double, double>>& copies) {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  double bytes = 0, seconds = 0;
  for (const auto& [b, s] : copies) {
    if (!(b > 0) || !(s > 0))
      continue;
    const double weight = 1 / (s * s);
    w += weight;
    x += weight * b;
    y += weight * s;
    xx += weight * b * b;
    xy += weight * b * s;
    bytes += b;
    seconds += s;
  }
  if (!(bytes > 0))
    return {};
  const double spread = w * xx - x * x;
  TraceCosts::Link link{0, seconds / bytes, true};
  if (spread > 1e-6 * w * xx) {
    const double slope = (w * xy - x * y) / spread;
    const double each = (y - slope * x) / w;
    if (slope > 0 && each > 0)
      link = {each, slope, true};
    else if (each <= 0)
      link = {0, xy / xx, true};
    else // beginning is all that it takes
      link = {y / w, 0, true};
  }
  return link;
}

/// What one launch showed of the load.
void learn(solver::ShareSolver& model, const RecordedLaunch& launch, std::uint64_t groups,
           std::size_t devices, std::size_t home) {
  std::vector<solver::DeviceSample> samples(devices);
  std::vector<std::uint64_t> done(devices);
  for (const Part& part : launch.parts) {
    solver::DeviceSample& sample = samples[part.device];
    const bool isFirst = sample.groupBegin == sample.groupEnd;
    sample.groupBegin = isFirst ? part.begin : std::min(sample.groupBegin, part.begin);
    sample.groupEnd = isFirst ? part.end : std::max(sample.groupEnd, part.end);
    sample.seconds += part.seconds;
    done[part.device] += part.end - part.begin;
  }
  if (launch.parts.empty() && home < devices)
    samples[home] = {0, groups, launch.homeSeconds, 0};
  bool areWhole = true; // else it was given out in chunks
  for (std::size_t d = 0; d < devices; ++d)
    areWhole = areWhole &&
               (launch.parts.empty() || done[d] == samples[d].groupEnd - samples[d].groupBegin);
  if (areWhole)
    return model.observe(samples, groups);
  std::vector<solver::ChunkSample> chunks;
  for (const Part& part : launch.parts)
    chunks.push_back({static_cast<unsigned>(part.device), part.begin, part.end, part.seconds});
  model.observeChunks(chunks, groups);
}

/// By device, its kernels for a call, in microseconds.
std::vector<BusyTime> runningOf(const TraceContents& contents, const TraceCall& call) {
  std::vector<BusyTime> running(contents.devices.size());
  for (const std::size_t index : call.works)
    if (const TraceWork& work = contents.works[index]; work.track == Track::Kernels)
      running[work.device].add(work.begin, work.end);
  return running;
}

} // namespace

double longestSeconds(const TraceContents& contents, const TraceCall& call) {
  const std::vector<BusyTime> running = runningOf(contents, call);
  std::vector<double> seconds(contents.devices.size());
  for (const std::size_t index : call.works)
    if (const TraceWork& work = contents.works[index]; work.track != Track::Kernels)
      seconds[work.device] += secondsOf(work);
  for (std::size_t i = 0; i < seconds.size(); ++i)
    seconds[i] += running[i].length() * 1e-6;
  return seconds.empty() ? 0 : *std::ranges::max_element(seconds);
}

std::vector<RecordedLaunch> recordedLaunches(const TraceContents& contents) {
  std::vector<RecordedLaunch> launches;
  for (std::size_t c = 0; c < contents.calls.size(); ++c) {
    const TraceCall& call = contents.calls[c];
    if (call.kernel.empty() || call.works.empty())
      continue;
    RecordedLaunch& launch = launches.emplace_back();
    launch.call = c;
    launch.seconds = longestSeconds(contents, call);
    const std::vector<BusyTime> running = runningOf(contents, call);
    if (const auto found = contents.launches.find(call.launch); found != contents.launches.end())
      launch.launch = &found->second;
    for (const std::size_t index : call.works) {
      const TraceWork& work = contents.works[index];
      launch.hasMerged = launch.hasMerged || work.name == "merge";
      if (work.track != Track::Kernels)
        continue;
      if (!work.arguments.contains("groups")) {
        launch.homeSeconds += secondsOf(work);
        continue;
      }
      const std::uint64_t first = work.arguments.at("first_group");
      const std::uint64_t groups = work.arguments.at("groups");
      launch.dimension = work.arguments.at("dimension").get<unsigned>();
      launch.parts.push_back(
          {work.device, first, first + groups, secondsOf(work) * running[work.device].part()});
    }
  }
  std::ranges::stable_sort(launches, {}, [&](const RecordedLaunch& launch) {
    return contents.calls[launch.call].begin;
  });
  return launches;
}

TraceCosts::Key TraceCosts::keyOf(const RecordedLaunch& launch, const TraceContents& contents) {
  return {contents.calls[launch.call].kernel, launch.launch ? launch.launch->range : "",
          launch.launch ? launch.launch->classes : ""};
}

TraceCosts::TraceCosts(const TraceContents& contents, const std::vector<RecordedLaunch>& launches) {
  const std::size_t devices = contents.devices.size();
  const std::size_t home = homeOf(contents);
  std::map<Key, unsigned> dimensions; // positions are along the one that launches were cut by
  for (const RecordedLaunch& launch : launches)
    if (launch.launch && launch.dimension)
      dimensions.try_emplace(keyOf(launch, contents), *launch.dimension);
  std::map<Key, std::unique_ptr<solver::ShareSolver>> models;
  std::map<Key, std::uint64_t> groupsOf;
  for (const RecordedLaunch& launch : launches) {
    if (!launch.launch)
      continue;
    const Key key = keyOf(launch, contents);
    const auto dimension = dimensions.try_emplace(key, 0).first->second;
    if (launch.dimension && *launch.dimension != dimension)
      continue;
    auto& model = models[key];
    if (!model)
      model = solver::makeProfile(static_cast<unsigned>(devices));
    const NDRange& range = launch.launch->ndrange;
    const std::uint64_t groups = groupsOf[key] = range.groups(dimension);
    learn(*model, launch, groups, devices, home);
    items_[key] = static_cast<double>(range.global[0] * range.global[1] * range.global[2]);
    Load& load = loads_[key];
    load.mostRun.resize(devices);
    load.isInferred.resize(devices);
    std::vector<std::uint64_t> run(devices);
    for (const Part& part : launch.parts)
      run[part.device] += part.end - part.begin;
    if (launch.parts.empty() && home < devices)
      run[home] = groups;
    for (std::size_t d = 0; d < devices; ++d)
      load.mostRun[d] =
          std::max(load.mostRun[d], static_cast<double>(run[d]) / static_cast<double>(groups));
  }
  for (const auto& [key, model] : models)
    if (!model->describe(loads_[key].profile, groupsOf[key]))
      loads_.erase(key);
  inferOthers();

  std::vector<std::array<std::vector<std::pair<double, double>>, 2>> copies(devices);
  for (const TraceWork& work : contents.works)
    if (moves(work) && work.arguments.contains("bytes"))
      copies.at(work.device)[work.track == Track::TransfersIn].emplace_back(
          work.arguments.at("bytes").get<double>(), secondsOf(work));
  for (const auto& each : copies)
    links_.push_back({linkOf(each[0]), linkOf(each[1])});
}

/// Where a device has never run under a key, but under another of the same kernel beside one that
/// has: both compare as they did there.
void TraceCosts::inferOthers() {
  const std::map<Key, Load> seen = loads_;
  for (auto& [key, load] : loads_) {
    solver::LoadProfile& profile = load.profile;
    for (std::size_t d = 0; d < profile.whole.size(); ++d) {
      if (std::isfinite(profile.whole[d]))
        continue;
      double nearest = std::numeric_limits<double>::infinity();
      for (const auto& [other, of] : seen) {
        if (std::get<0>(other) != std::get<0>(key) || !std::isfinite(of.profile.whole[d]))
          continue;
        const double distance = std::abs(std::log(items_.at(other) / items_.at(key)));
        for (std::size_t beside = 0; beside < profile.whole.size(); ++beside) {
          const double here = seen.at(key).profile.whole[beside];
          if (distance >= nearest || !std::isfinite(here) ||
              !std::isfinite(of.profile.whole[beside]))
            continue;
          nearest = distance;
          profile.whole[d] = here * of.profile.whole[d] / of.profile.whole[beside];
          profile.fixed[d] = of.profile.fixed[d];
          load.isInferred[d] = true;
        }
      }
    }
  }
}

const TraceCosts::Load* TraceCosts::load(const Key& key) const {
  const auto found = loads_.find(key);
  return found == loads_.end() ? nullptr : &found->second;
}

} // namespace libsplit::tools
