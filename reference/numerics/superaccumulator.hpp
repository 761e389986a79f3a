#pragma once

#include <array>
#include <cstdint>

#include "reference/numerics/pair.hpp"

namespace rankcheck::numerics {

/// significand * 2^exponent: a number that may lie beyond the range of double.
struct Scaled {
  Pair significand;
  int exponent = 0;
};

/// The same number as a pair. Beyond the largest double, high is that double and low the rest,
/// possibly infinite.
[[nodiscard]] Pair to_pair(const Scaled& number);

/// The exact sum of finite doubles, in any order: a fixed-point number as wide as the range of
/// double, in limbs of 32 bits with room for 2^30 carries each.
class Superaccumulator {
 public:
  /// Back to zero; costs what was touched.
  void clear();
  /// Adds a finite value; at most 2^30 of them between two calls of clear.
  void add(double x);
  /// The sum to twice double precision; `significand.low` is zero where a double can hold it.
  [[nodiscard]] Scaled value() const;

 private:
  /// 2098 bits from the smallest subnormal to the largest double, and 30 bits for carries.
  static constexpr int limb_count = 68;

  std::array<std::int64_t, limb_count> limbs_{};
  int first_ = limb_count;
  int last_ = -1;
};

}  // namespace rankcheck::numerics
