#pragma once

#include <cstddef>

#include "reference/ptycho/bounded_array.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference {

/// Returns a row of two pixels, 4 and 8i, with a window of one in frames of three, and two modes.
/// The first window lies a quarter of a pixel to the right of the first pixel. The second window
/// lies on the first pixel. So the patches are 3 + 2i and 4.
inline OperatorArrays lit_row(bool varying_probe = false) {
  OperatorArrays in = empty_arrays({.rows = 1,
                                    .cols = 2,
                                    .window = 1,
                                    .detector = 3,
                                    .modes = 2,
                                    .varying_probe = varying_probe},
                                   {1, 1});
  in.make(spec::Array::positions).values = {0, 0.25, 0, 0};
  in.make(spec::Array::object).values = {4, 8i};
  in.make(spec::Array::probe);
  in.make(spec::Array::waves);
  return in;
}

/// The window's pixel in a frame of three, and the number of the frame's pixels.
inline constexpr std::size_t frame_middle = 4;
inline constexpr std::size_t frame_size = 9;

}  // namespace rankcheck::reference
