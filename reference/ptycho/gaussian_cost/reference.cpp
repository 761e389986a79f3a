#include <algorithm>

#include "reference/ptycho/pixels.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::gaussian_cost {

/// Needs far_waves, frames and mask; makes cost and far_waves.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& waves = in[spec::Array::far_waves];
  const BoundedArray& frames = in[spec::Array::frames];
  BoundedArray& cost = out.make(spec::Array::cost);
  BoundedArray& gradient = out.make(spec::Array::far_waves);
  const double unit = in.unit;
  // Roundings of the amplitude: half of the intensity's, and one for the root. Roundings of the
  // factor: the amplitude's, and those of the other root, the difference, the quotient and the
  // product.
  const double amplitude_unit = (intensity_roundings(in) / 2 + 1) * unit;
  const double factor_unit = 2 * amplitude_unit + 6 * unit;
  for_each_pixel(in, [&](std::size_t pixel, std::size_t i, const PixelWaves& at, const auto& wave) {
    if (in[spec::Array::mask].values[i].real() == 0) return;
    const double measured = std::sqrt(frames.values[pixel].real());
    const double residual = at.amplitude - measured;
    const double measured_error =
        frames.errors[pixel] > 0
            ? std::min(std::sqrt(frames.errors[pixel]), frames.errors[pixel] / measured)
            : 0;
    const double residual_error = at.error + measured_error + amplitude_unit * at.amplitude +
                                  unit * (2 * measured + at.amplitude);
    add_cost(
        residual * residual,
        (2 * std::abs(residual) + residual_error) * residual_error + 2 * unit * residual * residual,
        unit,
        cost,
        frames.values.size());
    if (at.amplitude == 0 && at.error == 0) return;
    for (std::size_t m = 0; m < spec::to_size(in.scene.modes); ++m) {
      const std::complex<double> value = waves.values[wave(m)];
      if (at.amplitude > 0) gradient.values[wave(m)] = value - measured * (value / at.amplitude);
      // The unit vectors of two vectors differ by at most twice the vectors' distance divided by
      // the length, and by at most 2.
      const double turn = at.amplitude > 0 ? std::min(2.0, 2 * at.error / at.amplitude) : 2.0;
      const double share = at.amplitude > 0 ? std::abs(value) / at.amplitude : 1.0;
      gradient.errors[wave(m)] = waves.errors[wave(m)] + measured * turn + measured_error +
                                 factor_unit * (measured * share + std::abs(value) +
                                                waves.errors[wave(m)] + measured * turn);
    }
  });
}

}  // namespace rankcheck::reference::gaussian_cost
