#include "runtime/program/earlier_runs.h"

#include <iterator>
#include <locale>
#include <sstream>
#include <vector>

namespace libsplit::runtime {

namespace {

constexpr const char* preparationEntry = "preparation.seconds";

std::string splittingEntry(const std::string& devices) {
  return hashOf("splitting " + devices) + ".seconds";
}

/// Numbers with points, whatever locale the program has set.
template <class Stream> Stream plain(Stream stream) {
  stream.imbue(std::locale::classic());
  return stream;
}

std::string textOf(double seconds) {
  auto text = plain(std::ostringstream());
  text << seconds;
  return text.str();
}

std::string launchesEntry(const Origin& origin) {
  return identityOf(origin, "") + ".launches";
}

} // namespace

std::string identityOf(const Origin& origin, const std::string& kernel) {
  return hashOf(std::vector{origin.text, origin.options, kernel});
}

EarlierLaunches EarlierRuns::launchesOf(const Origin& origin) const {
  EarlierLaunches launches;
  auto text = plain(std::istringstream(cache_.read(launchesEntry(origin)).value_or("")));
  std::string line;
  std::getline(text, line);
  auto program = plain(std::istringstream(line));
  program >> launches.seconds >> launches.compiling >> launches.building >> launches.life >>
      launches.heldUp;
  launches.begun.insert(std::istream_iterator<std::string>(program), {});
  EarlierLaunches::Kernel kernel;
  for (std::string name; text >> name >> kernel.launches >> kernel.seconds;)
    launches.kernels[name] = kernel;
  return launches;
}

void EarlierRuns::keep(const Origin& origin, const EarlierLaunches& launches) const {
  std::string text = textOf(launches.seconds) + ' ' + textOf(launches.compiling) + ' ' +
                     textOf(launches.building) + ' ' + textOf(launches.life) + ' ' +
                     textOf(launches.heldUp);
  for (const std::string& kernel : launches.begun)
    text += ' ' + kernel;
  for (const auto& [name, kernel] : launches.kernels)
    text += '\n' + name + ' ' + std::to_string(kernel.launches) + ' ' + textOf(kernel.seconds);
  cache_.write(launchesEntry(origin), text);
}

std::optional<double> EarlierRuns::secondsOf(const std::string& entry) const {
  constexpr double most = 60; // whatever a file may say
  double seconds = 0;
  auto text = plain(std::istringstream(cache_.read(entry).value_or("")));
  if (text >> seconds; !(seconds > 0 && seconds < most))
    return std::nullopt;
  return seconds;
}

std::optional<double> EarlierRuns::preparation() const {
  return secondsOf(preparationEntry);
}

void EarlierRuns::keepPreparation(double seconds) const {
  cache_.write(preparationEntry, textOf(seconds));
}

std::optional<double> EarlierRuns::splitting(const std::string& devices) const {
  return secondsOf(splittingEntry(devices));
}

void EarlierRuns::keepSplitting(const std::string& devices, double seconds) const {
  cache_.write(splittingEntry(devices), textOf(seconds));
}

} // namespace libsplit::runtime
