#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::shift_back {

/// The inverse of shift, which is also its adjoint.
inline spec::Contract contract() {
  return {.name = "shift_back",
          .summary = "Shifts the waves of every position back by that position, in pixels.",
          .formula = "out = F^-1(exp(2 pi i (f_k s_row + f_l s_col)) F(wave))",
          .source = "tike operators.Shift.adj",
          .part = spec::OperatorTraits{.inputs = {spec::Array::waves, spec::Array::positions},
                                       .outputs = {spec::Array::waves},
                                       .linear_in = {spec::Array::waves}}};
}

}  // namespace rankcheck::reference::shift_back
