#include "reference/numerics/superaccumulator.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "reference/spec/to_size.hpp"

namespace rankcheck::numerics {

namespace {

constexpr int limb_bits = 32;
constexpr std::uint64_t limb_mask = 0xffffffff;
/// Exponent of the lowest bit: the smallest subnormal double.
constexpr int exponent_lowest = -1074;
/// Number of leading limbs that a pair needs. The first may hold a single bit; the other four hold
/// 128 bits, more than twice double precision.
constexpr int limbs_in_pair = 5;

}  // namespace

void Superaccumulator::clear() {
  for (int i = first_; i <= last_; ++i) limbs_[spec::to_size(i)] = 0;
  first_ = limb_count;
  last_ = -1;
}

void Superaccumulator::add(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto field = static_cast<int>(bits >> 52 & 0x7ff);
  std::uint64_t significand = bits & ((std::uint64_t{1} << 52) - 1);
  if (field != 0) significand |= std::uint64_t{1} << 52;
  const int position = field != 0 ? field - 1 : 0;
  const int limb = position / limb_bits;
  const int shift = position % limb_bits;
  // A significand of 53 bits, shifted by up to 31 bits, takes three limbs.
  const std::uint64_t low = significand << shift;
  const std::uint64_t high = shift > 0 ? significand >> (64 - shift) : 0;
  const std::array parts{static_cast<std::int64_t>(low & limb_mask),
                         static_cast<std::int64_t>(low >> limb_bits),
                         static_cast<std::int64_t>(high)};
  const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
  auto* out = limbs_.data() + limb;
  for (const std::int64_t part : parts) *out++ += sign * part;
  first_ = std::min(first_, limb);
  last_ = std::max(last_, limb + 2);
}

Scaled Superaccumulator::value() const {
  if (last_ < 0) return {};
  const auto end = spec::to_size(last_) + 1;
  // Propagates carries from the lowest limb up. The topmost digit keeps the sign of the whole sum.
  std::array<std::int64_t, limb_count + 1> digits{};
  std::int64_t carry = 0;
  for (int i = first_; i <= last_; ++i) {
    const std::int64_t limb = limbs_[spec::to_size(i)] + carry;
    carry = limb >> limb_bits;
    digits[spec::to_size(i)] = limb - carry * (std::int64_t{1} << limb_bits);
  }
  digits[end] = carry;
  const bool negative = carry < 0;
  if (negative) {
    std::int64_t borrow = 0;
    for (int i = first_; i <= last_; ++i) {
      auto& digit = digits[spec::to_size(i)];
      digit = -digit - borrow;
      borrow = digit < 0 ? 1 : 0;
      digit += borrow * (std::int64_t{1} << limb_bits);
    }
    digits[end] = -carry - borrow;
  }
  int top = last_ + 1;
  while (top > first_ && digits[spec::to_size(top)] == 0) --top;
  // The leading limbs as a number with a magnitude in [1, 2^32).
  Cascade sum;
  double weight = negative ? -1.0 : 1.0;
  for (int i = top; i >= std::max(first_, top - limbs_in_pair + 1); --i) {
    sum.add(weight * static_cast<double>(digits[spec::to_size(i)]));
    weight *= 0x1p-32;
  }
  return {two_sum(sum.sum, sum.error), exponent_lowest + limb_bits * top};
}

Pair to_pair(const Scaled& number) {
  const auto& [significand, exponent] = number;
  const double high = std::ldexp(significand.high, exponent);
  if (std::isfinite(high)) return {high, std::ldexp(significand.low, exponent)};
  const double largest = std::copysign(std::numeric_limits<double>::max(), high);
  const double rest = (significand.high - std::ldexp(largest, -exponent)) + significand.low;
  return {largest, std::ldexp(rest, exponent)};
}

}  // namespace rankcheck::numerics
