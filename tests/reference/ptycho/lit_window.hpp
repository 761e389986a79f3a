#pragma once

#include "reference/ptycho/bounded_array.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference {

/// Returns an object of 3 x 3 with a window of 2 x 2. The window lies a quarter of a pixel below
/// the first row and one column to the right. So its patch has three quarters of a pixel and one
/// quarter of the pixel below: 6 + 5, 9 + 6, 15 + i and 18 + 2.
inline OperatorArrays lit_window() {
  OperatorArrays in = empty_arrays({.rows = 3, .cols = 3, .window = 2, .detector = 2}, {1});
  in.make(spec::Array::positions).values = {0.25, 1};
  in.make(spec::Array::object).values = {4, 8, 12, 16i, 20, 24, 0, 4i, 8};
  in.make(spec::Array::probe).values = {1, 2, 1i, -1};
  in.make(spec::Array::waves);
  return in;
}

}  // namespace rankcheck::reference
