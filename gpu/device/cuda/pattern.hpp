#pragma once

#include <cstdint>

#include "gpu/device/element.hpp"

namespace rankcheck::gpu::cuda {

/// What fills memory under test, as 64-bit words; for host and device. The first patterns are
/// fixed, because some faults show with runs of equal bits; the others are hashes of seed, number
/// and place, so that no two words are alike and none is right at another place.
struct Pattern {
  std::uint64_t seed = 0;
  /// Which pattern: 0 zeros, 1 ones, 2 and 3 alternating bits, 4 a walking one, then random ones.
  std::int64_t number = 0;
  /// Every bit the other way round.
  bool inverted = false;

  static constexpr std::int64_t fixed = 5;

  [[nodiscard]] RANKCHECK_HD std::uint64_t word(std::int64_t i) const {
    const std::uint64_t value = upright(i);
    return inverted ? ~value : value;
  }

 private:
  [[nodiscard]] RANKCHECK_HD std::uint64_t upright(std::int64_t i) const {
    switch (number) {
      case 0:
        return 0;
      case 1:
        return ~std::uint64_t{0};
      case 2:
        return 0xaaaaaaaaaaaaaaaaU;
      case 3:
        return 0x5555555555555555U;
      case 4:
        return std::uint64_t{1} << (i % 64);
      default:
        return mixed(mixed(mixed(seed) + static_cast<std::uint64_t>(number)) +
                     static_cast<std::uint64_t>(i));
    }
  }

  /// The finaliser of SplitMix64.
  [[nodiscard]] RANKCHECK_HD static std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  }
};

}  // namespace rankcheck::gpu::cuda
