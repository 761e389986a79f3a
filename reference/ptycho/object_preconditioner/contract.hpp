#pragma once

#include "reference/spec/contract.hpp"

namespace rankcheck::reference::object_preconditioner {

/// How much light every pixel of the object sees, over all positions of all ranks: what insert
/// makes of the probes' intensities. Steps of the object are divided by it.
inline spec::Contract contract() {
  return {
      .name = "object_preconditioner",
      .summary = "The light that each pixel of the object sees from all ranks' positions.",
      .formula = "D = insert(sum over m of |P_m|^2)",
      .source = "tike solvers, object_preconditioner",
      .sizes = spec::Sizes::scene,
      .ranks_agree = true,
      .inputs = {spec::Array::probe, spec::Array::positions},
      .outputs = {spec::Array::object_weight},
      .exact_on_whole_numbers = true,
  };
}

}  // namespace rankcheck::reference::object_preconditioner
