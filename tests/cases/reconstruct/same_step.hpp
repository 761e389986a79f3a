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

/// Steps from the same state over other devices.
namespace rankcheck::cases::reconstruct {

/// How far two sums of `terms` numbers in single precision, in any order, may be apart, by the sum
/// of their magnitudes: each is off by (terms - 1) roundings of 2^-24 (Higham, Accuracy and
/// Stability of Numerical Algorithms, 4.2).
[[nodiscard]] inline double apart_at_most(std::int64_t terms) {
  return 2 * static_cast<double>(terms - 1) * 0x1p-24;
}

/// The largest difference of two arrays, by the largest value.
[[nodiscard]] inline double apart(const std::vector<std::complex<float>>& a,
                                  const std::vector<std::complex<float>>& b) {
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max<double>(largest, std::abs(a[i]));
    const double here = std::abs(std::complex<double>(a[i]) - std::complex<double>(b[i]));
    // The larger of two, one of which is no number, would be the other.
    if (std::isnan(here)) return here;
    difference = std::max(difference, here);
  }
  return difference / largest;
}

/// Partitions of a step of so many positions differ by nothing but the order of sums over these: of
/// every frame, all compute the same bits. The largest value stands for the sum of the terms'
/// magnitudes, which a state does not have: README says so, and what is measured.
inline void expect_same_step(const State& state, const State& alone, std::int64_t positions) {
  ASSERT_EQ(state.object.size(), alone.object.size());
  ASSERT_EQ(state.probe.size(), alone.probe.size());
  EXPECT_LE(apart(state.object, alone.object), apart_at_most(positions));
  EXPECT_LE(apart(state.probe, alone.probe), apart_at_most(positions));
}

}  // namespace rankcheck::cases::reconstruct
