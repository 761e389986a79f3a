#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::illuminate_adjoint_object {

/// The adjoint of illuminate in the object. Adds the waves of every scan position and every mode,
/// times conj(probe), to a zero object, with the weights of insert. Values outside the object or
/// around the window are dropped. Every rank ends with the sum over the positions of all ranks.
inline spec::Contract contract() {
  return {.name = "illuminate_adjoint_object",
          .summary = "Sums conj(probe) times the waves over all ranks' positions and modes.",
          .formula = "o = sum over n and m of insert_n(conj(probe_m) wave_nm)",
          .source = "tike operators.Convolution.adj; the gather and all-reduce of tike PR #72",
          .ranks_agree = true,
          .part = spec::OperatorTraits{
              .inputs = {spec::Array::waves, spec::Array::probe, spec::Array::positions},
              .outputs = {spec::Array::object},
              .linear_in = {spec::Array::waves},
              .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::illuminate_adjoint_object
