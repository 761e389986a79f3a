#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace rankcheck::spec {

/// Maximum number of elements of a buffer; offsets in bytes then never overflow.
inline constexpr std::int64_t buffer_elements_max = std::int64_t{1} << 48;

/// Why these cannot be the sizes of `expected` parts, in words. Empty if they can.
[[nodiscard]] std::optional<std::string> why_counts_invalid(std::span<const std::int64_t> counts,
                                                            std::size_t expected);

}  // namespace rankcheck::spec
