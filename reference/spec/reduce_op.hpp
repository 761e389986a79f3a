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
///
/// - `band`, `bor`, `bxor` combine integers bit by bit: and, or, exclusive or (MPI_BAND …).
/// - `land`, `lor`, `lxor` combine integers as truth values (MPI_LAND …). Every number except 0 is
///   true. A combination of two terms is 1 if it is true, otherwise 0. A single term is not
///   combined with anything, so it stays as it is: Open MPI and MPICH copy it, and MPI demands
///   nothing else.
/// - `maxloc`, `minloc` combine complex numbers as pairs (MPI_MAXLOC …): the real part is a value
///   and the imaginary part is its index. The result is the pair with the greatest (least) value.
///   If several pairs have this value, it is the one with the lowest index. -0 and +0 are equal.
/// - `compose` combines integers as maps. It is associative, but it does not commute: the maps are
///   applied in the order of the ranks, rank 0's first. In an integer of 2h bits, the upper half is
///   a and the lower half is b. They stand for the map of x to a x + b, modulo 2^h. The map (a1,
///   b1) followed by (a2, b2) is (a1 a2, a2 b1 + b2).
enum class ReduceOp : std::uint8_t {
  none,
  sum,
  prod,
  min,
  max,
  avg,
  premul_sum,
  band,
  bor,
  bxor,
  land,
  lor,
  lxor,
  maxloc,
  minloc,
  compose,
};

inline constexpr std::array<std::string_view, 16> reduce_op_names{"none",
                                                                  "sum",
                                                                  "prod",
                                                                  "min",
                                                                  "max",
                                                                  "avg",
                                                                  "premul_sum",
                                                                  "band",
                                                                  "bor",
                                                                  "bxor",
                                                                  "land",
                                                                  "lor",
                                                                  "lxor",
                                                                  "maxloc",
                                                                  "minloc",
                                                                  "compose"};

[[nodiscard]] constexpr std::string_view name(ReduceOp op) {
  return reduce_op_names[to_size(op)];
}

[[nodiscard]] constexpr std::optional<ReduceOp> reduce_op_named(std::string_view name) {
  for (std::size_t i = 0; i < reduce_op_names.size(); ++i) {
    if (reduce_op_names[i] == name) return static_cast<ReduceOp>(i);
  }
  return std::nullopt;
}

[[nodiscard]] constexpr bool is_bitwise(ReduceOp op) {
  return op == ReduceOp::band || op == ReduceOp::bor || op == ReduceOp::bxor;
}

[[nodiscard]] constexpr bool is_logical(ReduceOp op) {
  return op == ReduceOp::land || op == ReduceOp::lor || op == ReduceOp::lxor;
}

/// Whether the elements are pairs of a value and its index.
[[nodiscard]] constexpr bool is_located(ReduceOp op) {
  return op == ReduceOp::maxloc || op == ReduceOp::minloc;
}

/// Whether the order of the terms makes no difference, except for rounding.
[[nodiscard]] constexpr bool commutes(ReduceOp op) {
  return op != ReduceOp::compose;
}

/// Whether no step rounds, and every step is defined for all values, in any type.
[[nodiscard]] constexpr bool is_always_exact(ReduceOp op) {
  return op == ReduceOp::none || op == ReduceOp::min || op == ReduceOp::max || is_bitwise(op) ||
         is_logical(op) || is_located(op) || op == ReduceOp::compose;
}

/// Whether the contract defines this pair. Complex numbers can only be summed (as in CuPy) or be
/// pairs of a value and its index, and eight-bit floats can only be moved. Only integers have bits
/// and truth values, as in MPI.
[[nodiscard]] constexpr bool is_defined(ReduceOp op, Type type) {
  if (op == ReduceOp::none) return true;
  if (is_bitwise(op) || is_logical(op)) return is_integer(type);
  if (is_located(op)) return is_complex(type);
  if (op == ReduceOp::compose) return type == Type::int32 || type == Type::int64;
  if (is_f8(type)) return false;
  return !is_complex(type) || op == ReduceOp::sum;
}

}  // namespace rankcheck::spec
