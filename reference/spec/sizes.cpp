#include "reference/spec/sizes.hpp"

#include <algorithm>

namespace rankcheck::spec {

std::optional<std::string> why_counts_invalid(std::span<const std::int64_t> counts,
                                              std::size_t expected) {
  if (counts.size() != expected) {
    return "counts: expected " + std::to_string(expected) + " values, got " +
           std::to_string(counts.size());
  }
  std::int64_t total = 0;
  for (const std::int64_t count : counts) {
    if (count < 0) return "counts: expected no negative value, got " + std::to_string(count);
    total += std::min(count, buffer_elements_max);
    if (total > buffer_elements_max) return "counts: their sum is too large";
  }
  return std::nullopt;
}

}  // namespace rankcheck::spec
