#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/ptycho/pixels.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

/// References of the intensity at the detector, and of its costs.
namespace rankcheck::reference {

namespace {

using spec::Array;

constexpr double floor_intensity = 1e-9;

double square(double x) {
  return x * x;
}

}  // namespace

/// Needs far_waves, makes frames.
void intensity::reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& waves = in[Array::far_waves];
  BoundedArray& frames = out.make(Array::frames);
  const double unit = intensity_roundings(in) * in.unit;
  for_each_pixel(in, [&](std::size_t pixel, std::size_t, const PixelWaves& at, const auto& wave) {
    double sum = 0;
    for (std::size_t m = 0; m < spec::to_size(in.scene.modes); ++m) {
      sum += std::norm(waves.values[wave(m)]);
    }
    frames.values[pixel] = sum;
    frames.errors[pixel] = (2 * at.amplitude + at.error) * at.error +
                           unit * (at.amplitude + at.error) * (at.amplitude + at.error);
  });
}

/// Needs far_waves, frames and mask; makes cost and far_waves.
void gaussian_cost::reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& waves = in[Array::far_waves];
  const BoundedArray& frames = in[Array::frames];
  BoundedArray& cost = out.make(Array::cost);
  BoundedArray& gradient = out.make(Array::far_waves);
  const double unit = in.unit;
  // Roundings of the amplitude: half of the intensity's, and one for the root. Roundings of the
  // factor: the amplitude's, and those of the other root, the difference, the quotient and the
  // product.
  const double amplitude_unit = (intensity_roundings(in) / 2 + 1) * unit;
  const double factor_unit = 2 * amplitude_unit + 6 * unit;
  for_each_pixel(in, [&](std::size_t pixel, std::size_t i, const PixelWaves& at, const auto& wave) {
    if (in[Array::mask].values[i].real() == 0) return;
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

/// Needs far_waves, frames and mask; makes cost and far_waves.
void poisson_cost::reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& waves = in[Array::far_waves];
  const BoundedArray& frames = in[Array::frames];
  BoundedArray& cost = out.make(Array::cost);
  BoundedArray& gradient = out.make(Array::far_waves);
  const double unit = in.unit;
  // Roundings of the intensity with its floor. The terms below add the roundings of the quotient,
  // the logarithm (four, as CUDA documents for its own), the products and the differences.
  const double raised_unit = (intensity_roundings(in) + 2) * unit;
  for_each_pixel(in, [&](std::size_t pixel, std::size_t i, const PixelWaves& at, const auto& wave) {
    if (in[Array::mask].values[i].real() == 0) return;
    const double measured = frames.values[pixel].real();
    const double measured_error = frames.errors[pixel];
    const double raised = square(at.amplitude) + floor_intensity;
    const double least = square(std::max(0.0, at.amplitude - at.error)) + floor_intensity;
    const double most = square(at.amplitude + at.error) + floor_intensity;
    const double entropy = measured > 0 ? measured * std::log(raised / measured) : 0;
    const double slope = std::max(std::abs(1 - measured / least), std::abs(1 - measured / most));
    // The derivative with respect to the frame is -log(raised / measured). It grows as the frame
    // gets small.
    const double by_frame =
        measured_error == 0
            ? 0
            : (measured > measured_error
                   ? measured_error * std::abs(std::log(raised / (measured - measured_error)))
                   : std::numeric_limits<double>::infinity());
    add_cost(raised - measured - entropy,
             std::max(raised - least, most - raised) * slope + by_frame +
                 raised_unit * (raised + measured) +
                 6 * unit * (raised + measured + std::abs(entropy)),
             unit,
             cost,
             frames.values.size());
    // F / (|F|^2 + e) changes by at most 3 / (|F|^2 + e) times the change of F.
    const double stretch = 3 / least;
    for (std::size_t m = 0; m < spec::to_size(in.scene.modes); ++m) {
      const std::complex<double> value = waves.values[wave(m)];
      const double magnitude = std::abs(value) + waves.errors[wave(m)];
      gradient.values[wave(m)] = (1 - measured / raised) * value;
      gradient.errors[wave(m)] = waves.errors[wave(m)] + measured * stretch * at.error +
                                 measured_error * magnitude / least +
                                 (raised_unit + 4 * unit) * (measured / least + 1) * magnitude;
    }
  });
}

}  // namespace rankcheck::reference
