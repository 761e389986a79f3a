#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::orthogonalize_modes {

/// Mixes the modes of the probe, or of every position's probe, by a unitary matrix. The resulting
/// modes are orthogonal to one another and ordered by power, the strongest first. The modes'
/// coherence, J[x, y] = sum over m of P[m][x] conj(P[m][y]), stays unchanged, and so does every
/// intensity that the probe makes. A mode's phase and the mixture of modes of equal power are not
/// defined.
///
/// Let u be the unit roundoff, N the number of pixels and M the number of modes. A result may
/// depart from this by accuracy(N, M) u times the power of all modes. It is the sum of:
/// - N for the roundings of inner products;
/// - 30 M^2 for a Jacobi method with 10 sweeps of M^2 / 2 rotations of 6 roundings each;
/// - 4 M for the mixing.
inline spec::Contract contract() {
  return {
      .name = "orthogonalize_modes",
      .summary =
          "Mixes the modes of the probe so that they are orthogonal, with the strongest mode "
          "first.",
      .formula = "out[k] = sum over m of U[k][m] in[m], U G U* diagonal and descending, G = in in*",
      .source = "tike linalg.orthogonalize_eig",
      .part =
          spec::OperatorTraits{.inputs = {spec::Array::probe}, .outputs = {spec::Array::probe}}};
}

/// The admitted error of a result, in unit roundoffs of the power of all modes.
inline double accuracy(const spec::Scene& scene) {
  const double pixels = static_cast<double>(scene.window) * scene.window;
  const double modes = scene.modes;
  return pixels + 30 * modes * modes + 4 * modes;
}

}  // namespace rankcheck::reference::orthogonalize_modes
