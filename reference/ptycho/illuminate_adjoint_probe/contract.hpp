#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::illuminate_adjoint_probe {

/// The adjoint of illuminate in the probe: conj(window of the object) times the waves, window by
/// window. Every rank ends with the sum over the positions of all ranks. If the probe varies there
/// is no sum, and each rank has the products of its own positions.
inline spec::Contract contract() {
  return {.name = "illuminate_adjoint_probe",
          .summary = "Sums conj(window of the object) times the waves over all ranks' positions.",
          .formula = "probe_m[p, q] = sum over n of conj(patch_n[p, q]) wave_nm[p, q]",
          .source =
              "tike operators.Convolution.adj_probe, with the sum that tike leaves to the callers",
          .part = spec::OperatorTraits{
              .inputs = {spec::Array::waves, spec::Array::object, spec::Array::positions},
              .outputs = {spec::Array::probe},
              .linear_in = {spec::Array::waves},
              .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::illuminate_adjoint_probe
