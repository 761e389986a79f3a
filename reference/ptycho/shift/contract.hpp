#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::shift {

/// The waves of every position, shifted cyclically by the position in pixels: rows down, columns to
/// the right. A shift between pixels multiplies the frequencies. f_k is the frequency of index k in
/// cycles per pixel: k/D if k/D is below 1/2, otherwise k/D - 1. A shift by whole pixels only moves
/// pixels.
inline spec::Contract contract() {
  return {.name = "shift",
          .summary = "Shifts the waves of every position by that position, in pixels.",
          .formula = "out = F^-1(exp(-2 pi i (f_k s_row + f_l s_col)) F(wave))",
          .source = "tike operators.Shift.fwd",
          .part = spec::OperatorTraits{.inputs = {spec::Array::waves, spec::Array::positions},
                                       .outputs = {spec::Array::waves},
                                       .linear_in = {spec::Array::waves}}};
}

}  // namespace rankcheck::reference::shift
