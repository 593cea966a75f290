// The fixed point method of Huchant, Counilh, Barthou, "Automatic OpenCL Task Adaptation for
// Heterogeneous Architectures", Euro-Par 2016, section 5: x_k = F(x_{k-1}), F as in simplex.h.
//
// Worked example: x = (1/2, 1/2) of 100 groups took 3 s and 1 s. f = (0.06, 0.02), 1/f = (16.7,
// 50), F(x) = (1/4, 3/4): 25 groups at 0.06 s and 75 at 0.02 s end together, after 1.5 s.
#include "solver/simplex.h"

namespace libsplit::solver {

namespace {

class FixedPoint final : public ShareSolver {
public:
  FixedPoint(std::span<const double> initial, Options options)
      : options_(options), shares_(makeShares(initial, initial.size())), measured_(shares_.size()) {
  }

  void observe(std::span<const DeviceSample> samples, std::uint64_t totalGroups) override {
    if (!measured_.take(samples, totalGroups)) {
      summary_.stop = Stop::NotMeasured;
      return;
    }
    ++summary_.launches;
    summary_.imbalance = measured_.imbalance;
    // A balanced launch may also be one that only some devices took part in: a device whose speed
    // is known and that had no work is an imbalance too.
    const bool idle = ((measured_.x.array() <= 0) && (measured_.y.array() > 0)).any();
    if (measured_.imbalance <= options_.tolerance && !idle) {
      summary_.stop = Stop::Converged;
      return;
    }
    summary_.stop = Stop::Searching;
    shares_ = measured_.y;
  }

  std::span<const double> propose() override { return view(shares_); }
  std::span<const double> speeds() const override { return view(measured_.speeds); }
  Summary summary() const override { return summary_; }

private:
  Options options_;
  Summary summary_;
  Vector shares_;
  Measurement measured_;
};

} // namespace

std::unique_ptr<ShareSolver> makeFixedPoint(std::vector<double> initialShares, Options options) {
  return std::make_unique<FixedPoint>(initialShares, options);
}

} // namespace libsplit::solver
