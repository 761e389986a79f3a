#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::pad {

/// Puts windows into the middle of frames of zeros, behind the frame's margin. The bits of a frame
/// do not depend on the other positions.
inline spec::Contract contract() {
  return {.name = "pad",
          .summary = "Places every window in the middle of a frame and fills the rest with zeros.",
          .formula = "patch[margin + p, margin + q] = window[p, q]",
          .source = "tike operators.Pad.fwd",
          .part = spec::OperatorTraits{.inputs = {spec::Array::windows},
                                       .outputs = {spec::Array::patches},
                                       .linear_in = {spec::Array::windows},
                                       .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::pad
