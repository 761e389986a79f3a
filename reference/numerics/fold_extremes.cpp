#include <algorithm>
#include <array>

#include "reference/numerics/folds.hpp"
#include "reference/spec/to_size.hpp"
#include "reference/spec/value_rules.hpp"

namespace rankcheck::numerics {

namespace {

/// Expects NaN or any of the contributions. An implementation without a NaN rule compares its
/// operands one after another. With a NaN among them it returns NaN or the extreme of the operands
/// after the last NaN, so any contribution may come out.
void expect_any(const Contributions& terms, std::int64_t index, Expected& out) {
  out.admits[spec::to_size(index)] = admits_nan | admits_candidates;
  for (std::size_t q = 0; q < terms.in.size(); ++q) {
    double x = 0;
    terms.read(q, index, 1, &x);
    out.candidates.push_back(x);
  }
}

}  // namespace

void fold_extremes(const Fold& rule,
                   const Contributions& terms,
                   std::int64_t count,
                   Expected& out) {
  const bool smallest = rule.op == spec::ReduceOp::min;
  std::array<double, run_components> best;
  std::array<double, run_components> x;
  std::array<bool, run_components> any_nan;
  for (std::int64_t first = 0; first < count; first += run_components) {
    const auto run = spec::to_size(std::min(run_components, count - first));
    terms.read(0, first, static_cast<std::int64_t>(run), best.data());
    for (std::size_t i = 0; i < run; ++i) any_nan[i] = std::isnan(best[i]);
    for (std::size_t q = 1; q < terms.in.size(); ++q) {
      terms.read(q, first, static_cast<std::int64_t>(run), x.data());
      for (std::size_t i = 0; i < run; ++i) {
        const bool better = smallest ? x[i] < best[i] : x[i] > best[i];
        any_nan[i] = any_nan[i] || std::isnan(x[i]);
        if (better || std::isnan(best[i])) best[i] = x[i];
      }
    }
    for (std::size_t i = 0; i < run; ++i) {
      const std::size_t at = spec::to_size(first) + i;
      const bool to_nan = any_nan[i] && rule.nan_rule == NanRule::propagates;
      expect_value(to_nan ? std::numeric_limits<double>::quiet_NaN() : best[i], at, out);
      if (!any_nan[i] || std::isnan(best[i])) continue;
      if (rule.nan_rule == NanRule::either) out.admits[at] |= admits_nan;
      if (rule.nan_rule == NanRule::unspecified) {
        expect_any(terms, first + static_cast<std::int64_t>(i), out);
      }
    }
  }
}

}  // namespace rankcheck::numerics
