#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::multislice_adjoint_object {

/// The adjoint of multislice in each slice of the object, with the other slices and the probe
/// fixed. Each slice gets a derivative with respect to the conjugate, never divided by the number
/// of slices. The waves y go back from slice to slice; their values around the window are dropped.
/// Every rank ends with the sums over the positions of all ranks.
inline spec::Contract contract() {
  return {
      .name = "multislice_adjoint_object",
      .summary =
          "Applies the adjoint of multislice in each slice of the object, summed over all ranks.",
      .formula =
          "out_s = sum over n and m of insert_n(conj(p_s) y_s); y_last = waves, "
          "y_(s-1) = propagate_fresnel_adjoint(conj(patch(o_s)) y_s); p as for multislice",
      .source =
          "tike operators.Multislice.adj, but without the division by the number of slices and "
          "with the conjugate patch, which tike's solvers left out (10e0f0b5)",
      .ranks_agree = true,
      .part = spec::OperatorTraits{.inputs = {spec::Array::waves,
                                              spec::Array::object,
                                              spec::Array::probe,
                                              spec::Array::positions},
                                   .outputs = {spec::Array::object},
                                   .linear_in = {spec::Array::waves},
                                   .multislice = true}};
}

}  // namespace rankcheck::reference::multislice_adjoint_object
