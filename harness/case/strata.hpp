#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/base/random_source.hpp"

namespace rankcheck::harness {

/// A size of blocks at which libraries change their algorithm, protocol or segment.
struct Stratum {
  std::int64_t bytes;
  /// How often the size is drawn. Cases of larger sizes take longer, so they are rarer.
  int weight;
  /// The most bytes in the images of all members of such a case.
  std::int64_t images_max;
};

inline constexpr std::array<Stratum, 6> strata{{
    {std::int64_t{4} << 10, 128, std::int64_t{16} << 20},
    {std::int64_t{8} << 10, 80, std::int64_t{16} << 20},
    {std::int64_t{64} << 10, 16, std::int64_t{16} << 20},
    {std::int64_t{256} << 10, 5, std::int64_t{16} << 20},
    {std::int64_t{1} << 20, 2, std::int64_t{24} << 20},
    {std::int64_t{4} << 20, 1, std::int64_t{40} << 20},
}};

/// Draws one of these sizes. Returns its index.
[[nodiscard]] std::size_t draw_stratum(RandomSource& random);

/// A number of elements of a block at this size in bytes: one element less, the size itself, one
/// element more, or two or three segments of this size and a short last one.
[[nodiscard]] std::int64_t large_count(RandomSource& random,
                                       std::int64_t size,
                                       std::int64_t element_bytes);

}  // namespace rankcheck::harness
