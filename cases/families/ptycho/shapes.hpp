#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/spec/scene.hpp"

/// Arrays of operators as arrays of several dimensions.
namespace rankcheck::cases {

/// One dimension of an array.
struct Dimension {
  /// The field of a case that gives the length. Empty if the length is always the same.
  std::string_view field;
  std::int64_t length = 0;
};

/// The dimensions of one copy of an array. Empty if a copy is a single number, or a tile.
[[nodiscard]] std::vector<Dimension> dimensions_of(const spec::Scene& scene, spec::Array array);

/// The shape of an array of `count` values. If there are several copies, such as one per position,
/// their number is the first dimension. Parts of different sizes, such as tiles, are concatenated
/// in one dimension.
[[nodiscard]] std::vector<std::int64_t> shape_of(const spec::Scene& scene,
                                                 spec::Array array,
                                                 std::int64_t count);

}  // namespace rankcheck::cases
