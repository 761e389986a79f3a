#include <algorithm>
#include <array>
#include <bit>

#include "reference/numerics/folds.hpp"
#include "reference/numerics/superaccumulator.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::numerics {

namespace {

using spec::ReduceOp;
using Run = std::array<double, run_components>;

/// Whether any rounding happens on the way to the result.
bool rounds(const Fold& rule) {
  return !rule.exact && (rule.ranks > 1 || rule.op == ReduceOp::premul_sum);
}

/// The bound on a result: relative * (sum of magnitudes) + absolute.
struct SumBound {
  double relative = 0;
  double absolute = 0;
};

/// Bounds for n = ranks and unit roundoff u:
/// - sum: every order rounds n - 1 times, (n - 1) u for round to nearest (Rump; Jeannerod and Rump
///   2013). Sums do not underflow.
/// - premul_sum: one more rounding, and each product may underflow.
/// - avg: an implementation divides the sum, or first multiplies each term by T(1/n). The bound
///   admits n + 1 roundings. If n is a power of two, T(1/n) and the products are exact.
SumBound sum_bound(const Fold& rule, const Format& format) {
  const double n = rule.ranks;
  const double u = format.unit_roundoff;
  if (!rounds(rule)) return {};
  if (rule.op == ReduceOp::sum) return {(n - 1) * u * slack(rule.ranks), 0};
  const double absolute = n * format.smallest_subnormal * (1 + growth(n - 1, u));
  if (rule.op == ReduceOp::premul_sum) {
    return {growth(n, u) * slack(rule.ranks), absolute * slack(rule.ranks)};
  }
  const bool power_of_two = std::has_single_bit(static_cast<unsigned>(rule.ranks));
  // T(1/n) itself may be subnormal.
  const double inverse = std::max(growth(1, u), n * format.smallest_subnormal);
  const double relative = power_of_two && 1 / n >= format.smallest_normal
                              ? (n - 1) * u
                              : inverse + growth(n, u) * (1 + inverse);
  return {relative / n * slack(rule.ranks), absolute * slack(rule.ranks)};
}

/// If the sum of magnitudes stays below this limit, no partial sum overflows in any order.
double overflow_limit(const Fold& rule, const Format& format) {
  if (!rounds(rule)) return format.overflow;
  return std::min(format.overflow, std::numeric_limits<double>::max()) /
         (1 + growth(2 * rule.ranks, format.unit_roundoff));
}

/// The terms of one sign: sum of their magnitudes, and their number.
struct OneSide {
  double sum = 0;
  int terms = 0;

  void add(double magnitude) {
    sum += magnitude;
    ++terms;
  }
};

/// Sums of one kind (sum, premul_sum or avg) over components. Of a component's position it uses
/// only the index.
class Sums {
 public:
  Sums(const Fold& rule, const Contributions& terms, Expected& out)
      : rule_(rule),
        terms_(terms),
        out_(out),
        format_(format_of(terms.component)),
        bound_(sum_bound(rule, format_)),
        overflow_(overflow_limit(rule, format_)),
        split_products_(rule.op == ReduceOp::premul_sum && terms.component == spec::Type::f64) {}

  void fold(std::int64_t first, std::int64_t count);

 private:
  void read(std::size_t q, std::int64_t first, std::int64_t count, double* x, double* rest) const;
  void fold_one(std::int64_t index);
  [[nodiscard]] bool overflows(const OneSide& side) const;
  [[nodiscard]] Pair mean(const Pair& sum) const;

  const Fold& rule_;
  const Contributions& terms_;
  Expected& out_;
  const Format format_;
  const SumBound bound_;
  const double overflow_;
  /// A product of two doubles needs two doubles: `rest` holds the second.
  const bool split_products_;
  Superaccumulator accumulator_;
};

/// Reads the terms of rank q: its elements, multiplied by its scalar for premul_sum. Products of
/// types narrower than f64 are exact in double. If the rest of a product of doubles underflows, the
/// error is less than the absolute part of the bound.
void Sums::read(
    std::size_t q, std::int64_t first, std::int64_t count, double* x, double* rest) const {
  terms_.read(q, first, count, x);
  if (rule_.op != ReduceOp::premul_sum) return;
  const double scalar = terms_.scalar(q);
  for (std::int64_t i = 0; i < count; ++i) {
    if (split_products_) {
      const Pair product = two_product(x[i], scalar);
      x[i] = product.high;
      rest[i] = std::isfinite(product.high) ? product.low : 0;
    } else {
      x[i] *= scalar;
    }
  }
}

/// Whether a partial sum of the terms of this sign may overflow in some order.
bool Sums::overflows(const OneSide& side) const {
  const int products = rule_.op == ReduceOp::premul_sum ? 1 : 0;
  return may_overflow(format_, side.sum, side.terms, rule_.exact ? 0 : side.terms - 2 + products);
}

/// The mean for avg; the sum itself for other operations.
Pair Sums::mean(const Pair& sum) const {
  return rule_.op == ReduceOp::avg && rule_.ranks > 1 ? divided(sum, rule_.ranks) : sum;
}

/// Computes a run of components at once, with sums that keep their rounding errors. The part that a
/// sum loses must be zero if no error is admitted. Otherwise it must be so small that the slack in
/// the bound covers it. A component that fails this is computed again alone.
void Sums::fold(std::int64_t first, std::int64_t count) {
  Run x;
  Run rest;
  Run magnitude;
  std::array<Cascade, run_components> sums;
  const auto run = spec::to_size(count);
  std::fill_n(magnitude.begin(), run, 0.0);
  std::fill_n(sums.begin(), run, Cascade{});
  for (std::size_t q = 0; q < terms_.in.size(); ++q) {
    read(q, first, count, x.data(), rest.data());
    for (std::size_t i = 0; i < run; ++i) {
      sums[i].add(x[i]);
      magnitude[i] += std::fabs(x[i]);
    }
    if (!split_products_) continue;
    for (std::size_t i = 0; i < run; ++i) sums[i].add(rest[i]);
  }
  for (std::size_t i = 0; i < run; ++i) {
    const double bound = bound_.relative * magnitude[i] + bound_.absolute;
    // NaN and infinities fail these comparisons too.
    if (sums[i].lost <= bound * 0x1p-48 && magnitude[i] < overflow_) {
      const std::size_t at = spec::to_size(first) + i;
      expect_within(mean(two_sum(sums[i].sum, sums[i].error)), bound, at, out_);
    } else {
      fold_one(first + static_cast<std::int64_t>(i));
    }
  }
}

/// Computes one component of any magnitude: the exact sum, and every class of value that some order
/// can reach.
void Sums::fold_one(std::int64_t index) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double scale = 0x1p-64;
  OneSide positive;
  OneSide negative;
  double non_finite = 0;
  double magnitude_scaled = 0;
  accumulator_.clear();
  for (std::size_t q = 0; q < terms_.in.size(); ++q) {
    double x = 0;
    double rest = 0;
    read(q, index, 1, &x, &rest);
    if (!std::isfinite(x)) {
      non_finite += x;
      continue;
    }
    accumulator_.add(x);
    accumulator_.add(rest);
    if (x != 0) (x < 0 ? negative : positive).add(std::fabs(x));
    magnitude_scaled += std::fabs(x) * scale;
  }
  const auto at = spec::to_size(index);
  const bool to_positive = overflows(positive) || non_finite == infinity;
  const bool to_negative = overflows(negative) || non_finite == -infinity;
  if (non_finite != 0) {
    expect_value(non_finite, at, out_);
    if (to_positive && to_negative) out_.admits[at] |= admits_nan;
    return;
  }
  const double magnitude = positive.sum + negative.sum;
  const double rounding = std::isfinite(magnitude) ? bound_.relative * magnitude
                                                   : bound_.relative * magnitude_scaled / scale;
  const Scaled sum = accumulator_.value();
  const Pair value = to_pair({.significand = mean(sum.significand), .exponent = sum.exponent});
  expect_within(value, rounding + bound_.absolute, at, out_);
  if (to_positive) out_.admits[at] |= admits_positive_infinity;
  if (to_negative) out_.admits[at] |= admits_negative_infinity;
  if (to_positive && to_negative) out_.admits[at] |= admits_nan;
}

}  // namespace

void fold_sums(const Fold& rule, const Contributions& terms, std::int64_t count, Expected& out) {
  Sums sums(rule, terms, out);
  for (std::int64_t first = 0; first < count; first += run_components) {
    sums.fold(first, std::min(run_components, count - first));
  }
}

}  // namespace rankcheck::numerics
