#pragma once

#include <cstdint>

#include "gpu/device/element.hpp"
#include "gpu/plan/random.hpp"

namespace rankcheck::gpu::cuda {

/// The content of memory under test, as 64-bit words, for host and device. The first patterns are
/// fixed, because some faults show only with runs of equal bits. The others are hashes of seed,
/// number and word index. So no two words are alike, and a word at a wrong place is found.
struct Pattern {
  std::uint64_t seed = 0;
  /// 0: zeros. 1: ones. 2 and 3: alternating bits. 4: a walking one. 5 and above: random words.
  std::int64_t number = 0;
  /// If true, every bit is inverted.
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

  [[nodiscard]] RANKCHECK_HD static std::uint64_t mixed(std::uint64_t x) {
    return plan::split_mix(x + plan::golden_gamma);
  }
};

}  // namespace rankcheck::gpu::cuda
