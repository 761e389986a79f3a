#pragma once

#include <cstdint>

namespace rankcheck::harness {

/// A 64-bit hash of both arguments, the same on every machine.
[[nodiscard]] std::uint64_t mix(std::uint64_t a, std::uint64_t b);

/// Random numbers from a 64-bit seed, with SplitMix64 and integer arithmetic. They are the same on
/// every machine.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : state_(seed) {}

  /// Returns 64 random bits.
  std::uint64_t next();
  /// A number in 0 … limit-1; limit > 0.
  std::int64_t below(std::int64_t limit);
  /// A number in least … most.
  std::int64_t between(std::int64_t least, std::int64_t most);
  /// Returns true with a probability of `weight` / 256.
  bool chance(int weight) { return below(256) < weight; }
  /// A number in least … most, with an evenly distributed logarithm; least > 0.
  std::int64_t log_between(std::int64_t least, std::int64_t most);
  /// A power of two up to `limit`, or a neighbour of one; limit > 0.
  std::int64_t power_and_neighbours(std::int64_t limit);

 private:
  std::uint64_t state_;
};

}  // namespace rankcheck::harness
