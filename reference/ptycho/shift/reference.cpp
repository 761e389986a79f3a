#include "reference/ptycho/references.hpp"
#include "reference/ptycho/spectrum.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::shift {

/// Needs waves and positions; makes new waves.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const int width = in.scene.detector;
  const auto modes = spec::to_size(in.scene.modes);
  const BoundedArray& positions = in[spec::Array::positions];
  out[spec::Array::waves] = in[spec::Array::waves];
  filter(width, in.unit, out[spec::Array::waves], [&](std::size_t frame, int k, int l) {
    const std::size_t position = 2 * (frame / modes);
    const double rows = positions.values[position].real();
    const double cols = positions.values[position + 1].real();
    return product(
        shift_ramp(rows, width, k, in.unit), shift_ramp(cols, width, l, in.unit), in.unit);
  });
}

}  // namespace rankcheck::reference::shift
