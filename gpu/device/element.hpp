#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

#if defined(__CUDACC__)
#define RANKCHECK_HD __host__ __device__
#else
#define RANKCHECK_HD
#endif

// Only the device compiler knows this pragma.
#if defined(__CUDA_ARCH__)
#define RANKCHECK_UNROLLED _Pragma("unroll")
#else
#define RANKCHECK_UNROLLED
#endif

/// The arithmetic of every element type, written once for host and device.
namespace rankcheck::gpu::element {

/// IEEE binary16 as stored in memory.
enum class F16 : std::uint16_t {};

/// The upper half of an IEEE binary32 as stored in memory.
enum class BF16 : std::uint16_t {};

/// Returns the same bytes as another type of the same size.
template <class To, class From>
RANKCHECK_HD inline To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

/// Reads an element at any alignment.
template <class T>
RANKCHECK_HD inline T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// Writes an element at any alignment.
template <class T>
RANKCHECK_HD inline void store(std::byte* to, const T& value) {
  std::memcpy(to, &value, sizeof(T));
}

/// Returns a if the condition holds, else b. It has no branch, so that loops over elements
/// vectorise.
RANKCHECK_HD inline std::uint32_t select(bool condition, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

/// Converts without rounding.
RANKCHECK_HD inline float to_float(F16 half) {
  constexpr std::uint32_t exponent_mask = 0x1fU << 23;
  const auto bits = static_cast<std::uint32_t>(half);
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t magnitude = (bits & 0x7fffU) << 13;
  const std::uint32_t exponent = magnitude & exponent_mask;
  const std::uint32_t normal = magnitude + (112U << 23);
  const std::uint32_t special = normal + (112U << 23);
  const float subnormal = bits_as<float>(magnitude + (113U << 23)) - bits_as<float>(113U << 23);
  const std::uint32_t finite = select(exponent == 0, bits_as<std::uint32_t>(subnormal), normal);
  return bits_as<float>(sign | select(exponent == exponent_mask, special, finite));
}

/// Converts without rounding.
RANKCHECK_HD inline float to_float(BF16 half) {
  return bits_as<float>(static_cast<std::uint32_t>(half) << 16);
}

/// Rounds to nearest even. NaN stays NaN; a value that is too large becomes infinite.
RANKCHECK_HD inline F16 to_f16(float value) {
  constexpr std::uint32_t infinity = 0x7f800000U;
  constexpr std::uint32_t too_large = 143U << 23;
  constexpr std::uint32_t smallest_normal = 113U << 23;
  constexpr std::uint32_t half_ulp_shift = 126U << 23;
  const auto bits = bits_as<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  // Adding 0.5 rounds to the nearest multiple of 2^-24, which ends up in the low bits of the
  // significand.
  const std::uint32_t subnormal =
      bits_as<std::uint32_t>(bits_as<float>(magnitude) + bits_as<float>(half_ulp_shift)) -
      half_ulp_shift;
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
  const std::uint32_t special = select(magnitude > infinity, 0x7e00U, 0x7c00U);
  const std::uint32_t finite = select(magnitude < smallest_normal, subnormal, normal);
  const std::uint32_t result = select(magnitude >= too_large, special, finite);
  return static_cast<F16>((bits >> 16 & 0x8000U) | result);
}

/// Returns to_float(to_f16(value)) without making the F16. Only NaN payloads may differ.
RANKCHECK_HD inline float round_to_f16(float value) {
  constexpr std::uint32_t infinity = 0x7f800000U;
  constexpr std::uint32_t too_large = 143U << 23;
  constexpr std::uint32_t smallest_normal = 113U << 23;
  const auto bits = bits_as<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  // Floats around 0.5 are multiples of 2^-24, which is the spacing of f16's subnormals.
  const auto subnormal = bits_as<std::uint32_t>((bits_as<float>(magnitude) + 0.5F) - 0.5F);
  const std::uint32_t normal = (magnitude + 0xfffU + ((magnitude >> 13) & 1U)) & ~0x1fffU;
  const std::uint32_t special = select(magnitude > infinity, 0x7fc00000U, infinity);
  const std::uint32_t finite = select(magnitude < smallest_normal, subnormal, normal);
  return bits_as<float>((bits & 0x80000000U) | select(finite >= too_large, special, finite));
}

/// Rounds to nearest even. NaN stays NaN; a value that is too large becomes infinite.
RANKCHECK_HD inline BF16 to_bf16(float value) {
  const auto bits = bits_as<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40U;
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<BF16>(select(is_nan, quiet, rounded));
}

/// How to compute with a stored type. `Value` holds it exactly, and `narrow` rounds to it.
template <class T>
struct Arithmetic {
  using Value = T;
  RANKCHECK_HD static Value widen(T stored) { return stored; }
  RANKCHECK_HD static T narrow(Value value) { return value; }
  RANKCHECK_HD static Value round(Value value) { return value; }
};

template <>
struct Arithmetic<F16> {
  using Value = float;
  RANKCHECK_HD static Value widen(F16 stored) { return to_float(stored); }
  RANKCHECK_HD static F16 narrow(Value value) { return to_f16(value); }
  RANKCHECK_HD static Value round(Value value) { return round_to_f16(value); }
};

template <>
struct Arithmetic<BF16> {
  using Value = float;
  RANKCHECK_HD static Value widen(BF16 stored) { return to_float(stored); }
  RANKCHECK_HD static BF16 narrow(Value value) { return to_bf16(value); }
  RANKCHECK_HD static Value round(Value value) { return to_float(to_bf16(value)); }
};

/// A value and its index, as the two components of a complex number.
template <class V>
struct Located {
  V value;
  V index;
};

/// Returns a + b; integers wrap.
template <class V>
RANKCHECK_HD inline V add(V a, V b) {
  if constexpr (std::is_integral_v<V>) {
    using U = std::make_unsigned_t<V>;
    return static_cast<V>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}

/// Returns a * b; integers wrap.
template <class V>
RANKCHECK_HD inline V multiply(V a, V b) {
  if constexpr (std::is_integral_v<V>) {
    using U = std::make_unsigned_t<V>;
    return static_cast<V>(static_cast<U>(static_cast<U>(a) * static_cast<U>(b)));
  } else {
    return a * b;
  }
}

/// Returns a / n for n > 0; integers truncate toward zero.
template <class V>
RANKCHECK_HD inline V divide(V a, int n) {
  if constexpr (std::is_floating_point_v<V>) {
    return a / static_cast<V>(n);
  } else if constexpr (std::is_signed_v<V>) {
    return static_cast<V>(static_cast<std::int64_t>(a) / n);
  } else {
    return static_cast<V>(static_cast<std::uint64_t>(a) / static_cast<std::uint64_t>(n));
  }
}

/// Whether the sign bit of a floating-point value is set.
template <class V>
RANKCHECK_HD inline bool is_negative(V value) {
  if constexpr (sizeof(V) == sizeof(std::uint32_t)) {
    return bits_as<std::uint32_t>(value) >> 31 != 0;
  } else {
    return bits_as<std::uint64_t>(value) >> 63 != 0;
  }
}

/// std::isnan(), for device code, too.
RANKCHECK_HD inline bool is_nan(float value) {
  return value != value;
}
RANKCHECK_HD inline bool is_nan(double value) {
  return value != value;
}

/// Returns the smaller value. The result is NaN only if both are NaN. -0 is smaller than +0, so
/// that the order of the arguments has no effect.
template <class V>
RANKCHECK_HD inline V minimum(V a, V b) {
  if constexpr (std::is_integral_v<V>) {
    return b < a ? b : a;
  } else {
    const bool takes_a = (a < b) | is_nan(b) | ((a == b) & is_negative(a));
    return takes_a ? a : b;
  }
}

/// Returns the larger value. The result is NaN only if both are NaN. +0 is larger than -0.
template <class V>
RANKCHECK_HD inline V maximum(V a, V b) {
  if constexpr (std::is_integral_v<V>) {
    return a < b ? b : a;
  } else {
    const bool takes_a = (b < a) | is_nan(b) | ((a == b) & !is_negative(a));
    return takes_a ? a : b;
  }
}

/// One step of a bitwise or logical reduction of integers. The logical ones return 0 or 1.
template <spec::ReduceOp op, class V>
RANKCHECK_HD inline V combine_bits(V a, V b) {
  if constexpr (op == spec::ReduceOp::band) return static_cast<V>(a & b);
  if constexpr (op == spec::ReduceOp::bor) return static_cast<V>(a | b);
  if constexpr (op == spec::ReduceOp::bxor) return static_cast<V>(a ^ b);
  const bool is_a = a != 0;
  const bool is_b = b != 0;
  if constexpr (op == spec::ReduceOp::land) return static_cast<V>(is_a & is_b);
  if constexpr (op == spec::ReduceOp::lor) return static_cast<V>(is_a | is_b);
  return static_cast<V>(is_a != is_b);
}

/// Returns the pair with the greatest (least) value. If both values are equal, it is the pair with
/// the lower index.
template <spec::ReduceOp op, class V>
RANKCHECK_HD inline Located<V> combine_located(const Located<V>& a, const Located<V>& b) {
  const bool is_better = op == spec::ReduceOp::maxloc ? a.value < b.value : b.value < a.value;
  const bool takes_b = is_better | ((a.value == b.value) & (b.index < a.index));
  return takes_b ? b : a;
}

/// Returns the map `first` followed by the map `second`, see spec::ReduceOp.
template <class V>
RANKCHECK_HD inline V compose(V first, V second) {
  using U = std::make_unsigned_t<V>;
  constexpr int half = 4 * static_cast<int>(sizeof(V));
  constexpr U lower = static_cast<U>(~U{0}) >> half;
  const U a1 = static_cast<U>(first) >> half;
  const U b1 = static_cast<U>(first) & lower;
  const U a2 = static_cast<U>(second) >> half;
  const U b2 = static_cast<U>(second) & lower;
  const U a = a1 * a2;
  const U b = a2 * b1 + b2;
  return static_cast<V>((a << half) | (b & lower));
}

/// One step of a reduction. For avg and premul_sum it adds.
template <spec::ReduceOp op, class V>
RANKCHECK_HD inline V combine(V a, V b) {
  if constexpr (spec::is_located(op)) {
    return combine_located<op>(a, b);
  } else {
    if constexpr (spec::is_bitwise(op) || spec::is_logical(op)) return combine_bits<op>(a, b);
    if constexpr (op == spec::ReduceOp::compose) return compose(a, b);
    if constexpr (op == spec::ReduceOp::prod) return multiply(a, b);
    if constexpr (op == spec::ReduceOp::min) return minimum(a, b);
    if constexpr (op == spec::ReduceOp::max) return maximum(a, b);
    return add(a, b);
  }
}

/// The operation that combines two partial results: sum for avg and premul_sum.
[[nodiscard]] constexpr spec::ReduceOp pairwise(spec::ReduceOp op) {
  return op == spec::ReduceOp::avg || op == spec::ReduceOp::premul_sum ? spec::ReduceOp::sum : op;
}

/// Calls visitor(T{}) with the stored type of one component. Returns false if the type has no
/// arithmetic and is only moved.
template <class Visitor>
bool visit_component(spec::Type type, Visitor&& visitor) {
  switch (spec::component(type)) {
    case spec::Type::int8:
      return std::forward<Visitor>(visitor)(std::int8_t{}), true;
    case spec::Type::uint8:
      return std::forward<Visitor>(visitor)(std::uint8_t{}), true;
    case spec::Type::int32:
      return std::forward<Visitor>(visitor)(std::int32_t{}), true;
    case spec::Type::uint32:
      return std::forward<Visitor>(visitor)(std::uint32_t{}), true;
    case spec::Type::int64:
      return std::forward<Visitor>(visitor)(std::int64_t{}), true;
    case spec::Type::uint64:
      return std::forward<Visitor>(visitor)(std::uint64_t{}), true;
    case spec::Type::f16:
      return std::forward<Visitor>(visitor)(F16{}), true;
    case spec::Type::bf16:
      return std::forward<Visitor>(visitor)(BF16{}), true;
    case spec::Type::f32:
      return std::forward<Visitor>(visitor)(float{}), true;
    case spec::Type::f64:
      return std::forward<Visitor>(visitor)(double{}), true;
    default:
      return false;
  }
}

/// Calls visitor(std::integral_constant<ReduceOp, op>) if the op is among `ops`. Returns whether it
/// is.
template <spec::ReduceOp... ops, class Visitor>
bool visit_op(spec::ReduceOp op, Visitor&& visitor) {
  return ((op == ops && (visitor(std::integral_constant<spec::ReduceOp, ops>{}), true)) || ...);
}

/// Calls visitor(std::integral_constant<ReduceOp, op>) with the op that combines two elements of
/// the stored type T. Only integers have bitwise and logical ops, and only those of 32 and 64 bits
/// have compose.
template <class T, class Visitor>
void visit_pairwise(spec::ReduceOp op, Visitor&& visitor) {
  using spec::ReduceOp;
  if constexpr (std::is_integral_v<T>) {
    const bool is_visited = visit_op<ReduceOp::band,
                                     ReduceOp::bor,
                                     ReduceOp::bxor,
                                     ReduceOp::land,
                                     ReduceOp::lor,
                                     ReduceOp::lxor>(op, visitor);
    if (is_visited) return;
    if constexpr (sizeof(T) >= sizeof(std::int32_t)) {
      if (visit_op<ReduceOp::compose>(op, visitor)) return;
    }
  }
  if (!visit_op<ReduceOp::prod, ReduceOp::min, ReduceOp::max>(op, visitor))
    visit_op<ReduceOp::sum>(ReduceOp::sum, visitor);
}

/// The number of values that one element is combined as: a complex number is a pair if the op
/// locates values, otherwise two components.
[[nodiscard]] constexpr int parts_of(spec::Type type, spec::ReduceOp op) {
  return spec::is_complex(type) && !spec::is_located(op) ? 2 : 1;
}

/// Calls visitor(T{}, std::integral_constant<ReduceOp, op>) with a pair of the type's components
/// and an op that locates values.
template <class Visitor>
void visit_located(spec::Type type, spec::ReduceOp op, Visitor&& visitor) {
  const auto visit = [&](auto located) {
    visit_op<spec::ReduceOp::maxloc, spec::ReduceOp::minloc>(
        op, [&](auto locating) { visitor(located, locating); });
  };
  if (type == spec::Type::complex64) return visit(Located<float>{});
  if (type == spec::Type::complex128) return visit(Located<double>{});
}

/// Calls visitor(T{}, std::integral_constant<ReduceOp, op>) with the type of the values that are
/// combined, and the op that combines two of them. There is no call if the type has no arithmetic.
template <class Visitor>
void visit_values(spec::Type type, spec::ReduceOp op, Visitor&& visitor) {
  if (spec::is_located(op)) return visit_located(type, op, visitor);
  visit_component(type, [&](auto stored) {
    visit_pairwise<decltype(stored)>(op, [&](auto pairwise) { visitor(stored, pairwise); });
  });
}

}  // namespace rankcheck::gpu::element
