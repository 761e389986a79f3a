#include <algorithm>

#include "reference/ptycho/pixels.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::poisson_cost {

namespace {

constexpr double floor_intensity = 1e-9;

double square(double x) {
  return x * x;
}

}  // namespace

/// Needs far_waves, frames and mask; makes cost and far_waves.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& waves = in[spec::Array::far_waves];
  const BoundedArray& frames = in[spec::Array::frames];
  BoundedArray& cost = out.make(spec::Array::cost);
  BoundedArray& gradient = out.make(spec::Array::far_waves);
  const double unit = in.unit;
  // Roundings of the intensity with its floor. The terms below add the roundings of the quotient,
  // the logarithm (four, as CUDA documents for its own), the products and the differences.
  const double raised_unit = (intensity_roundings(in) + 2) * unit;
  for_each_pixel(in, [&](std::size_t pixel, std::size_t i, const PixelWaves& at, const auto& wave) {
    if (in[spec::Array::mask].values[i].real() == 0) return;
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

}  // namespace rankcheck::reference::poisson_cost
