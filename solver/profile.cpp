// Shares by the load's profile alone; the model and its sources are in load_model.h.
#include "solver/load_model.h"

#include <algorithm>

namespace libsplit::solver {

namespace {

class Profile final : public ShareSolver {
public:
  explicit Profile(unsigned devices)
      : model_(static_cast<Eigen::Index>(devices)), shares_(makeShares({}, devices)),
        worked_(Vector::Zero(shares_.size())), limits_(worked_), speeds_(worked_) {
    samples_.reserve(devices);
  }

  void observe(std::span<const DeviceSample> samples, std::uint64_t totalGroups) override {
    if (samples.size() != static_cast<std::size_t>(shares_.size()) || totalGroups == 0)
      return;
    const auto total = static_cast<double>(totalGroups);
    samples_.clear();
    double sum = 0, longest = 0;
    for (std::size_t d = 0; d < samples.size(); ++d) {
      const DeviceSample& s = samples[d];
      const double seconds = s.workSeconds();
      if (!measures({s.groupBegin, s.groupEnd, seconds}) || s.groupEnd > totalGroups)
        continue;
      const auto device = static_cast<Eigen::Index>(d);
      samples_.push_back({device, static_cast<double>(s.groupBegin) / total,
                          static_cast<double>(s.groupEnd) / total, total, seconds, 1});
      worked_[device] = std::max(worked_[device], samples_.back().end - samples_.back().begin);
      sum += seconds;
      longest = std::max(longest, seconds);
    }
    if (samples_.empty()) {
      summary_.stop = Stop::NotMeasured;
      return;
    }
    summary_.stop = Stop::Searching;
    summary_.imbalance = longest * static_cast<double>(samples_.size()) / sum - 1;
    ++summary_.launches;
    model_.learn(samples_);
    // A fixed cost is only known from launches of different sizes, so shares grow by steps.
    limits_ = 3 * worked_.array() + 2 / total;
    model_.balance(shares_, total, limits_);
  }

  void observeChunks(std::span<const ChunkSample> chunks, std::uint64_t totalGroups) override {
    if (totalGroups == 0)
      return;
    const auto total = static_cast<double>(totalGroups);
    samples_.clear();
    for (const ChunkSample& c : chunks)
      if (c.device < shares_.size() && c.groupEnd <= totalGroups &&
          measures({c.groupBegin, c.groupEnd, c.seconds}))
        samples_.push_back({static_cast<Eigen::Index>(c.device),
                            static_cast<double>(c.groupBegin) / total,
                            static_cast<double>(c.groupEnd) / total, total, c.seconds, 1});
    if (samples_.empty()) {
      summary_.stop = Stop::NotMeasured;
      return;
    }
    summary_.stop = Stop::Searching;
    ++summary_.launches;
    model_.learn(samples_);
    for (const LoadSample& each : samples_)
      worked_[each.device] = std::max(worked_[each.device], each.end - each.begin);
    limits_ = 3 * worked_.array() + 2 / total;
    model_.balance(shares_, total, limits_);
  }

  bool describe(LoadProfile& profile, std::uint64_t totalGroups) const override {
    if (summary_.launches == 0)
      return false;
    model_.describe(profile, static_cast<double>(totalGroups));
    return true;
  }

  std::span<const double> propose() override { return view(shares_); }
  Summary summary() const override { return summary_; }
  std::span<const double> speeds() const override {
    for (Eigen::Index d = 0; d < speeds_.size(); ++d)
      speeds_[d] = model_.speed(d);
    return view(speeds_);
  }

private:
  LoadModel model_;
  Summary summary_;
  Vector shares_;
  Vector worked_; // largest share that each device ever had
  Vector limits_;
  mutable Vector speeds_; // what speeds() shows
  std::vector<LoadSample> samples_;
};

} // namespace

std::unique_ptr<ShareSolver> makeProfile(unsigned devices) {
  return std::make_unique<Profile>(devices);
}

} // namespace libsplit::solver
