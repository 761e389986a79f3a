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

/// What the kinds of fold have in common. Inside numerics only.
namespace rankcheck::numerics {

/// Components that are decoded and folded together: they fit the first-level cache.
inline constexpr std::int64_t run_components = 256;

/// The contributions of all ranks to a run of components.
struct Contributions {
  spec::Type component = spec::Type::f32;
  std::span<const std::byte* const> in;
  std::span<const std::byte> scalars;

  /// Rank q's components first … first + count - 1.
  void read(std::size_t q, std::int64_t first, std::int64_t count, double* out) const {
    load(component, in[q] + first * spec::info(component).bytes, count, out);
  }
  [[nodiscard]] double scalar(std::size_t q) const {
    const auto bytes = static_cast<std::size_t>(spec::info(component).bytes);
    return to_double(component, scalars.data() + q * bytes);
  }
};

/// An upper bound of |(1 + d1)…(1 + dk) - 1| where each factor or its inverse differs from one by
/// at most u. At most Higham's gamma_k, and valid for every k.
[[nodiscard]] inline double growth(double k, double unit_roundoff) {
  return std::expm1(-k * std::log1p(-unit_roundoff));
}

/// Bounds are computed in double: one plus what their own roundings can amount to.
[[nodiscard]] inline double slack(int ranks) {
  return 1 + (ranks + 64) * 0x1p-52;
}

/// Whether `terms` positive numbers whose exact sum or product is `magnitude` may overflow in some
/// order, `rounded` times rounded before the last step. Terms of the other sign (or factors below
/// one) cannot help: rounding is monotone. Admits what `magnitude` itself lost in double.
[[nodiscard]] inline bool may_overflow(const Format& format,
                                       double magnitude,
                                       int terms,
                                       int rounded) {
  const double own = terms > 1 ? terms * 0x1p-53 : 0;
  const double relative = growth(std::max(rounded, 0), format.unit_roundoff) + own;
  return magnitude * (1 + relative) >= format.overflow;
}

/// Expects one value without error: its own class only.
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

/// Demands the sign of expected zeros, where the inputs alone decide it (ZeroRule::ieee).
void demand_signs_of_zero(const Fold& rule,
                          const Contributions& terms,
                          std::int64_t count,
                          Expected& out);

/// Integers, every operation.
void fold_integers(const Fold& rule,
                   std::span<const std::byte* const> in,
                   std::span<const std::byte> scalars,
                   std::int64_t count,
                   std::byte* out);

/// Floating point; `count` components, `out` already has room for them.
void fold_sums(const Fold& rule, const Contributions& terms, std::int64_t count, Expected& out);
void fold_products(const Fold& rule, const Contributions& terms, std::int64_t count, Expected& out);
void fold_extremes(const Fold& rule, const Contributions& terms, std::int64_t count, Expected& out);

}  // namespace rankcheck::numerics
