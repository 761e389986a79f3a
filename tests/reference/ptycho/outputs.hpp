#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/bounded_array.hpp"

/// What the tests of operators share: arrays in, values out.
namespace rankcheck::reference {

using std::literals::complex_literals::operator""i;
using Values = std::vector<std::complex<double>>;

/// Returns a problem with these sizes and `counts[r]` positions on rank r. All arrays are empty.
inline OperatorArrays empty_arrays(const spec::Scene& scene,
                                   const std::vector<std::int64_t>& counts) {
  OperatorArrays in;
  in.scene = scene;
  in.counts = counts;
  for (const std::int64_t count : counts) in.positions += count;
  in.unit = 0x1p-24;
  return in;
}

/// Returns what an operator leaves, beside the inputs that it leaves alone.
inline OperatorArrays outputs_of(Operator operation, const OperatorArrays& in) {
  OperatorArrays out = in;
  operation(in, out);
  return out;
}

/// Expects values that are off by roundings of double precision at most.
inline void expect_near(const Values& got, const Values& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t at = 0; at < got.size(); ++at) {
    EXPECT_LE(std::abs(got[at] - expected[at]), 1e-13) << at;
  }
}

/// Expects a bound that covers `error` but hardly more: some roundings in single precision.
inline void expect_bound(double bound, double error) {
  EXPECT_GE(bound, error);
  EXPECT_LT(bound, error + 1e-4);
}

/// Returns exp(2 pi i (k p + l q) / width) at each pixel (p, q).
inline Values plane_wave(int width, int k, int l) {
  Values wave;
  for (int at = 0; at < width * width; ++at) {
    const int row = at / width;
    const int col = at % width;
    const double turns = static_cast<double>(k * row + l * col) / width;
    wave.push_back(std::polar(1.0, 2 * std::numbers::pi * turns));
  }
  return wave;
}

/// Returns a problem with one position and one frame of waves, in double precision.
inline OperatorArrays frame_of(int width, const Values& waves) {
  OperatorArrays in =
      empty_arrays({.rows = width, .cols = width, .window = width, .detector = width}, {1});
  in.unit = 0x1p-53;
  in.make(spec::Array::waves).values = waves;
  in.make(spec::Array::positions);
  return in;
}

inline Values times(std::complex<double> factor, Values values) {
  for (auto& value : values) value *= factor;
  return values;
}

}  // namespace rankcheck::reference
