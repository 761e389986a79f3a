#pragma once

#include <cstddef>
#include <cstdint>

namespace rankcheck::harness {

/// Size of part `index` if `count` elements are cut into `parts` parts. The sizes differ by at most
/// one.
[[nodiscard]] constexpr std::int64_t nearly_equal_count(std::int64_t count,
                                                        std::size_t parts,
                                                        std::size_t index) {
  const auto n = static_cast<std::int64_t>(parts);
  return count / n + (static_cast<std::int64_t>(index) < count % n ? 1 : 0);
}

}  // namespace rankcheck::harness
