#include <algorithm>

#include "reference/numerics/folds.hpp"
#include "reference/numerics/superaccumulator.hpp"

namespace rankcheck::numerics {

namespace {

/// The product of all contributions to one component, and how far partial products may go.
struct Product {
  bool any_nan = false;
  bool any_infinity = false;
  bool any_zero = false;
  bool negative = false;
  /// Of the finite, nonzero contributions.
  Scaled value{.significand = {1, 0}, .exponent = 0};
  /// The largest and the smallest product of any of them.
  double highest = 1;
  double lowest = 1;

  void multiply(double x) {
    any_nan = any_nan || std::isnan(x);
    any_infinity = any_infinity || std::isinf(x);
    any_zero = any_zero || x == 0;
    negative = negative != std::signbit(x);
    if (!std::isfinite(x) || x == 0) return;
    const double magnitude = std::fabs(x);
    (magnitude > 1 ? highest : lowest) *= magnitude;
    int binary = 0;
    const double m = std::frexp(x, &binary);
    const Pair product = two_product(value.significand.high, m);
    const Pair sum = two_sum(product.high, product.low + value.significand.low * m);
    // Back to a significand of at least a half, so that nothing underflows.
    const double scale = std::fabs(sum.high) < 0.5 ? 2 : 1;
    value.significand = {sum.high * scale, sum.low * scale};
    value.exponent += binary - (scale > 1 ? 1 : 0);
  }
};

}  // namespace

/// Every order rounds n - 1 times: growth(n - 1) |P|. A partial product that underflows is wrong by
/// at most the smallest subnormal and is then multiplied by others, at most `highest`.
void fold_products(const Fold& rule,
                   const Contributions& terms,
                   std::int64_t count,
                   Expected& out) {
  const Format format = format_of(terms.component);
  const bool no_error = rule.exact || terms.in.size() == 1;
  const int rounded = static_cast<int>(terms.in.size()) - 1;
  const double relative = growth(rounded, format.unit_roundoff);
  for (std::int64_t i = 0; i < count; ++i) {
    Product product;
    for (std::size_t q = 0; q < terms.in.size(); ++q) {
      double x = 0;
      terms.read(q, i, 1, &x);
      product.multiply(x);
    }
    const auto at = static_cast<std::size_t>(i);
    const bool may_overflow = product.highest * (1 + 2 * relative) >= format.overflow;
    const bool may_underflow = product.lowest < format.smallest_normal * (1 + 2 * relative);
    const double infinity = product.negative ? -std::numeric_limits<double>::infinity()
                                             : std::numeric_limits<double>::infinity();
    if (product.any_nan || (product.any_infinity && product.any_zero)) {
      expect_value(std::numeric_limits<double>::quiet_NaN(), at, out);
      continue;
    }
    if (product.any_infinity) {
      expect_value(infinity, at, out);
      if (may_underflow) out.admits[at] |= admits_nan;
      continue;
    }
    if (product.any_zero) {
      expect_value(0, at, out);
      if (may_overflow) out.admits[at] |= admits_nan;
      continue;
    }
    double bound = 0;
    if (!no_error) {
      bound =
          std::ldexp(relative * std::fabs(product.value.significand.high), product.value.exponent);
      if (may_underflow) {
        bound += rounded * format.smallest_subnormal * product.highest * (1 + relative);
      }
    }
    expect_within(to_pair(product.value), bound * slack(rule.ranks), at, out);
    if (may_overflow) {
      out.admits[at] |= product.negative ? admits_negative_infinity : admits_positive_infinity;
      if (may_underflow) out.admits[at] |= admits_nan;
    }
  }
}

}  // namespace rankcheck::numerics
