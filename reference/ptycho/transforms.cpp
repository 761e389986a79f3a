#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/ptycho/spectrum.hpp"
#include "reference/spec/to_size.hpp"

/// References of operators on whole frames and their frequencies.
namespace rankcheck::reference {

namespace {

using spec::Array;

/// Lets the waves travel through free space, or applies the adjoint of that.
void travel(const OperatorArrays& in, bool adjoint, OperatorArrays& out) {
  const int width = in.scene.detector;
  out[Array::waves] = in[Array::waves];
  filter(width, in.unit, out[Array::waves], [&](std::size_t, int k, int l) {
    const Estimate factor = free_space(in.scene, width, k, l, in.unit);
    return adjoint ? conj(factor) : factor;
  });
}

/// Shifts the waves by `sign` times their positions.
void shift_by(double sign, const OperatorArrays& in, OperatorArrays& out) {
  const int width = in.scene.detector;
  const auto modes = spec::to_size(in.scene.modes);
  const BoundedArray& positions = in[Array::positions];
  out[Array::waves] = in[Array::waves];
  filter(width, in.unit, out[Array::waves], [&](std::size_t frame, int k, int l) {
    const std::size_t position = 2 * (frame / modes);
    const double rows = sign * positions.values[position].real();
    const double cols = sign * positions.values[position + 1].real();
    return product(
        shift_ramp(rows, width, k, in.unit), shift_ramp(cols, width, l, in.unit), in.unit);
  });
}

}  // namespace

/// Needs waves, makes far_waves.
void propagate::reference(const OperatorArrays& in, OperatorArrays& out) {
  out[Array::far_waves] = in[Array::waves];
  transform(Direction::forward, in.scene.detector, in.unit, out[Array::far_waves]);
}

/// Needs far_waves, makes waves.
void propagate_inverse::reference(const OperatorArrays& in, OperatorArrays& out) {
  out[Array::waves] = in[Array::far_waves];
  transform(Direction::inverse, in.scene.detector, in.unit, out[Array::waves]);
}

// The others need waves, and positions for shifts. They make new waves.

void propagate_fresnel::reference(const OperatorArrays& in, OperatorArrays& out) {
  travel(in, false, out);
}

void propagate_fresnel_adjoint::reference(const OperatorArrays& in, OperatorArrays& out) {
  travel(in, true, out);
}

void shift::reference(const OperatorArrays& in, OperatorArrays& out) {
  shift_by(1, in, out);
}

void shift_back::reference(const OperatorArrays& in, OperatorArrays& out) {
  shift_by(-1, in, out);
}

}  // namespace rankcheck::reference
