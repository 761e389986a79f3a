#include "reference/spec/sizes.hpp"

#include <algorithm>

namespace rankcheck::spec {

std::optional<std::string> why_counts_invalid(std::span<const std::int64_t> counts,
                                              std::size_t expected) {
  if (counts.size() != expected) {
    return "counts: got a list of " + std::to_string(counts.size()) + ", expected " +
           std::to_string(expected) + " values";
  }
  std::int64_t total = 0;
  for (const std::int64_t count : counts) {
    if (count < 0) return "counts: got " + std::to_string(count) + ", expected no negative value";
    total += std::min(count, buffer_elements_max);
    if (total > buffer_elements_max) return "counts: their sum is too large";
  }
  return std::nullopt;
}

}  // namespace rankcheck::spec
