#include "cases/reconstruct/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "gpu/device/host/fft.hpp"

#include "cases/reconstruct/modes.hpp"
#include "cases/reconstruct/recording.hpp"

namespace rankcheck::cases::reconstruct {

std::vector<std::complex<float>> starting_probe(const Dataset& data) {
  const auto pixels =
      static_cast<std::size_t>(data.detector) * static_cast<std::size_t>(data.detector);
  Mode wave(pixels, 0);
  for (std::size_t i = 0; i < data.frames.size(); ++i) wave[i % pixels] += data.frames[i];
  for (std::complex<double>& value : wave) {
    value = std::sqrt(value.real() / static_cast<double>(data.count));
  }
  gpu::host::Fft().run(
      {.precision = spec::Type::f64, .width = data.detector, .batch = 1, .inverse = true},
      wave.data(),
      wave.data());
  for (std::complex<double>& value : wave) value /= data.detector;
  const int middle = (data.detector - data.detector / 2) % data.detector;
  corner_first(wave, data.detector, middle, middle);
  return {wave.begin(), wave.end()};
}

std::vector<std::complex<float>> with_modes(const Dataset& data, int modes) {
  const auto pixels = static_cast<std::ptrdiff_t>(data.window) * data.window;
  std::vector<Mode> all;
  for (int m = 0; m < std::min(modes, data.modes); ++m) {
    all.emplace_back(data.probe.begin() + m * pixels, data.probe.begin() + (m + 1) * pixels);
  }
  for (int k = 1; data.modes + k <= modes; ++k) {
    add_mode(all, data.window, power(all.front()) / (10.0 * k));
  }
  std::vector<std::complex<float>> probe;
  for (const Mode& mode : all) probe.insert(probe.end(), mode.begin(), mode.end());
  return probe;
}

}  // namespace rankcheck::cases::reconstruct
