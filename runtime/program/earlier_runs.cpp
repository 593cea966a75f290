#include "runtime/program/earlier_runs.h"

#include <iterator>
#include <sstream>
#include <vector>

namespace libsplit::runtime {

namespace {

constexpr const char* preparationEntry = "preparation.seconds";

std::string splittingEntry(const std::string& devices) {
  return hashOf("splitting " + devices) + ".seconds";
}

std::string launchesEntry(const Origin& origin) {
  return identityOf(origin, "") + ".seconds";
}

} // namespace

std::string identityOf(const Origin& origin, const std::string& kernel) {
  return hashOf(std::vector{origin.text, origin.options, kernel});
}

EarlierLaunches EarlierRuns::launchesOf(const Origin& origin) const {
  EarlierLaunches launches;
  std::istringstream text(cache_.read(launchesEntry(origin)).value_or(""));
  text >> launches.seconds >> launches.compiling >> launches.building >> launches.life;
  launches.begun.insert(std::istream_iterator<std::string>(text), {});
  return launches;
}

void EarlierRuns::keep(const Origin& origin, const EarlierLaunches& launches) const {
  std::string text = std::to_string(launches.seconds) + ' ' + std::to_string(launches.compiling) +
                     ' ' + std::to_string(launches.building) + ' ' + std::to_string(launches.life);
  for (const std::string& kernel : launches.begun)
    text += ' ' + kernel;
  cache_.write(launchesEntry(origin), text);
}

std::optional<double> EarlierRuns::secondsOf(const std::string& entry) const {
  constexpr double most = 60; // whatever a file may say
  double seconds = 0;
  std::istringstream text(cache_.read(entry).value_or(""));
  if (text >> seconds; !(seconds > 0 && seconds < most))
    return std::nullopt;
  return seconds;
}

std::optional<double> EarlierRuns::preparation() const {
  return secondsOf(preparationEntry);
}

void EarlierRuns::keepPreparation(double seconds) const {
  cache_.write(preparationEntry, std::to_string(seconds));
}

std::optional<double> EarlierRuns::splitting(const std::string& devices) const {
  return secondsOf(splittingEntry(devices));
}

void EarlierRuns::keepSplitting(const std::string& devices, double seconds) const {
  cache_.write(splittingEntry(devices), std::to_string(seconds));
}

} // namespace libsplit::runtime
