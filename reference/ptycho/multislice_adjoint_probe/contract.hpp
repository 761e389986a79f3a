#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::multislice_adjoint_probe {

/// The adjoint of multislice in the probe. Every rank ends with the sum over the positions of all
/// ranks. If the probe varies there is no sum, and each rank has the results of its own positions.
inline spec::Contract contract() {
  return {.name = "multislice_adjoint_probe",
          .summary = "Applies the adjoint of multislice in the probe, summed over all ranks.",
          .formula =
              "probe_m = sum over n of conj(patch_n(o_0)) y_0; y as for "
              "multislice_adjoint_object",
          .source = "tike operators.Multislice.adj",
          .part = spec::OperatorTraits{
              .inputs = {spec::Array::waves, spec::Array::object, spec::Array::positions},
              .outputs = {spec::Array::probe},
              .linear_in = {spec::Array::waves},
              .multislice = true}};
}

}  // namespace rankcheck::reference::multislice_adjoint_probe
