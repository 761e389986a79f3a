#include <algorithm>
#include <cstring>

#include "reference/numerics/folds.hpp"
#include "reference/numerics/format.hpp"

namespace rankcheck::numerics {

namespace {

using spec::ReduceOp;

template <typename T>
T element(const std::byte* run, std::int64_t index) {
  T value;
  std::memcpy(&value, run + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

/// Combines bits, or truth values as 0 or 1.
template <typename T>
T combined_bits(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::band:
      return static_cast<T>(a & b);
    case ReduceOp::bor:
      return static_cast<T>(a | b);
    case ReduceOp::bxor:
      return static_cast<T>(a ^ b);
    case ReduceOp::land:
      return static_cast<T>(a != 0 && b != 0);
    case ReduceOp::lor:
      return static_cast<T>(a != 0 || b != 0);
    default:
      return static_cast<T>((a != 0) != (b != 0));
  }
}

/// The map `first` followed by the map `second`: x -> a2 (a1 x + b1) + b2. The upper half of an
/// integer is a, the lower half is b.
template <typename T>
T composed(T first, T second) {
  constexpr int half = 4 * static_cast<int>(sizeof(T));
  constexpr std::uint64_t modulus = std::uint64_t{1} << half;
  const auto upper = [](T x) { return (static_cast<std::uint64_t>(x) >> half) % modulus; };
  const auto lower = [](T x) { return static_cast<std::uint64_t>(x) % modulus; };
  const std::uint64_t a = upper(first) * upper(second) % modulus;
  const std::uint64_t b = (upper(second) * lower(first) + lower(second)) % modulus;
  return static_cast<T>(a * modulus + b);
}

/// Combines with wrapping arithmetic: modulo 2^64 first, then modulo 2^k by the conversion to T.
template <typename T>
T combined(ReduceOp op, T a, T b) {
  if (spec::is_bitwise(op) || spec::is_logical(op)) return combined_bits(op, a, b);
  switch (op) {
    case ReduceOp::compose:
      return composed(a, b);
    case ReduceOp::min:
      return std::min(a, b);
    case ReduceOp::max:
      return std::max(a, b);
    case ReduceOp::prod:
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    default:
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
}

/// For avg, divides the wrapped sum by the number of ranks, toward zero.
template <typename T>
T finished(const Fold& rule, T value) {
  if (rule.op != ReduceOp::avg) return value;
  if constexpr (static_cast<T>(-1) < T{0}) {
    return static_cast<T>(static_cast<std::int64_t>(value) / rule.ranks);
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(value) /
                          static_cast<std::uint64_t>(rule.ranks));
  }
}

template <typename T>
void fold_as(const Fold& rule,
             std::span<const std::byte* const> in,
             std::span<const std::byte> scalars,
             std::int64_t count,
             std::byte* out) {
  const auto term = [&](std::size_t q, std::int64_t i) {
    const T x = element<T>(in[q], i);
    if (rule.op != ReduceOp::premul_sum) return x;
    return combined(ReduceOp::prod, x, element<T>(scalars.data(), static_cast<std::int64_t>(q)));
  };
  for (std::int64_t i = 0; i < count; ++i) {
    T value = term(0, i);
    for (std::size_t q = 1; q < in.size(); ++q) value = combined(rule.op, value, term(q, i));
    value = finished(rule, value);
    std::memcpy(out + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

}  // namespace

void fold_integers(const Fold& rule,
                   std::span<const std::byte* const> in,
                   std::span<const std::byte> scalars,
                   std::int64_t count,
                   std::byte* out) {
  visit_integer(rule.type,
                [&](auto zero) { fold_as<decltype(zero)>(rule, in, scalars, count, out); });
}

}  // namespace rankcheck::numerics
