// The fixed point method of Huchant, Counilh, Barthou, "Automatic OpenCL Task Adaptation for
// Heterogeneous Architectures", Euro-Par 2016, section 5.
//
// With f_i the mean seconds per work-group that device i just showed,
//
//     x'_i = T / (f_i * numgroups),   T = numgroups / sum_j 1/f_j,
//
// that is x'_i = (1/f_i) / sum_j (1/f_j): each device gets work in proportion to the speed it
// showed.
//
// Worked example: x = (1/2, 1/2) of 100 groups took 3 s and 1 s. f = (0.06, 0.02), 1/f = (16.7,
// 50), x' = (1/4, 3/4): 25 groups at 0.06 s and 75 at 0.02 s end together, after 1.5 s.
#include "solver/simplex.h"

namespace libsplit::solver {

namespace {

class FixedPoint final : public ShareSolver {
public:
  explicit FixedPoint(std::span<const double> initial)
      : shares_(makeShares(initial, initial.size())), speeds_(Vector::Zero(shares_.size())) {}

  void observe(std::span<const DeviceSample> samples, std::uint64_t totalGroups) override {
    if (samples.size() != static_cast<std::size_t>(shares_.size()) || totalGroups == 0)
      return;
    bool measured = false;
    for (Eigen::Index i = 0; i < shares_.size(); ++i) {
      const DeviceSample& s = samples[static_cast<std::size_t>(i)];
      if (!measures(s))
        continue; // keeps the speed it showed last, 0 if it never ran
      speeds_[i] = static_cast<double>(s.groupEnd - s.groupBegin) / s.seconds;
      measured = true;
    }
    if (!measured)
      return;
    shares_ = speeds_;
    normalize(shares_);
  }

  std::span<const double> propose() override { return view(shares_); }

private:
  Vector shares_;
  Vector speeds_; // groups per second, 1/f_i
};

} // namespace

std::unique_ptr<ShareSolver> makeFixedPoint(std::vector<double> initialShares) {
  return std::make_unique<FixedPoint>(initialShares);
}

} // namespace libsplit::solver
