#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::poisson_cost {

/// The negative logarithm of the likelihood of counted photons, minus its smallest value, summed
/// over the measured pixels of all ranks' frames. Also its derivative with respect to the conjugate
/// of the waves F at the detector. I = sum over the modes of |F|^2, d is the frame, and e = 1e-9.
/// If d is 0, d log(...) is 0. Subtracting the smallest value changes no gradient and avoids
/// cancellation.
inline spec::Contract contract() {
  return {
      .name = "poisson_cost",
      .summary = "Computes the Poisson cost of all ranks' frames and its gradient at the detector.",
      .formula = "cost = sum of I + e - d - d log((I + e) / d); G = (1 - d / (I + e)) F",
      .source =
          "tike objective.poisson, but with sums instead of means, so that partitions make no "
          "difference",
      .ranks_agree = true,
      .part = spec::OperatorTraits{
          .inputs = {spec::Array::far_waves, spec::Array::frames, spec::Array::mask},
          .outputs = {spec::Array::cost, spec::Array::far_waves}}};
}

}  // namespace rankcheck::reference::poisson_cost
