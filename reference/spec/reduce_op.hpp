#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "reference/spec/to_size.hpp"
#include "reference/spec/type.hpp"

namespace rankcheck::spec {

/// How the elements of all ranks become one element. `none`: the operation only moves data.
enum class ReduceOp : std::uint8_t { none, sum, prod, min, max, avg, premul_sum };

inline constexpr std::array<std::string_view, 7> reduce_op_names{
    "none", "sum", "prod", "min", "max", "avg", "premul_sum"};

[[nodiscard]] constexpr std::string_view name(ReduceOp op) {
  return reduce_op_names[to_size(op)];
}

[[nodiscard]] constexpr std::optional<ReduceOp> reduce_op_named(std::string_view name) {
  for (std::size_t i = 0; i < reduce_op_names.size(); ++i) {
    if (reduce_op_names[i] == name) return static_cast<ReduceOp>(i);
  }
  return std::nullopt;
}

/// Whether the contract defines this pair. Complex numbers can only be summed (as in CuPy), and
/// eight-bit floats can only be moved.
[[nodiscard]] constexpr bool is_defined(ReduceOp op, Type type) {
  if (op == ReduceOp::none) return true;
  if (is_f8(type)) return false;
  return !is_complex(type) || op == ReduceOp::sum;
}

}  // namespace rankcheck::spec
