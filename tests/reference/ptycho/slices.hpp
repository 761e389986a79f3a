#pragma once

#include <complex>
#include <cstddef>

#include "reference/ptycho/bounded_array.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference {

/// Two slices of one pixel, 2 and 3i, in frames of three. Light turns by a quarter between them.
inline OperatorArrays two_slices() {
  OperatorArrays in = empty_arrays({.rows = 1,
                                    .cols = 1,
                                    .window = 1,
                                    .detector = 3,
                                    .slices = 2,
                                    .wavelength = 4,
                                    .distance = 1},
                                   {1});
  in.unit = 0x1p-53;
  in.make(spec::Array::positions);
  in.make(spec::Array::object).values = {2, 3i};
  in.make(spec::Array::probe).values = {1.0 + 1i};
  in.make(spec::Array::waves);
  return in;
}

/// The window's pixel in frames of three.
inline constexpr std::size_t centre = 4;

/// Two slices of 2 x 3, with a window of 2 x 2 one column to the right. Probe times first slice is
/// 4 at all pixels, so this wave is constant. Between the slices it turns by a quarter, to 4i.
inline OperatorArrays two_wide_slices() {
  OperatorArrays in = empty_arrays({.rows = 2,
                                    .cols = 3,
                                    .window = 2,
                                    .detector = 2,
                                    .slices = 2,
                                    .wavelength = 4,
                                    .distance = 1},
                                   {1});
  in.unit = 0x1p-53;
  in.make(spec::Array::positions).values = {0, 1};
  in.make(spec::Array::object).values = {9, 4, 2, 9, -1i, -4, 9, 1, 2i, 9, 4, -1};
  in.make(spec::Array::probe).values = {1, 2, 4i, -1};
  in.make(spec::Array::waves);
  return in;
}

/// Returns waves behind the slices of two_wide_slices(). Times the conjugate second slice they are
/// 4 at all pixels. So -4i comes back to the first slice.
inline Values waves_behind_wide_slices() {
  return {4, 2i, 1, -4};
}

/// Returns numbers of magnitude one.
inline Values turned(std::size_t count) {
  Values values;
  for (std::size_t at = 0; at < count; ++at) {
    values.push_back(std::polar(1.0, static_cast<double>(at * at % 7)));
  }
  return values;
}

/// Three slices and whole positions. No wave is too fine to travel.
inline OperatorArrays three_slices() {
  OperatorArrays in = empty_arrays({.rows = 4,
                                    .cols = 5,
                                    .window = 3,
                                    .detector = 3,
                                    .modes = 2,
                                    .slices = 3,
                                    .wavelength = 1.25,
                                    .distance = 3},
                                   {1, 1});
  in.unit = 0x1p-53;
  in.make(spec::Array::positions).values = {0, 2, 1, 1};
  in.make(spec::Array::object).values = turned(in.size(spec::Array::object));
  in.make(spec::Array::probe);
  for (std::size_t at = 0; at < in.size(spec::Array::probe); ++at) {
    in[spec::Array::probe].values[at] = {static_cast<double>(at % 5) - 1, 0.5};
  }
  return in;
}

}  // namespace rankcheck::reference
