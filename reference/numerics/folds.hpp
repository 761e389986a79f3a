#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "reference/numerics/fold.hpp"
#include "reference/numerics/format.hpp"
#include "reference/numerics/pair.hpp"
#include "reference/spec/to_size.hpp"
#include "reference/spec/value_rules.hpp"

/// What the kinds of fold share. For use inside numerics only.
namespace rankcheck::numerics {

/// Number of components that are decoded and folded together: they fit the first-level cache.
inline constexpr std::int64_t run_components = 256;

/// The contributions of all ranks to a run of components.
struct Contributions {
  spec::Type component = spec::Type::f32;
  std::span<const std::byte* const> in;
  std::span<const std::byte> scalars;

  /// Reads rank q's components first … first + count - 1 as double.
  void read(std::size_t q, std::int64_t first, std::int64_t count, double* out) const {
    load(component, in[q] + first * spec::info(component).bytes, count, out);
  }
  [[nodiscard]] double scalar(std::size_t q) const {
    const auto bytes = spec::to_size(spec::info(component).bytes);
    return to_double(component, scalars.data() + q * bytes);
  }
};

/// An upper bound of |(1 + d1)…(1 + dk) - 1|, where each factor or its inverse differs from one
/// by at most `unit_roundoff`. It is at most Higham's gamma_k, and it is valid for every k.
[[nodiscard]] inline double growth(double k, double unit_roundoff) {
  return std::expm1(-k * std::log1p(-unit_roundoff));
}

/// Bounds are computed in double. This factor, slightly above 1, covers the roundings of that
/// computation.
[[nodiscard]] inline double slack(int ranks) {
  return 1 + (ranks + 64) * 0x1p-52;
}

/// Whether `terms` positive numbers may overflow in some order, if a partial result is rounded
/// `rounded` times before the last step. `magnitude` is their sum or product, computed in double;
/// its own rounding error is admitted. Terms of the other sign (or factors below one) cannot
/// make a partial result larger: rounding is monotone.
[[nodiscard]] inline bool may_overflow(const Format& format,
                                       double magnitude,
                                       int terms,
                                       int rounded) {
  const double own = terms > 1 ? terms * 0x1p-53 : 0;
  const double relative = growth(std::max(rounded, 0), format.unit_roundoff) + own;
  return magnitude * (1 + relative) >= format.overflow;
}

/// Expects one value without error; admits only its own class.
inline void expect_value(double value, std::size_t index, Expected& out) {
  out.high[index] = value;
  out.low[index] = 0;
  out.bound[index] = 0;
  out.admits[index] = std::isnan(value)      ? admits_nan
                      : std::isfinite(value) ? admits_finite
                      : value > 0            ? admits_positive_infinity
                                             : admits_negative_infinity;
}

/// Expects a finite value within a bound.
inline void expect_within(const Pair& value, double bound, std::size_t index, Expected& out) {
  out.high[index] = value.high;
  out.low[index] = value.low;
  out.bound[index] = bound;
  out.admits[index] = admits_finite;
}

/// Demands the sign of an expected zero if the inputs alone decide it (ZeroRule::ieee).
void demand_signs_of_zero(const Fold& rule,
                          const Contributions& terms,
                          std::int64_t count,
                          Expected& out);

/// Folds integers, for every operation. Writes `count` elements to `out`.
void fold_integers(const Fold& rule,
                   std::span<const std::byte* const> in,
                   std::span<const std::byte> scalars,
                   std::int64_t count,
                   std::byte* out);

/// Fold `count` floating-point components. `out` already has room for them.
void fold_sums(const Fold& rule, const Contributions& terms, std::int64_t count, Expected& out);
void fold_products(const Fold& rule, const Contributions& terms, std::int64_t count, Expected& out);
void fold_extremes(const Fold& rule, const Contributions& terms, std::int64_t count, Expected& out);

/// Finds the extreme values of `count` pairs of a value and its index.
void fold_located(const Fold& rule, const Contributions& terms, std::int64_t count, Expected& out);

}  // namespace rankcheck::numerics
