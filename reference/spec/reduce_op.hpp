#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "reference/spec/type.hpp"

namespace rankcheck::spec {

/// How the elements of all ranks become one. `none`: the operation moves data only.
enum class ReduceOp : std::uint8_t { none, sum, prod, min, max, avg, premul_sum };

/// What min and max do with NaN; every backend declares its rule and is held to it.
enum class NanRule : std::uint8_t { drops, propagates, unspecified };

/// What reductions of floats do with the sign of zero; every backend declares its rule and is held
/// to it. `ieee`: as IEEE 754 says for rounding to nearest. The sum of nothing but -0 is -0, any
/// other exact sum of 0 is +0, the sign of a product is that of its factors, and min and max return
/// one of the inputs. Of zeros of both signs, either is their min and their max.
enum class ZeroRule : std::uint8_t { ieee, unspecified };

inline constexpr std::array<std::string_view, 7> reduce_op_names{
    "none", "sum", "prod", "min", "max", "avg", "premul_sum"};

[[nodiscard]] constexpr std::string_view name(ReduceOp op) {
  return reduce_op_names[static_cast<std::size_t>(op)];
}

[[nodiscard]] constexpr std::optional<ReduceOp> reduce_op_named(std::string_view name) {
  for (std::size_t i = 0; i < reduce_op_names.size(); ++i) {
    if (reduce_op_names[i] == name) return static_cast<ReduceOp>(i);
  }
  return std::nullopt;
}

/// Whether the contract gives this pair a meaning: complex numbers are only summed (as in CuPy),
/// eight-bit floats only moved.
[[nodiscard]] constexpr bool is_defined(ReduceOp op, Type type) {
  if (op == ReduceOp::none) return true;
  if (is_f8(type)) return false;
  return !is_complex(type) || op == ReduceOp::sum;
}

}  // namespace rankcheck::spec
