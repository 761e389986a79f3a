#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cases/reconstruct/reconstruction.hpp"

/// Compares steps from the same state on other devices.
namespace rankcheck::cases::reconstruct {

/// Largest difference between two sums of `terms` numbers in single precision, added in any order,
/// relative to the sum of their magnitudes. Each sum is off by up to (terms - 1) roundings of 2^-24
/// (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
[[nodiscard]] inline double apart_at_most(std::int64_t terms) {
  return 2 * static_cast<double>(terms - 1) * 0x1p-24;
}

/// Returns the largest difference between two arrays, relative to the largest value of `a`.
[[nodiscard]] inline double apart(const std::vector<std::complex<float>>& a,
                                  const std::vector<std::complex<float>>& b) {
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max<double>(largest, std::abs(a[i]));
    const double here = std::abs(std::complex<double>(a[i]) - std::complex<double>(b[i]));
    // std::max() would drop a NaN.
    if (std::isnan(here)) return here;
    difference = std::max(difference, here);
  }
  return difference / largest;
}

/// Expects that a step with `positions` positions differs from the same step on one device only by
/// the order of sums over positions. All partitions compute the same bits for each frame. The
/// largest value replaces the sum of the terms' magnitudes, which a state does not hold; README.md
/// explains this and lists measured values.
inline void expect_same_step(const State& state, const State& alone, std::int64_t positions) {
  ASSERT_EQ(state.object.size(), alone.object.size());
  ASSERT_EQ(state.probe.size(), alone.probe.size());
  EXPECT_LE(apart(state.object, alone.object), apart_at_most(positions));
  EXPECT_LE(apart(state.probe, alone.probe), apart_at_most(positions));
}

}  // namespace rankcheck::cases::reconstruct
