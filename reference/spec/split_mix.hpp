#pragma once

#include <cstdint>

/// SplitMix64 (Steele, Lea, Flood 2014), as everything that judges uses it. Code under test has its
/// own, in gpu/plan/random.hpp.
namespace rankcheck::spec {

/// What SplitMix64 adds to its state before each number.
inline constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15U;

/// The number that belongs to a state.
[[nodiscard]] constexpr std::uint64_t split_mix(std::uint64_t state) {
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebU;
  return state ^ (state >> 31);
}

}  // namespace rankcheck::spec
