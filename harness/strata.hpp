#pragma once

#include <array>
#include <cstdint>

#include "harness/random_source.hpp"

namespace rankcheck::harness {

/// A size of blocks at which libraries change their algorithm, protocol or segment.
struct Stratum {
  std::int64_t bytes;
  /// How often the size is drawn. Cases of larger sizes take longer, so they are rarer.
  int weight;
};

inline constexpr std::array<Stratum, 6> strata{{
    {std::int64_t{4} << 10, 32},
    {std::int64_t{8} << 10, 23},
    {std::int64_t{64} << 10, 8},
    {std::int64_t{256} << 10, 4},
    {std::int64_t{1} << 20, 2},
    {std::int64_t{4} << 20, 1},
}};

/// A number of elements of a block at one of these sizes: one element less, the size itself, one
/// element more, or two or three segments of this size and a short last one.
[[nodiscard]] std::int64_t large_count(RandomSource& random, std::int64_t element_bytes);

}  // namespace rankcheck::harness
