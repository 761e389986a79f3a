#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/bounded_array.hpp"
#include "reference/spec/to_size.hpp"

/// What the tests of operators share: arrays in, values out.
namespace rankcheck::reference {

using spec::Array;
using std::literals::complex_literals::operator""i;
using Value = std::complex<double>;
using Values = std::vector<Value>;
using Errors = std::vector<double>;

/// The values of each array that an operator gets. An array without values holds zeros.
using Given = std::vector<std::pair<Array, Values>>;

/// The units of single and of double precision.
inline constexpr double single_unit = 0x1p-24;
inline constexpr double double_unit = 0x1p-53;

/// Returns a problem with these sizes and `counts[r]` positions on rank r.
inline OperatorArrays arrays_of(const spec::Scene& scene,
                                const std::vector<std::int64_t>& counts,
                                const Given& given,
                                double unit = single_unit) {
  OperatorArrays in;
  in.scene = scene;
  in.counts = counts;
  for (const std::int64_t count : counts) in.positions += count;
  in.unit = unit;
  for (const auto& [array, values] : given) {
    BoundedArray& made = in.make(array);
    if (values.empty()) continue;
    EXPECT_EQ(values.size(), made.values.size()) << spec::name(array);
    made.values = values;
  }
  return in;
}

/// Sizes of two slices, between which light turns by a quarter.
inline spec::Scene two_thick_slices(int rows, int cols, int window, int detector) {
  return {.rows = rows,
          .cols = cols,
          .window = window,
          .detector = detector,
          .slices = 2,
          .wavelength = 4,
          .distance = 1};
}

/// Sizes of a row of two pixels and windows of one pixel in frames of three, with two modes.
inline spec::Scene row_of_two(bool varying_probe) {
  return {
      .rows = 1, .cols = 2, .window = 1, .detector = 3, .modes = 2, .varying_probe = varying_probe};
}

/// Returns a problem with an object of two pixels, where all positions light the first pixel only.
/// The wave of each mode on the detector's single pixel is object times probe.
inline OperatorArrays lit_pixel(Value object,
                                const Values& probe,
                                double frame,
                                std::int64_t positions = 1) {
  const int modes = static_cast<int>(probe.size());
  return arrays_of({.rows = 1, .cols = 2, .window = 1, .detector = 1, .modes = modes},
                   {positions},
                   {{Array::object, {object, 7}},
                    {Array::probe, probe},
                    {Array::positions, {}},
                    {Array::frames, Values(spec::to_size(positions), frame)},
                    {Array::mask, {1}}});
}

/// Returns what an operator leaves, beside the inputs that it leaves alone.
inline OperatorArrays outputs_of(Operator operation, const OperatorArrays& in) {
  OperatorArrays out = in;
  operation(in, out);
  return out;
}

/// Roundings of double precision are smaller.
inline constexpr double roundings = 1e-13;

/// Expects values that are off by roundings of double precision at most, or by `slack`.
inline void expect_near(const Values& got, const Values& expected, double slack = roundings) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t at = 0; at < got.size(); ++at) {
    EXPECT_LE(std::abs(got[at] - expected[at]), slack)
        << at << ": " << got[at] << " instead of " << expected[at];
  }
}

/// Expects the values of these arrays, off by `slack` at most.
inline void expect_values(const OperatorArrays& out, const Given& expected, double slack = 0) {
  for (const auto& [array, values] : expected) {
    SCOPED_TRACE(spec::name(array));
    expect_near(out[array].values, values, slack);
  }
}

/// Expects a bound that covers `error` but hardly more: some roundings in single precision.
inline void expect_bound(double bound, double error) {
  EXPECT_GE(bound, error);
  EXPECT_LT(bound, error + 1e-4);
}

}  // namespace rankcheck::reference
