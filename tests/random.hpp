#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/spec/split_mix.hpp"

namespace rankcheck::tests {

/// A random generator that gives the same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += spec::golden_gamma;
    return spec::split_mix(state_);
  }
  /// Returns a number from 0 to limit - 1.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(bits() % limit); }
  /// Returns a number in [-1, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1; }

 private:
  std::uint64_t state_;
};

}  // namespace rankcheck::tests
