// Broyden's method on G(x) = x - F(x) (Huchant, Counilh, Barthou, Euro-Par 2016, section 5.2; F as
// in simplex.h; C. G. Broyden, "A class of methods for solving nonlinear simultaneous equations",
// 1965).
//
//     x_{k+1} = x_k - H_k G(x_k),   H_0 = I (so that the first step is the fixed point's: F(x_0)),
//     good: H += (dx - H dG) dxᵀ H / (dxᵀ H dG)      bad: H += (dx - H dG) dGᵀ / (dGᵀ dG)
//
// with dx = x_k - x_{k-1}, dG = G(x_k) - G(x_{k-1}), and H the n x n approximation of the inverse
// Jacobian, kept dense (n is the number of devices). x and F(x) lie on the simplex, so G, dx and dG
// sum to 0, and so does every step.
//
// Safeguards: x_k is what the launch really ran (rounded to groups), not what was proposed. An
// update with a vanishing denominator is left out. A step that would leave the simplex, or that
// follows one that doubled ‖G‖, is a fixed point step; the latter also starts H afresh. Where the
// launch is balanced, nothing moves.
#include "solver/simplex.h"

#include <cmath>

namespace libsplit::solver {

namespace {

class Broyden final : public ShareSolver {
public:
  Broyden(std::span<const double> initial, BroydenUpdate update, Options options)
      : update_(update), options_(options), shares_(makeShares(initial, initial.size())),
        measured_(shares_.size()), g_(Vector::Zero(shares_.size())), x_(g_), dx_(g_), dg_(g_),
        hdg_(g_), row_(g_), step_(g_), h_(Matrix::Identity(shares_.size(), shares_.size())) {}

  void observe(std::span<const DeviceSample> samples, std::uint64_t totalGroups) override {
    if (!measured_.take(samples, totalGroups)) {
      summary_.stop = Stop::NotMeasured;
      return;
    }
    ++summary_.launches;
    summary_.imbalance = measured_.imbalance;
    dx_ = measured_.x - x_;
    step_ = measured_.x - measured_.y; // G(x_k)
    dg_ = step_ - g_;
    const double before = g_.norm();
    x_ = measured_.x;
    g_ = step_;

    const bool idle = ((x_.array() <= 0) && (measured_.y.array() > 0)).any();
    if (measured_.imbalance <= options_.tolerance && !idle) {
      summary_.stop = Stop::Converged;
      return;
    }
    summary_.stop = Stop::Searching;
    if (warm_) {
      if (g_.norm() > 2 * before + 1e-12) {
        h_.setIdentity();
        summary_.stop = Stop::Diverged;
      } else if (!updateInverse()) {
        summary_.stop = Stop::SingularUpdate;
      }
    }
    warm_ = true;
    step_.noalias() = h_ * g_;
    shares_ = x_ - step_;
    if (!shares_.allFinite() || (shares_.array() < 0).any()) {
      shares_ = measured_.y;
      summary_.stop = Stop::LeftSimplex;
    }
    normalize(shares_);
  }

  std::span<const double> propose() override { return view(shares_); }
  std::span<const double> speeds() const override { return view(measured_.speeds); }
  Summary summary() const override { return summary_; }

private:
  bool updateInverse() {
    hdg_.noalias() = h_ * dg_;
    if (update_ == BroydenUpdate::Good)
      row_.noalias() = h_.transpose() * dx_; // (dxᵀ H)ᵀ
    else
      row_ = dg_;
    const double denominator = row_.dot(dg_);
    const double scale = row_.norm() * dg_.norm();
    if (!(std::abs(denominator) > 1e-3 * scale) || scale < 1e-12)
      return false;
    hdg_ = dx_ - hdg_;
    row_ /= denominator;
    h_.noalias() += hdg_ * row_.transpose();
    if (!h_.allFinite()) {
      h_.setIdentity();
      return false;
    }
    return true;
  }

  BroydenUpdate update_;
  Options options_;
  Summary summary_;
  Vector shares_;
  Measurement measured_;
  Vector g_, x_; // of the last launch
  Vector dx_, dg_, hdg_, row_, step_;
  Matrix h_;
  bool warm_ = false; // g_ and x_ hold a launch
};

} // namespace

std::unique_ptr<ShareSolver> makeBroyden(std::vector<double> initialShares, BroydenUpdate update,
                                         Options options) {
  return std::make_unique<Broyden>(initialShares, update, options);
}

} // namespace libsplit::solver
