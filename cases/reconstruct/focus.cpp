#include "cases/reconstruct/focus.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <optional>

#include "reference/spec/to_size.hpp"

#include "gpu/device/host/fft.hpp"

#include "cases/reconstruct/model.hpp"
#include "cases/reconstruct/recording.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

constexpr int iterations_each = 2;

/// Ratio of consecutive trial widths.
constexpr double widths_ratio = 1.35;

/// Calls body(row, column, value) for each value of a square.
template <class Values, class Body>
void for_each_at(const Values& values, int width, const Body& body) {
  for (int row = 0; row < width; ++row) {
    for (int col = 0; col < width; ++col) {
      body(row, col, values[spec::to_size(row * width + col)]);
    }
  }
}

/// Returns the frequency of an index in cycles per pixel.
double frequency(int index, int width) {
  return static_cast<double>(index < (width + 1) / 2 ? index : index - width) / width;
}

/// Spread of weights, as variances.
struct Spread {
  double rows = 0;
  double cols = 0;
};

/// Returns the variances of place(row) and place(column), weighted by `weights`.
template <class Place>
Spread variances(std::span<const double> weights, int width, const Place& place) {
  double sum = 0;
  double row_sum = 0;
  double col_sum = 0;
  double row_squares = 0;
  double col_squares = 0;
  for_each_at(weights, width, [&](int row, int col, double weight) {
    sum += weight;
    row_sum += weight * place(row);
    col_sum += weight * place(col);
    row_squares += weight * place(row) * place(row);
    col_squares += weight * place(col) * place(col);
  });
  return {.rows = row_squares / sum - row_sum / sum * (row_sum / sum),
          .cols = col_squares / sum - col_sum / sum * (col_sum / sum)};
}

/// Returns the squared width of the probe in its focus, in pixels.
double squared_width_in_focus(const Dataset& data, std::span<const double> mean_frame) {
  std::vector<double> intensity;
  for (const std::complex<double> value : starting_probe(data, mean_frame, 0)) {
    intensity.push_back(std::norm(value));
  }
  const Spread spread = variances(intensity, data.detector, [](int index) { return index; });
  return spread.rows + spread.cols;
}

/// Returns how much a metre of defocus widens the probe, in pixels per metre. A wave of frequency q
/// moves sideways by its angle, which is wavelength * q.
double widening(const Dataset& data, std::span<const double> mean_frame) {
  const Spread spread = variances(
      mean_frame, data.detector, [&](int index) { return frequency(index, data.detector); });
  const double height = data.object_pixel_height() * data.object_pixel_height();
  const double width = data.object_pixel_width() * data.object_pixel_width();
  return data.geometry.wavelength *
         std::sqrt(spread.rows / (height * height) + spread.cols / (width * width));
}

/// Returns the distance of neighbouring positions in pixels. The formula assumes that the positions
/// fill a rectangle evenly. Its sides are measured on the middle nine tenths of the positions along
/// each axis, to ignore outliers.
double spacing(const Dataset& data) {
  const auto left_out = data.count / 20;
  const double share = 1 - 2.0 * static_cast<double>(left_out) / static_cast<double>(data.count);
  double area = 1;
  for (const std::size_t axis : {0U, 1U}) {
    std::vector<float> places;
    for (std::size_t i = axis; i < data.positions.size(); i += 2) {
      places.push_back(data.positions[i]);
    }
    std::sort(places.begin(), places.end());
    const double extent = *(places.end() - 1 - left_out) - *(places.begin() + left_out);
    area *= std::max(extent / share, 1.0);
  }
  return std::sqrt(area / static_cast<double>(data.count));
}

}  // namespace

std::vector<std::complex<float>> starting_probe(const Dataset& data,
                                                std::span<const double> mean_frame,
                                                double defocus) {
  const int width = data.detector;
  Mode wave;
  for_each_at(mean_frame, width, [&](int row, int col, double intensity) {
    const double y = frequency(row, width) / data.object_pixel_height();
    const double x = frequency(col, width) / data.object_pixel_width();
    const double phase = -std::numbers::pi * data.geometry.wavelength * defocus * (y * y + x * x);
    wave.push_back(std::polar(std::sqrt(intensity), phase));
  });
  gpu::host::Fft().run({.precision = spec::Type::f64, .width = width, .batch = 1, .inverse = true},
                       wave.data(),
                       wave.data());
  for (std::complex<double>& value : wave) value /= width;
  const int middle = (width - width / 2) % width;
  corner_first(std::span(wave), width, middle, middle);
  return {wave.begin(), wave.end()};
}

std::vector<double> defoci_to_try(const Dataset& data, std::span<const double> mean_frame) {
  const double squared = squared_width_in_focus(data, mean_frame);
  const double widens = widening(data, mean_frame);
  const double apart = spacing(data);
  // Frames sample an intensity well if its wave fills at most half the window. A disc of this size
  // has an rms radius of 0.18 windows. Wider waves are fainter at their rims, so a quarter of the
  // window is allowed.
  const double width_most = data.detector / 4.0;
  // Discs of this width overlap by a third if neighbouring positions are at twice this distance.
  // For steps finer than an eighth of the window, a sixteenth of the window is wide enough.
  const double width_least = std::min(std::max(apart / 2, data.detector / 16.0), width_most);
  std::vector<double> defoci;
  if (4 * squared >= apart * apart || squared >= width_most * width_most || !(widens > 0)) {
    defoci.push_back(0);
  }
  double width = width_least;
  while (width <= width_most) {
    const bool is_reached_in_focus = width * width <= squared;
    if (!is_reached_in_focus && widens > 0) {
      defoci.push_back(std::sqrt(width * width - squared) / widens);
    }
    width *= widths_ratio;
  }
  return defoci;
}

double defocus_most(const Dataset& data, std::span<const double> mean_frame) {
  return data.detector / (2 * widening(data, mean_frame));
}

std::optional<double> find_defocus(const Problem& problem,
                                   Reconstruction& running,
                                   std::span<const double> defoci,
                                   const std::function<State(double defocus)>& start,
                                   const Search& search) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const bool is_lead = problem.cluster.local().front() == 0;
  Trial trial;
  trial.trials = 2 * std::ssize(defoci) - std::count(defoci.begin(), defoci.end(), 0);
  // Returns infinity if the cost is not finite, and nothing if the search was interrupted.
  const auto cost_of = [&](double defocus) -> std::optional<double> {
    running.restart(start(defocus));
    for (int step = 0; step < iterations_each * problem.batches; ++step) {
      static_cast<void>(running.step(step % problem.batches));
      if (search.is_interrupted()) return std::nullopt;
    }
    trial.defocus = defocus;
    trial.cost = running.cost();
    ++trial.number;
    if (is_lead) search.tried(trial);
    return std::isfinite(trial.cost) ? trial.cost : infinite;
  };
  double best = defoci.front();
  double best_cost = 0;
  double least_share = 1;
  double cost_in_focus = infinite;
  for (const double defocus : defoci) {
    const std::optional<double> behind = cost_of(defocus);
    const std::optional<double> before = defocus != 0 && behind ? cost_of(-defocus) : behind;
    if (!before) return std::nullopt;
    if (defocus == 0) cost_in_focus = *behind;
    const double share = std::min(*behind, *before) / std::max(*behind, *before);
    if (!(share < least_share)) continue;
    least_share = share;
    best = *behind < *before ? defocus : -defocus;
    best_cost = std::min(*behind, *before);
  }
  return cost_in_focus < best_cost ? 0 : best;
}

std::unique_ptr<Reconstruction> start_without_probe(const Solver& solver,
                                                    const Problem& problem,
                                                    Dataset& data,
                                                    const std::function<State()>& start,
                                                    const Search& search) {
  const std::vector<double>& mean = problem.shards->mean_frame();
  const auto start_at = [&](double defocus) {
    data.probe = starting_probe(data, mean, defocus);
    return start();
  };
  const std::vector<double> defoci = defoci_to_try(data, mean);
  std::optional<double> best = defoci.front();
  std::unique_ptr<Reconstruction> running = solver.start(problem, start_at(*best));
  if (defoci != std::vector<double>{0}) {
    best = find_defocus(problem, *running, defoci, start_at, search);
    if (!best) return nullptr;
    running->restart(start_at(*best));
  }
  if (problem.cluster.local().front() == 0) search.chosen(*best);
  return running;
}

}  // namespace rankcheck::cases::reconstruct
