#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::insert {

/// The adjoint of extract: adds every position's window to a zero object, with the same weights.
/// Values outside the object or around the window are dropped. Every rank ends with the sum over
/// the positions of all ranks.
inline spec::Contract contract() {
  return {.name = "insert",
          .summary = "Adds the patches of all ranks' scan positions at their places in the object.",
          .formula = "o[i+p, j+q] += (1-f)(1-g) patch[p, q], and so on for the other three weights",
          .source = "tike operators.Patch.adj; the gather and all-reduce of tike PR #72",
          .ranks_agree = true,
          .part = spec::OperatorTraits{.inputs = {spec::Array::patches, spec::Array::positions},
                                       .outputs = {spec::Array::object},
                                       .linear_in = {spec::Array::patches},
                                       .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::insert
