#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/ptycho/bounded_array.hpp"
#include "reference/spec/to_size.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference {

/// Returns a problem with an object of two pixels, where all positions light the first pixel only.
/// The wave on the detector's single pixel is object times probe.
inline OperatorArrays lit_pixel(std::complex<double> object,
                                std::complex<double> probe,
                                double frame,
                                std::int64_t positions = 1) {
  OperatorArrays in;
  in.scene = {.rows = 1, .cols = 2, .window = 1, .detector = 1};
  in.positions = positions;
  in.unit = 0x1p-24;
  in.make(spec::Array::object).values = {object, 7};
  in.make(spec::Array::probe).values = {probe};
  in.make(spec::Array::positions);
  in.make(spec::Array::frames).values.assign(spec::to_size(positions), frame);
  in.make(spec::Array::mask).values = {1};
  return in;
}

/// Returns a problem with a detector of one pixel, where each position has a wave and a measured
/// intensity. Rank r has counts[r] positions.
inline OperatorArrays far_pixels(const std::vector<std::int64_t>& counts,
                                 const Values& waves,
                                 const Values& frames) {
  OperatorArrays in = empty_arrays({.window = 1, .detector = 1}, counts);
  in.make(spec::Array::far_waves).values = waves;
  in.make(spec::Array::frames).values = frames;
  in.make(spec::Array::mask).values = {1};
  return in;
}

}  // namespace rankcheck::reference
