#include "harness/case/strata.hpp"

#include <algorithm>

namespace rankcheck::harness {

std::size_t draw_stratum(RandomSource& random) {
  std::int64_t weights = 0;
  for (const Stratum& each : strata) weights += each.weight;
  std::int64_t left = random.below(weights);
  std::size_t chosen = 0;
  while (left >= strata[chosen].weight) left -= strata[chosen++].weight;
  return chosen;
}

std::int64_t large_count(RandomSource& random, std::int64_t size, std::int64_t element_bytes) {
  const std::int64_t limit = size / element_bytes;
  const std::int64_t short_max = std::max<std::int64_t>(1, limit / 8);
  const std::int64_t kind = random.below(4);
  if (kind < 3) return limit - 1 + kind;
  return limit * random.between(2, 3) + random.between(1, short_max);
}

}  // namespace rankcheck::harness
