#include "solver/simplex.h"

namespace libsplit::solver {

namespace {

class StaticShares final : public ShareSolver {
public:
  explicit StaticShares(std::span<const double> shares)
      : shares_(makeShares(shares, shares.size())) {}
  void observe(std::span<const DeviceSample>, std::uint64_t) override {}
  std::span<const double> propose() override { return view(shares_); }

private:
  Vector shares_;
};

} // namespace

std::unique_ptr<ShareSolver> makeStatic(std::vector<double> shares) {
  return std::make_unique<StaticShares>(shares);
}

} // namespace libsplit::solver
