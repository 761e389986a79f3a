#include "cases/reconstruct/simulate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/case/case.hpp"
#include "harness/case/input.hpp"
#include "harness/run/memory.hpp"

#include "cases/reconstruct/model.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

using harness::CounterHash;
using std::numbers::pi;

/// Widest object, in pixels.
constexpr double object_max = 1 << 14;

/// Independent streams of random numbers.
enum class Stream : std::uint64_t { phase, amplitude, scan, noise };

/// Random numbers between 0 and 1, one after another.
class Random {
 public:
  Random(std::uint64_t seed, Stream stream, std::uint64_t part = 0)
      : hash_(seed ^ (part << 8), static_cast<std::uint64_t>(stream)) {}

  /// Returns a number in (0, 1).
  double uniform() { return (static_cast<double>(hash_(next_++) >> 11) + 0.5) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * uniform(); }

 private:
  CounterHash hash_;
  std::uint64_t next_ = 0;
};

/// Returns a random number of events whose expectation is `mean`. Small means use inversion, large
/// ones Hörmann's transformed rejection (1993).
double poisson(Random& random, double mean) {
  if (mean < 10) {
    const double limit = std::exp(-mean);
    double events = 0;
    double product = random.uniform();
    while (product > limit) {
      product *= random.uniform();
      ++events;
    }
    return events;
  }
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = random.uniform() - 0.5;
    const double v = random.uniform();
    const double us = 0.5 - std::abs(u);
    const double events = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return events;
    if (events < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <=
        events * std::log(mean) - mean - std::lgamma(events + 1)) {
      return events;
    }
  }
}

/// Returns a smooth random field about zero: a sum of plane waves whose wavelengths are at least
/// `wavelength_min` pixels.
std::vector<double> smooth_field(Random random, int rows, int cols, double wavelength_min) {
  constexpr int waves = 32;
  std::vector<double> field(spec::to_size(rows) * spec::to_size(cols), 0);
  for (int wave = 0; wave < waves; ++wave) {
    const double frequency = 2 * pi / wavelength_min * std::sqrt(random.between(0.02, 1));
    const double direction = random.between(0, 2 * pi);
    const double start = random.between(0, 2 * pi);
    const double along_rows = frequency * std::cos(direction);
    const double along_cols = frequency * std::sin(direction);
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) {
        field[spec::to_size(row) * spec::to_size(cols) + spec::to_size(col)] +=
            std::cos(start + along_rows * row + along_cols * col) * std::sqrt(2.0 / waves);
      }
    }
  }
  return field;
}

/// Returns corners around zero as pairs (row, column), in pixels.
std::vector<double> scan(const Simulation& simulation) {
  const double golden_angle = pi * (3 - std::sqrt(5.0));
  const int columns = static_cast<int>(std::ceil(std::sqrt(simulation.positions)));
  Random random(simulation.seed, Stream::scan);
  std::vector<double> corners;
  for (int n = 0; n < simulation.positions; ++n) {
    std::array<double, 2> at{};
    if (simulation.path == ScanPath::raster) {
      const int row = n / columns;
      at = {static_cast<double>(row), static_cast<double>(n % columns)};
    } else if (simulation.path == ScanPath::spiral) {
      // On average, there is one position for each square of a step.
      const double radius = std::sqrt((n + 0.5) / pi);
      at = {radius * std::sin(n * golden_angle), radius * std::cos(n * golden_angle)};
    } else {
      at = {random.between(0, columns), random.between(0, columns)};
    }
    const double jitter = simulation.path == ScanPath::random ? 0 : simulation.jitter;
    for (const double each : at) {
      corners.push_back(simulation.step * (each + random.between(-jitter, jitter)));
    }
  }
  return corners;
}

/// Puts the scan into the middle of the object. The object's width follows from the scan if it is
/// not given.
void place_scan(const Simulation& simulation, Dataset& data) {
  const std::vector<double> corners = scan(simulation);
  std::array<double, 2> low{};
  std::array<double, 2> extent{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    low[axis] = corners[axis];
    double high = corners[axis];
    for (std::size_t i = axis; i < corners.size(); i += 2) {
      low[axis] = std::min(low[axis], corners[i]);
      high = std::max(high, corners[i]);
    }
    extent[axis] = high - low[axis];
  }
  // One pixel on every side, and one for interpolation.
  const double needed = std::ceil(std::max(extent[0], extent[1])) + data.window + 3;
  if (simulation.object != 0 && simulation.object < needed) {
    throw harness::BadInput(fmt::format(
        "--object-size: got {}, expected at least {} for this scan", simulation.object, needed));
  }
  if (needed > object_max) {
    throw harness::BadInput(fmt::format(
        "simulation: got a scan that needs {} pixels, expected an object of at most {} pixels",
        needed,
        object_max));
  }
  data.rows = simulation.object == 0 ? static_cast<int>(needed) : simulation.object;
  data.cols = data.rows;
  // Phases and amplitudes in double precision, and two copies of the object.
  constexpr double bytes_per_pixel = 2 * sizeof(double) + 4 * sizeof(double);
  harness::run::require_memory("--object-size",
                               fmt::format("arrays of {} × {}", data.rows, data.cols),
                               bytes_per_pixel * data.rows * data.cols);
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const double free = data.rows - data.window - 1 - extent[i % 2];
    data.positions.push_back(static_cast<float>(corners[i] - low[i % 2] + free / 2));
  }
}

std::vector<std::complex<float>> make_object(const Simulation& simulation, const Dataset& data) {
  const double detail = std::max(6.0, data.window / 4.0);
  const std::vector<double> phase =
      smooth_field(Random(simulation.seed, Stream::phase), data.rows, data.cols, detail);
  const std::vector<double> amplitude =
      smooth_field(Random(simulation.seed, Stream::amplitude), data.rows, data.cols, detail);
  std::vector<std::complex<float>> object;
  for (std::size_t i = 0; i < phase.size(); ++i) {
    object.emplace_back(
        std::polar(0.75 + 0.25 * std::tanh(amplitude[i]), pi / 2 * std::tanh(phase[i])));
  }
  return object;
}

std::vector<std::complex<float>> make_probe(const Simulation& simulation) {
  const double middle = (simulation.probe - 1) / 2.0;
  const double waist = simulation.probe / 6.0;
  Mode first;
  for (int row = 0; row < simulation.probe; ++row) {
    for (int col = 0; col < simulation.probe; ++col) {
      const double square =
          (std::pow(row - middle, 2) + std::pow(col - middle, 2)) / (waist * waist);
      first.push_back(std::polar(std::exp(-square / 4), square / 2));
    }
  }
  std::vector<Mode> modes{std::move(first)};
  for (int m = 1; m < simulation.modes; ++m) {
    add_mode(modes, simulation.probe, power(modes.back()) / 2);
  }
  double total = 0;
  for (const Mode& mode : modes) total += power(mode);
  const double factor = std::sqrt(simulation.photons / total);
  std::vector<std::complex<float>> probe;
  for (const Mode& mode : modes) {
    for (const std::complex<double>& value : mode) probe.emplace_back(factor * value);
  }
  return probe;
}

}  // namespace

Dataset simulate(const Simulation& simulation) {
  Dataset data;
  // Typical values of beamlines: a photon of 10 keV, pixels of 75 um, a distance of 2 m.
  data.geometry = {
      .wavelength = 1.24e-10, .distance = 2, .pixel_height = 75e-6, .pixel_width = 75e-6};
  data.count = simulation.positions;
  data.detector = simulation.detector;
  data.window = simulation.probe;
  data.modes = simulation.modes;
  place_scan(simulation, data);
  data.object = make_object(simulation, data);
  data.probe = make_probe(simulation);
  data.has_object = true;
  data.has_probe = true;
  const auto pixels = spec::to_size(data.detector) * spec::to_size(data.detector);
  data.mask.assign(pixels, 1);
  data.frames.reserve(pixels * spec::to_size(data.count));
  ReferenceModel model(data);
  for (std::int64_t n = 0; n < data.count; ++n) {
    Random random(simulation.seed, Stream::noise, static_cast<std::uint64_t>(n) + 1);
    for (const std::complex<double>& value : model.intensity(n).values) {
      const double photons = simulation.poisson ? poisson(random, value.real()) : value.real();
      data.frames.push_back(static_cast<float>(photons));
    }
  }
  return data;
}

}  // namespace rankcheck::cases::reconstruct
