#include "harness/strata.hpp"

#include <algorithm>

namespace rankcheck::harness {

namespace {

const Stratum& choose(RandomSource& random) {
  std::int64_t weights = 0;
  for (const Stratum& each : strata) weights += each.weight;
  std::int64_t left = random.below(weights);
  const auto* chosen = strata.begin();
  while (left >= chosen->weight) left -= (chosen++)->weight;
  return *chosen;
}

}  // namespace

std::int64_t large_count(RandomSource& random, std::int64_t element_bytes) {
  const std::int64_t limit = choose(random).bytes / element_bytes;
  const std::int64_t short_max = std::max<std::int64_t>(1, limit / 8);
  const std::int64_t kind = random.below(4);
  if (kind < 3) return limit - 1 + kind;
  return limit * random.between(2, 3) + random.between(1, short_max);
}

}  // namespace rankcheck::harness
