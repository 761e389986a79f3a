#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "cases/reconstruct/focus.hpp"
#include "cases/reconstruct/shards.hpp"
#include "cases/reconstruct/solvers.hpp"
#include "tests/cases/reconstruct/data_file.hpp"
#include "tests/cases/reconstruct/small_data.hpp"

/// Tests how sharp the object is that a measurement of a Siemens star gives. The data may be
/// absent.
namespace rankcheck::cases::reconstruct {
namespace {

/// Number of the star's spokes. Every circle around its middle crosses all of them.
constexpr int spokes = 30;
/// Radii of the tested circles in pixels. They lie between the disc in the middle, which has no
/// spokes, and the border without light.
constexpr int radius_least = 40;
constexpr int radius_most = 140;
constexpr int radius_step = 20;
/// Largest width of a sharp edge, in pixels: the width of spokes and of gaps on a circle of radius
/// 60.
constexpr double edge_most = 2 * std::numbers::pi;
/// Width of the blur in pixels. It is wider than the thinnest spokes (4.2 pixels), so it spoils
/// even the sharpest star.
constexpr int blurred_over = 5;

/// Share of a circle's contrast that edges of the largest width leave: the mean of a wave over this
/// width.
double left_by_edges(double radius) {
  const double half_width = spokes * edge_most / (2 * radius);
  return std::sin(half_width) / half_width;
}

struct Point {
  double row = 0;
  double col = 0;
};

/// An object's phases relative to the phase of its mean.
class Phases {
 public:
  Phases(const Dataset& data, const Complexes& object) : cols_(spec::to_size(data.cols)) {
    std::complex<double> sum = 0;
    for (const std::complex<double> value : object) sum += value;
    for (const std::complex<double> value : object) {
      values_.push_back(std::arg(value * std::conj(sum)));
    }
  }

  /// Returns the amplitude of the wave that repeats `waves` times on a circle.
  [[nodiscard]] double contrast(Point middle, double radius, int waves) const {
    constexpr int samples = 360;
    std::complex<double> sum = 0;
    for (int i = 0; i < samples; ++i) {
      const double angle = 2 * std::numbers::pi * i / samples;
      const Point at{middle.row + radius * std::sin(angle), middle.col + radius * std::cos(angle)};
      sum += this->at(at) * std::polar(1.0, -waves * angle);
    }
    return 2 * std::abs(sum) / samples;
  }

 private:
  /// Interpolates bilinearly.
  [[nodiscard]] double at(Point point) const {
    const auto row = static_cast<std::size_t>(point.row);
    const auto col = static_cast<std::size_t>(point.col);
    const double* const first = values_.data() + row * cols_ + col;
    const double* const below = first + cols_;
    const double right = point.col - static_cast<double>(col);
    return std::lerp(std::lerp(first[0], first[1], right),
                     std::lerp(below[0], below[1], right),
                     point.row - static_cast<double>(row));
  }

  std::size_t cols_;
  std::vector<double> values_;
};

/// Returns the middle for which the outermost circle shows the spokes most strongly.
Point middle_of_star(const Dataset& data, const Phases& phases) {
  constexpr int off_most = 30;
  Point best;
  double most = -1;
  for (int row = -off_most; row <= off_most; ++row) {
    for (int col = -off_most; col <= off_most; ++col) {
      const Point here{data.rows / 2.0 + row, data.cols / 2.0 + col};
      const double contrast = phases.contrast(here, radius_most, spokes);
      if (contrast <= most) continue;
      most = contrast;
      best = here;
    }
  }
  return best;
}

/// Returns the strongest number of waves on a circle, from half the spokes to twice the spokes.
int spokes_on(const Phases& phases, Point middle, double radius) {
  int strongest = spokes / 2;
  for (int waves = strongest; waves <= 2 * spokes; ++waves) {
    const bool is_stronger =
        phases.contrast(middle, radius, waves) > phases.contrast(middle, radius, strongest);
    if (is_stronger) strongest = waves;
  }
  return strongest;
}

/// Returns the contrast of the thinnest spokes relative to the thickest. Returns 0 if some circle
/// does not show all spokes.
double sharpness(const Dataset& data, const Complexes& object) {
  const Phases phases(data, object);
  const Point middle = middle_of_star(data, phases);
  for (int radius = radius_least; radius <= radius_most; radius += radius_step) {
    if (spokes_on(phases, middle, radius) != spokes) return 0;
  }
  return phases.contrast(middle, radius_least, spokes) /
         phases.contrast(middle, radius_most, spokes);
}

/// Replaces each pixel by the mean of the pixels around it. Pixels near the border stay as they
/// are.
Complexes blurred(const Dataset& data, const Complexes& object) {
  constexpr int reach = blurred_over / 2;
  Complexes result = object;
  for (int row = reach; row < data.rows - reach; ++row) {
    for (int col = reach; col < data.cols - reach; ++col) {
      std::complex<float> sum = 0;
      for (int i = 0; i < blurred_over * blurred_over; ++i) {
        const int of_row = row + i / blurred_over - reach;
        const int of_col = col + i % blurred_over - reach;
        sum += object[spec::to_size(of_row * data.cols + of_col)];
      }
      result[spec::to_size(row * data.cols + col)] =
          sum / static_cast<float>(blurred_over * blurred_over);
    }
  }
  return result;
}

double sharpness_least() {
  return left_by_edges(radius_least) / left_by_edges(radius_most);
}

class SiemensStarTest : public DataFileTest<> {
 protected:
  Devices devices_;
};

TEST_F(SiemensStarTest, IsSharp) {
  const Problem problem = devices_.problem(data_, 16);
  const Result start = flat_start(data_, 1);
  const Result result = reconstruct(solvers().front(), problem, start, {.iterations = 12});
  EXPECT_EQ(sharpness(data_, start.state.object), 0);
  EXPECT_GE(sharpness(data_, result.state.object), sharpness_least());
  EXPECT_LT(sharpness(data_, blurred(data_, result.state.object)), sharpness_least());
}

TEST_F(SiemensStarTest, IsSharpWhereNobodyKnowsTheProbe) {
  data_.has_probe = false;
  Problem problem = devices_.problem(data_, 16);
  const Shards shards(data_, devices_, problem.partition, problem.batches);
  problem.shards = &shards;
  const auto start = [&] { return starting_state(data_, 1, true); };
  const auto running = start_without_probe(solvers().front(), problem, data_, start, {});
  const Result result =
      reconstruct(solvers().front(), problem, *running, {}, {.iterations = 20}, {});
  EXPECT_GE(sharpness(data_, result.state.object), sharpness_least());
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
