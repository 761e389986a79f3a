#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::object_preconditioner {

/// The light that every pixel of the object receives, over all positions of all ranks: insert
/// applied to the probes' intensities. Steps of the object are divided by it.
inline spec::Contract contract() {
  return {.name = "object_preconditioner",
          .summary =
              "Sums the probe's squared magnitude over all ranks' positions, for each pixel of the "
              "object.",
          .formula = "D = insert(sum over m of |P_m|^2)",
          .source = "tike solvers, object_preconditioner",
          .ranks_agree = true,
          .part = spec::OperatorTraits{.inputs = {spec::Array::probe, spec::Array::positions},
                                       .outputs = {spec::Array::object_weight},
                                       .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::object_preconditioner
