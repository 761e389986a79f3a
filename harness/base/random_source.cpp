#include "harness/base/random_source.hpp"

#include <algorithm>
#include <bit>

#include "reference/spec/assert.hpp"
#include "reference/spec/split_mix.hpp"

namespace rankcheck::harness {

namespace {

/// Number of bits of a positive number.
std::int64_t width(std::int64_t number) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(number)));
}

}  // namespace

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  RandomSource random(a);
  return RandomSource(random.next() ^ b).next();
}

std::uint64_t RandomSource::next() {
  state_ += spec::golden_gamma;
  return spec::split_mix(state_);
}

std::int64_t RandomSource::below(std::int64_t limit) {
  return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(limit));
}

std::int64_t RandomSource::between(std::int64_t least, std::int64_t most) {
  return least + below(most - least + 1);
}

std::int64_t RandomSource::log_between(std::int64_t least, std::int64_t most) {
  const std::int64_t bits = between(width(least), width(most));
  RANKCHECK_ASSERT(bits > 0);
  const std::int64_t first = std::int64_t{1} << (bits - 1);
  return between(std::max(first, least), std::min(2 * first - 1, most));
}

std::int64_t RandomSource::power_and_neighbours(std::int64_t limit) {
  // One draw per statement: C++ does not say which operand of a sum comes first.
  const std::int64_t power = std::int64_t{1} << below(width(limit));
  return power + between(-1, 1);
}

}  // namespace rankcheck::harness
