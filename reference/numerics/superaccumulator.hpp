#pragma once

#include <array>
#include <cstdint>

#include "reference/numerics/pair.hpp"

namespace rankcheck::numerics {

/// The number significand * 2^exponent, which may lie beyond the range of double.
struct Scaled {
  Pair significand;
  int exponent = 0;
};

/// The same number as a pair. If it lies beyond the largest double, `high` is the largest double
/// with its sign, and `low` is the rest, which may be infinite.
[[nodiscard]] Pair to_pair(const Scaled& number);

/// The exact sum of finite doubles, added in any order. It is a fixed-point number as wide as the
/// range of double, in limbs of 32 bits. Each limb has room for the carries of 2^30 additions.
class Superaccumulator {
 public:
  /// Sets the sum back to zero. The cost grows with the number of limbs in use.
  void clear();
  /// Adds a finite value. At most 2^30 values may be added between two calls of clear.
  void add(double x);
  /// The sum to twice double precision. `significand.low` is zero if a double can hold the sum.
  [[nodiscard]] Scaled value() const;

 private:
  /// 2098 bits from the smallest subnormal to the largest double, and 30 bits for carries.
  static constexpr int limb_count = 68;

  std::array<std::int64_t, limb_count> limbs_{};
  int first_ = limb_count;
  int last_ = -1;
};

}  // namespace rankcheck::numerics
