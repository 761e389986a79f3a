#pragma once

#include <cstddef>
#include <cstdint>

namespace rankcheck::tests {

/// A random generator that gives the same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Returns a number from 0 to limit - 1.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(bits() % limit); }
  /// Returns a number in [-1, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1; }

 private:
  std::uint64_t state_;
};

}  // namespace rankcheck::tests
