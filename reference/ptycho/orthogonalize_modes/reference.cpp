#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::orthogonalize_modes {

namespace {

using Mode = std::vector<std::complex<double>>;

double power(const Mode& mode) {
  double sum = 0;
  for (const auto& value : mode) sum += std::norm(value);
  return sum;
}

/// Rotates two modes until they are orthogonal. Returns false if they already were.
bool rotate(Mode& a, Mode& b) {
  std::complex<double> product = 0;
  for (std::size_t i = 0; i < a.size(); ++i) product += a[i] * std::conj(b[i]);
  const double size = std::abs(product);
  if (size <= 0x1p-52 * std::sqrt(power(a) * power(b))) return false;
  const std::complex<double> phase = product / size;
  const double angle = std::atan2(2 * size, power(a) - power(b)) / 2;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::complex<double> turned = phase * b[i];
    const std::complex<double> first = a[i];
    a[i] = std::cos(angle) * first + std::sin(angle) * turned;
    b[i] = std::cos(angle) * turned - std::sin(angle) * first;
  }
  return true;
}

}  // namespace

/// Needs the probe and makes a new probe. The errors are infinite: the values are defined only up
/// to phases and mixtures of equally strong modes.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& probe = in[spec::Array::probe];
  BoundedArray& result = out.make(spec::Array::probe);
  const auto pixels = spec::to_size(in.scene.window) * spec::to_size(in.scene.window);
  const auto count = spec::to_size(in.scene.modes);
  for (std::size_t first = 0; first < probe.values.size(); first += count * pixels) {
    std::vector<Mode> modes;
    for (std::size_t m = 0; m < count; ++m) {
      const auto begin = probe.values.begin() + static_cast<std::ptrdiff_t>(first + m * pixels);
      modes.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(pixels));
    }
    constexpr int sweeps_max = 60;
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < sweeps_max; ++sweep) {
      rotated = false;
      for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = a + 1; b < count; ++b) rotated |= rotate(modes[a], modes[b]);
      }
    }
    std::sort(modes.begin(), modes.end(), [](const Mode& a, const Mode& b) {
      return power(a) > power(b);
    });
    for (std::size_t m = 0; m < count; ++m) {
      std::copy(modes[m].begin(),
                modes[m].end(),
                result.values.begin() + static_cast<std::ptrdiff_t>(first + m * pixels));
    }
  }
  std::fill(result.errors.begin(), result.errors.end(), std::numeric_limits<double>::infinity());
}

}  // namespace rankcheck::reference::orthogonalize_modes
