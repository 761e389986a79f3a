#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::probe_preconditioner {

/// The object's squared magnitude that every pixel of the window sees, summed over all positions of
/// all ranks. Steps of the probe are divided by it.
inline spec::Contract contract() {
  return {.name = "probe_preconditioner",
          .summary =
              "Sums the object's squared magnitude over all ranks' windows, for each pixel of the "
              "window.",
          .formula = "E = sum over n of |extract(o)_n|^2, in the window",
          .source = "tike solvers, probe_preconditioner",
          .ranks_agree = true,
          .part = spec::OperatorTraits{.inputs = {spec::Array::object, spec::Array::positions},
                                       .outputs = {spec::Array::probe_weight},
                                       .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::probe_preconditioner
