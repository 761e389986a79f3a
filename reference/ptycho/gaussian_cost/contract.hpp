#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::gaussian_cost {

/// The cost: squared differences of amplitudes, summed over the measured pixels of all ranks'
/// frames. Also its derivative with respect to the conjugate of the waves F at the detector. I =
/// sum over the modes of |F|^2, and d is the frame. If I = 0 the derivative is 0. Unmeasured pixels
/// add nothing to the cost, and their derivative is 0.
inline spec::Contract contract() {
  return {.name = "gaussian_cost",
          .summary =
              "Computes the amplitude cost of all ranks' frames and its gradient at the detector.",
          .formula = "cost = sum of (sqrt(I) - sqrt(d))^2; G = (1 - sqrt(d / I)) F",
          .source =
              "tike objective.gaussian, but with sums instead of means, so that partitions make no "
              "difference",
          .ranks_agree = true,
          .part = spec::OperatorTraits{
              .inputs = {spec::Array::far_waves, spec::Array::frames, spec::Array::mask},
              .outputs = {spec::Array::cost, spec::Array::far_waves}}};
}

}  // namespace rankcheck::reference::gaussian_cost
