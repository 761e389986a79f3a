#pragma once

#include "reference/ptycho/step.hpp"

namespace rankcheck::reference {

/// lsqml_alpha: the share of the largest weight that is added to a pixel's own weight in the
/// object's step. lsqml_relaxation: the share of the least-squares length that a step takes.
inline constexpr double lsqml_alpha = 0.05;
inline constexpr double lsqml_relaxation = 0.9;

namespace lsqml_step {

/// One step of the least-squares maximum-likelihood engine on all frames of all ranks at once, for
/// the amplitude cost. g_o and g_P are the gradients of gaussian_gradients. D is the weight of
/// object_preconditioner, and a = lsqml_alpha. N is the number of positions of all ranks.
///
/// Directions: dO = -g_o / sqrt(((1-a) D)^2 + (a max D)^2), or 0 if this root is 0; dP = -g_P / N.
///
/// Lengths, from mode 0 alone. For every position n, sums are over its window's pixels:
/// - chi is the window of propagate_inverse(-(1 - sqrt(d/I)) F), u = extract(dO) P and v = dP
///   extract(o).
/// - a1 = sum of |u|^2, a4 = sum of |v|^2, A1 = a1 + mean(a1) / 2, A4 = a4 + mean(a4) / 2.
/// - A2 = Re sum of u conj(v), b1 = Re sum of conj(u) chi, b2 = Re sum of conj(v) chi.
/// - det = A1 A4 - |sum of u conj(v)|^2.
/// - x1 = (A4 b1 - A2 b2) / det, x2 = (A1 b2 - A2 b1) / det. x1 = x2 = 0 unless det > 0.
/// The step_lengths are r mean(max(0, x1)) and r mean(max(0, x2)), with r = lsqml_relaxation. All
/// means are over the N positions, never means of the ranks' means.
///
/// o' = o + length dO and P' = P + length dP, for every mode of P. If N = 0 the lengths are 0 and
/// nothing changes. The cost is the one before the step.
inline spec::Contract contract() {
  spec::Contract contract = step_contract(
      "lsqml_step",
      "Makes a least-squares step of object and probe on all ranks' frames and returns the cost.",
      "o' = o + s_o dO, P' = P + s_P dP; (s_o, s_P) = 0.9 mean of max(0, argmin |chi - x1 "
      "extract(dO) P - x2 dP extract(o)|^2), damped",
      "tike solvers.lstsq_grad, compact batch of all frames; Odstrcil, Menzel, Guizar-Sicairos "
      "2018");
  ptycho(contract).outputs.push_back(spec::Array::step_lengths);
  return contract;
}

}  // namespace lsqml_step

}  // namespace rankcheck::reference
