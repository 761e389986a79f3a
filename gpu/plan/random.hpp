#pragma once

#include <cstdint>

namespace rankcheck::gpu::plan {

/// What SplitMix64 (Steele, Lea, Flood 2014) adds to its state before each number.
inline constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15U;

/// The number that belongs to a state of SplitMix64.
[[nodiscard]] constexpr std::uint64_t split_mix(std::uint64_t state) {
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebU;
  return state ^ (state >> 31);
}

/// A seed gives the same numbers on every machine and with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t next() {
    state_ += golden_gamma;
    return split_mix(state_);
  }

  /// A number in 0 … limit-1; limit > 0.
  [[nodiscard]] std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>(((next() >> 32) * limit) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace rankcheck::gpu::plan
