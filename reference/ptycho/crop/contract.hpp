#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::crop {

/// Takes the windows out of frames and drops the pixels around them. This is the adjoint of pad,
/// and it undoes pad. The bits of a window do not depend on the other positions.
inline spec::Contract contract() {
  return {.name = "crop",
          .summary = "Cuts the window out of the middle of every frame.",
          .formula = "window[p, q] = patch[margin + p, margin + q]",
          .source = "tike operators.Pad.adj",
          .part = spec::OperatorTraits{.inputs = {spec::Array::patches},
                                       .outputs = {spec::Array::windows},
                                       .linear_in = {spec::Array::patches},
                                       .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::crop
