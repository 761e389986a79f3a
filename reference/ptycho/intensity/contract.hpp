#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::intensity {

/// The frames that a detector measures of waves whose modes do not interfere. The bits of a frame
/// do not depend on the other positions, on their order or their number. The same numbers are
/// rounded in the same way.
inline spec::Contract contract() {
  return {.name = "intensity",
          .summary = "Sums the squared magnitudes of the waves over the modes, pixel by pixel.",
          .formula = "frame[i] = sum over m of |F_m[i]|^2",
          .source = "tike operators.Ptycho, intensity",
          .part = spec::OperatorTraits{.inputs = {spec::Array::far_waves},
                                       .outputs = {spec::Array::frames},
                                       .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::intensity
