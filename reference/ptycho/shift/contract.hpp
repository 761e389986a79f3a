#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference::shift {

/// The waves of every position, shifted cyclically by its position (rows down, columns to the
/// right), between pixels as the sum of their frequencies: f are the cycles per pixel of index k,
/// k/D below 1/2 and k/D - 1 from there. Whole positions move pixels.
inline spec::Contract contract() {
  return {
      .name = "shift",
      .summary = "The waves of every position, moved by that position in pixels.",
      .formula = "out = F^-1(exp(-2 pi i (f_k s_row + f_l s_col)) F(wave))",
      .source = "tike operators.Shift.fwd",
      .sizes = spec::Sizes::scene,
      .inputs = {spec::Array::waves, spec::Array::positions},
      .outputs = {spec::Array::waves},
      .linear_in = {spec::Array::waves},
  };
}

}  // namespace rankcheck::reference::shift
