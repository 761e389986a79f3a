#include "harness/case/drawing.hpp"

#include <algorithm>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness {

namespace {

constexpr std::array<std::int64_t, 16> primes{
    2, 3, 5, 7, 11, 13, 17, 19, 23, 31, 37, 61, 127, 251, 509, 1021};

}  // namespace

std::int64_t Drawing::limit() const {
  if (enabled(Feature::large) || large) return elements_max;
  return 1 + std::int64_t{63} * std::clamp(size, 0, 100) / 100;
}

std::int64_t Drawing::count(std::int64_t parts, std::int64_t limit) const {
  if (!has_data && enabled(Feature::empty)) return 0;
  std::int64_t count = 1;
  switch (random.below(8)) {
    case 0:
      break;
    case 1:
      count = random.between(parts - 1, parts + 1);
      break;
    case 2:
      count = parts * random.between(1, 3) + random.between(-1, 1);
      break;
    case 3:
      count = random.power_and_neighbours(limit);
      break;
    case 4: {
      const auto end = std::ranges::upper_bound(primes, limit);
      if (end != primes.begin()) {
        count = primes[spec::to_size(random.below(end - primes.begin()))];
      }
      break;
    }
    default:
      count = random.log_between(1, limit);
  }
  return std::clamp<std::int64_t>(count, 1, elements_max);
}

std::vector<std::int64_t> Drawing::counts(std::int64_t values,
                                          std::int64_t parts,
                                          std::int64_t limit) const {
  Drawing with_data = *this;
  with_data.has_data = true;
  Drawing without = *this;
  without.has_data = false;
  const std::int64_t base = with_data.count(parts, limit);
  const auto chosen = spec::to_size(random.below(values));
  const std::int64_t shape = random.below(6);
  std::vector<std::int64_t> counts(spec::to_size(values), 0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::int64_t& count = counts[i];
    if (shape == 0) count = base;                                       // equal
    if (shape == 1) count = i == chosen ? 0 : base;                     // one empty
    if (shape == 2) count = i == chosen ? 16 * base : random.below(2);  // one huge
    if (shape == 3) count = base - 1 + static_cast<std::int64_t>(i);    // increasing
    if (shape == 4) count = random.chance(64) ? base : 0;               // sparse
    if (shape == 5) count = without.count(parts, limit);                // random
  }
  if (!has_data && enabled(Feature::empty)) std::ranges::fill(counts, 0);
  if (has_data && std::ranges::count(counts, 0) == values) counts[chosen] = base;
  return counts;
}

std::int64_t Drawing::gap() const {
  return enabled(Feature::gap) ? random.between(1, 3) : 0;
}

}  // namespace rankcheck::harness
