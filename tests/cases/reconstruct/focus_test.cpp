#include "cases/reconstruct/focus.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/reconstruct/shards.hpp"
#include "cases/reconstruct/solvers.hpp"
#include "tests/cases/reconstruct/small_data.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

using spec::Array;

constexpr int width = 32;

/// Gives a dataset `side` x `side` positions, `step` pixels apart.
void scan_square(Dataset& data, int side, double step) {
  data.count = side * side;
  data.positions.clear();
  for (int n = 0; n < data.count; ++n) {
    const int row = n / side;
    data.positions.push_back(static_cast<float>(row * step));
    data.positions.push_back(static_cast<float>((n - row * side) * step));
  }
}

/// Returns a dataset with frames of `detector` pixels squared and 3 x 3 positions, `step` pixels
/// apart. On the object, pixels are 100 nm high and 80 nm wide: height and width differ on purpose.
Dataset data_of(int detector, double step) {
  Dataset data;
  data.geometry = {
      .wavelength = 1e-10, .distance = 1, .pixel_height = 1e-3 / detector, .pixel_width = 0};
  data.geometry.pixel_width = 1.25 * data.geometry.pixel_height;
  data.detector = data.window = detector;
  data.modes = 1;
  scan_square(data, 3, step);
  return data;
}

/// Returns light whose intensity falls to 1/e at these frequencies, in cycles per frame. Zero
/// frequency comes first.
std::vector<double> light(int detector, double along_rows, double along_cols) {
  std::vector<double> frame;
  for (int row = 0; row < detector; ++row) {
    for (int col = 0; col < detector; ++col) {
      const double y = std::min(row, detector - row) / along_rows;
      const double x = std::min(col, detector - col) / along_cols;
      frame.push_back(4 * std::exp(-(y * y + x * x)));
    }
  }
  return frame;
}

std::vector<double> light(int detector, double frequency) {
  return light(detector, frequency, frequency);
}

/// Returns the width of such light in focus, in pixels, if it is no wider than the frame.
double width_in_focus(int detector, double frequency) {
  return detector / (2 * std::numbers::pi * frequency);
}

/// Root mean squared distances from the middle, weighted by intensity, in pixels.
struct Widths {
  double rows = 0;
  double cols = 0;

  [[nodiscard]] double both() const { return std::hypot(rows, cols); }
};

Widths widths_of(const std::vector<std::complex<float>>& probe, int detector) {
  double sum = 0;
  double row_squares = 0;
  double col_squares = 0;
  for (std::size_t i = 0; i < probe.size(); ++i) {
    const int row = static_cast<int>(i) / detector - detector / 2;
    const int col = static_cast<int>(i) % detector - detector / 2;
    sum += std::norm(std::complex<double>(probe[i]));
    row_squares += std::norm(std::complex<double>(probe[i])) * row * row;
    col_squares += std::norm(std::complex<double>(probe[i])) * col * col;
  }
  return {.rows = std::sqrt(row_squares / sum), .cols = std::sqrt(col_squares / sum)};
}

double width_of(const std::vector<std::complex<float>>& probe, int detector) {
  return widths_of(probe, detector).both();
}

reference::OperatorArrays wave_of(const std::vector<std::complex<float>>& probe) {
  reference::OperatorArrays arrays;
  arrays.scene = {.window = width, .detector = width};
  arrays.positions = 1;
  reference::BoundedArray& wave = arrays.make(Array::waves);
  for (std::size_t i = 0; i < probe.size(); ++i) wave.values[i] = probe[i];
  return arrays;
}

TEST(StartingProbeTest, IsAPointInFocusWhereEveryFrequencyIsLit) {
  const Dataset data = data_of(4, 1);
  const auto probe = starting_probe(data, std::vector<double>(16, 9), 0);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(probe[i].real(), i == 10 ? 12 : 0, 1e-5) << i;
    EXPECT_NEAR(probe[i].imag(), 0, 1e-5) << i;
  }
}

TEST(StartingProbeTest, HasTheMeanFrameAsItsDiffraction) {
  const std::vector<double> mean = light(width, 5);
  for (const double defocus : {0.0, 1e-3, -2e-3}) {
    reference::OperatorArrays arrays = wave_of(starting_probe(data_of(width, 4), mean, defocus));
    reference::propagate::reference(arrays, arrays);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      EXPECT_NEAR(std::norm(arrays[Array::far_waves].values[i]), mean[i], 1e-4) << i;
    }
  }
}

/// Exact and paraxial propagation differ by 2 pi z / lambda * (lambda f)^4 / 8 radians, here 1e-6.
TEST(StartingProbeTest, IsWhatTheReferencePropagatesFromTheFocus) {
  Dataset data = data_of(width, 4);
  data.geometry.pixel_width = data.geometry.pixel_height;
  const std::vector<double> mean = light(width, 5);
  for (const double defocus : {1e-3, -2e-3}) {
    reference::OperatorArrays arrays = wave_of(starting_probe(data, mean, 0));
    // In pixels of the object.
    arrays.scene.wavelength = data.geometry.wavelength / data.object_pixel_width();
    arrays.scene.distance = defocus / data.object_pixel_width();
    reference::propagate_fresnel::reference(arrays, arrays);
    const auto there = starting_probe(data, mean, defocus);
    const auto& propagated = arrays[Array::waves].values;
    // The waves agree except for the phase of the plane wave.
    const std::complex<double> phase =
        std::polar(1.0, 2 * std::numbers::pi * arrays.scene.distance / arrays.scene.wavelength);
    for (std::size_t i = 0; i < there.size(); ++i) {
      EXPECT_LT(std::abs(propagated[i] - phase * std::complex<double>(there[i])), 1e-4) << i;
    }
  }
}

/// A wave of frequency q is displaced by wavelength * distance * q. Detector pixels are 1 high and
/// 1.25 wide, so the object's pixels are 1.25 high and 1 wide. Along the columns, q is larger and
/// pixels are smaller.
TEST(StartingProbeTest, IsWiderAlongTheNarrowerPixels) {
  const Widths widths = widths_of(starting_probe(data_of(64, 4), light(64, 9), 4e-3), 64);
  EXPECT_NEAR(widths.cols / widths.rows, 1.25 * 1.25, 0.03);
}

TEST(DefociToTryTest, MakeProbesAsWideAsTheScanNeeds) {
  constexpr int detector = 64;
  // A square of 30 pixels has room for 9 positions that are 10 apart.
  const Dataset data = data_of(detector, 15);
  const std::vector<double> mean = light(detector, 11, 7);
  const std::vector<double> defoci = defoci_to_try(data, mean);
  ASSERT_EQ(defoci.size(), 4);
  double expected = 5;
  for (const double defocus : defoci) {
    for (const double side : {defocus, -defocus}) {
      const double wide = width_of(starting_probe(data, mean, side), detector);
      EXPECT_NEAR(wide, expected, 0.01 * expected);
    }
    expected *= 1.35;
  }
  EXPECT_GT(expected, detector / 4.0);
}

TEST(DefociToTryTest, AreNoNarrowerWherePositionsAreClose) {
  const Dataset data = data_of(64, 0.5);
  const std::vector<double> mean = light(64, 9);
  const double first = defoci_to_try(data, mean).at(1);
  EXPECT_NEAR(width_of(starting_probe(data, mean, first), 64), 4, 0.04);
}

TEST(DefociToTryTest, IgnoreAStrayPosition) {
  Dataset data = data_of(64, 3);
  scan_square(data, 10, 10);
  const std::vector<double> mean = light(64, 9);
  const double expected = defoci_to_try(data, mean).front();
  data.positions[1] = 3000;
  EXPECT_NEAR(defoci_to_try(data, mean).front(), expected, 0.1 * expected);
}

TEST(DefociToTryTest, AreTheFocusAloneWhereItFillsTheWindow) {
  ASSERT_GT(width_of(starting_probe(data_of(width, 100), light(width, 0.5), 0), width), 8);
  EXPECT_EQ(defoci_to_try(data_of(width, 100), light(width, 0.5)), std::vector<double>{0});
}

TEST(DefocusMostTest, FillsTheWindow) {
  // The probe is narrow in focus, so its width far from there is proportional to the defocus.
  const std::vector<double> mean = light(width, 4);
  EXPECT_NEAR(defocus_most(data_of(width, 4), mean) / 2,
              defoci_to_try(data_of(width, 16 * 1.5), mean).back(),
              0.02 * defocus_most(data_of(width, 4), mean));
  std::vector<double> one(std::size_t{width} * width, 0);
  one[0] = 1;
  EXPECT_TRUE(std::isinf(defocus_most(data_of(width, 4), one)));
}

TEST(DefociToTryTest, HaveTheFocusWhereProbesOverlapThere) {
  // Neighbouring positions are 10 pixels apart.
  const Dataset data = data_of(64, 15);
  ASSERT_GT(width_in_focus(64, 2), 5);
  EXPECT_EQ(defoci_to_try(data, light(64, 2)).front(), 0);
  ASSERT_LT(width_in_focus(64, 2.2), 5);
  EXPECT_GT(defoci_to_try(data, light(64, 2.2)).front(), 0);
}

TEST(DefociToTryTest, AreTheFocusAloneWhereNothingElseCanBe) {
  std::vector<double> one(std::size_t{width} * width, 0);
  one[0] = 1;
  EXPECT_EQ(defoci_to_try(data_of(width, 4), one), std::vector<double>{0});
  EXPECT_EQ(defoci_to_try(data_of(1, 4), {one.data(), 1}), std::vector<double>{0});
}

TEST(DefociToTryTest, AreThereForSparseScansAndLines) {
  const std::vector<double> mean = light(width, 9);
  EXPECT_FALSE(defoci_to_try(data_of(width, 100), mean).empty());
  Dataset line = data_of(width, 4);
  for (std::size_t i = 0; i < line.positions.size(); i += 2) line.positions[i] = 0;
  EXPECT_GE(defoci_to_try(line, mean).size(), 2);
  Dataset one = data_of(width, 4);
  one.positions.resize(2);
  one.count = 1;
  EXPECT_GE(defoci_to_try(one, mean).size(), 2);
}

/// A reconstruction whose cost is looked up by the number of starts so far.
class Known final : public Reconstruction {
 public:
  explicit Known(std::vector<double> costs) : costs_(std::move(costs)) {}

  double step(int /*batch*/) override {
    ++steps;
    return 0;
  }
  double cost() override { return costs_.at(spec::to_size(starts.size()) - 1); }
  [[nodiscard]] State state() override { return {}; }
  void restart(const State& from) override { starts.push_back(from.object.front().real()); }
  void keep() override {}
  [[nodiscard]] State kept() override { return {}; }

  int steps = 0;
  std::vector<float> starts;

 private:
  std::vector<double> costs_;
};

class FindDefocusTest : public testing::Test {
 protected:
  /// Looks for a defocus. The trials have these costs.
  std::optional<double> find(const std::vector<double>& costs,
                             const std::vector<double>& defoci,
                             int steps_most = 1000) {
    Known& running = running_.emplace(costs);
    told_.clear();
    const auto start = [](double defocus) {
      State state;
      state.object.emplace_back(defocus);
      return state;
    };
    const Search search{.is_interrupted = [&] { return running.steps >= steps_most; },
                        .tried =
                            [&](const Trial& trial) {
                              told_.push_back(trial.defocus);
                              EXPECT_EQ(trial.number, std::ssize(told_));
                              trials_ = trial.trials;
                            }};
    return find_defocus(problem_, running, defoci, start, search);
  }

  Dataset data_ = data_of(4, 1);
  Devices devices_;
  Problem problem_ = devices_.problem(data_, 3);
  std::optional<Known> running_;
  std::vector<double> told_;
  std::int64_t trials_ = 0;
};

TEST_F(FindDefocusTest, TakesWhatIsBetterThanItsOtherSide) {
  EXPECT_EQ(find({0.1, 0.11, 0.4, 0.3, 0.3, 0.12}, {1, 2, 4}), -4);
  EXPECT_EQ(running_->starts, (std::vector<float>{1, -1, 2, -2, 4, -4}));
  EXPECT_EQ(told_, (std::vector<double>{1, -1, 2, -2, 4, -4}));
  EXPECT_EQ(trials_, 6);
  EXPECT_EQ(running_->steps, 6 * 2 * 3);
}

TEST_F(FindDefocusTest, TakesTheFocusWhereItsCostIsLower) {
  EXPECT_EQ(find({0.1, 0.2, 0.4}, {0, 2}), 0);
  EXPECT_EQ(find({0.3, 0.2, 0.4}, {0, 2}), 2);
  EXPECT_EQ(running_->starts, (std::vector<float>{0, 2, -2}));
  EXPECT_EQ(trials_, 3);
}

TEST_F(FindDefocusTest, TakesNothingThatComesToNoNumber) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(find({nan, nan, nan, 0.5}, {1, 2}), -2);
  EXPECT_EQ(find({nan, nan, nan, nan, nan}, {0, 1, 2}), 0);
}

TEST_F(FindDefocusTest, EndsWhenItIsInterrupted) {
  EXPECT_EQ(find({0.2, 0.1, 0.4, 0.1}, {1, 2}, 14), std::nullopt);
  EXPECT_EQ(running_->steps, 14);
  EXPECT_EQ(told_, (std::vector<double>{1, -1}));
}

/// Reconstructs a scan without its probe, and compares the cost with that of the known probe.
class StartWithoutProbeTest : public testing::Test {
 protected:
  StartWithoutProbeTest() { problem_.partition = gpu::Partition::grid; }

  double cost_after(Reconstruction& running) {
    return reconstruct(solver_, problem_, running, {}, {.iterations = 12}, {}).costs.back();
  }
  /// Starts without the probe.
  std::unique_ptr<Reconstruction> start(const Search& search) {
    data_.has_probe = false;
    shards_.emplace(data_, devices_, problem_.partition, problem_.batches);
    problem_.shards = &*shards_;
    return start_without_probe(solver_, problem_, data_, start_, search);
  }

  const Solver& solver_ = solvers().front();
  Dataset data_ = simulate({.positions = 36, .detector = 32, .probe = 32, .step = 4});
  Devices devices_{2};
  Problem problem_ = devices_.problem(data_, 9, Layout::tiles);
  std::optional<Shards> shards_;
  std::function<State()> start_ = [this] { return starting_state(data_, 1, true); };
};

TEST_F(StartWithoutProbeTest, EndsWhenItIsInterrupted) {
  EXPECT_EQ(start({.is_interrupted = [] { return true; },
                   .chosen = [](double) { FAIL() << "nobody knows yet"; }}),
            nullptr);
}

TEST_F(StartWithoutProbeTest, ComesAsNearAsWithIt) {
  const double cost_known = cost_after(*solver_.start(problem_, start_()));
  std::vector<double> tried;
  const auto found = start({.tried = [&](const Trial& trial) { tried.push_back(trial.defocus); }});
  EXPECT_LT(cost_after(*found), cost_known);
  EXPECT_GT(tried.size(), 3);
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
