#pragma once

#include <complex>
#include <vector>

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference {

using std::literals::complex_literals::operator""i;

/// Returns a setting with an object of two pixels, where all positions light the first pixel only.
/// The wave on the detector's single pixel is object times probe.
inline Setting lit_pixel(std::complex<double> object,
                         std::complex<double> probe,
                         double frame,
                         std::int64_t positions = 1) {
  Setting in;
  in.scene = {.rows = 1, .cols = 2, .window = 1, .detector = 1};
  in.positions = positions;
  in.unit = 0x1p-24;
  in.make(spec::Array::object).values = {object, 7};
  in.make(spec::Array::probe).values = {probe};
  in.make(spec::Array::positions);
  in.make(spec::Array::frames).values.assign(static_cast<std::size_t>(positions), frame);
  in.make(spec::Array::mask).values = {1};
  return in;
}

}  // namespace rankcheck::reference
