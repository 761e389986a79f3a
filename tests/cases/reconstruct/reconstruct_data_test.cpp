#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/cluster.hpp"

#include "cases/reconstruct/solvers.hpp"
#include "tests/cases/reconstruct/same_step.hpp"
#include "tests/data.hpp"
#include "tests/print.hpp"

/// Reconstructions of the data files, which may be absent.
namespace rankcheck::cases::reconstruct {
namespace {

using tests::siemens_star;
constexpr const char* two_modes = "simulated-two-modes.cxi";

/// Conjugate gradients with the model of counted photons.
constexpr std::string_view poisson = "poisson_conjugate_gradient";

/// Devices of a test, as the options of `rankcheck reconstruct` choose them. GoogleTest prints the
/// name.
struct Run {
  std::string name;
  int ranks = 1;
  gpu::Partition partition = gpu::Partition::compact;
  Layout layout = Layout::replicated;

  friend void PrintTo(const Run& run, std::ostream* out) { *out << run.name; }
};

class OfData : public testing::TestWithParam<Run> {
 protected:
  OfData() { cluster_.begin(GetParam().ranks, {}, {}); }

  [[nodiscard]] Problem problem(const Dataset& data, int batches) {
    return {.data = data,
            .cluster = cluster_,
            .partition = GetParam().partition,
            .layout = GetParam().layout,
            .batches = batches};
  }

  gpu::sim::SimCluster cluster_{reference::contract_named, gpu::algorithm_for};
};

class SiemensTest : public OfData {
 protected:
  std::optional<std::filesystem::path> path_ = tests::data_file(siemens_star);
};

class SiemensStepTest : public SiemensTest {};

const Solver& solver_named(std::string_view name) {
  const auto& all = solvers();
  return *std::find_if(
      all.begin(), all.end(), [&](const Solver& solver) { return solver.name == name; });
}

TEST_P(SiemensTest, ComesNearTheData) {
  if (!path_) GTEST_SKIP() << tests::absent(siemens_star);
  const Dataset data = read_dataset(*path_);
  Result start;
  start.state = starting_state(data, 1, true);
  const Result result =
      reconstruct(solvers().front(), problem(data, 16), start, {.iterations = 7}, {});
  EXPECT_LE(result.costs.back(), 0.02);
}

INSTANTIATE_TEST_SUITE_P(
    Reconstruct,
    SiemensTest,
    testing::Values(Run{"alone", 1},
                    Run{"two_stripes", 2, gpu::Partition::stripes},
                    Run{"three_quadrants", 3, gpu::Partition::quadrants},
                    Run{"five_quadrants_in_tiles", 5, gpu::Partition::quadrants, Layout::tiles},
                    Run{"eight_stripes", 8, gpu::Partition::stripes}),
    tests::printed_name);

/// Every partition's result is within the reference's bound. So results of two partitions differ by
/// at most twice this bound.
TEST_P(SiemensStepTest, IsTheReferences) {
  if (!path_) GTEST_SKIP() << tests::absent(siemens_star);
  const Dataset data = read_dataset(*path_);
  const Problem problem = this->problem(data, 32);
  const State start = starting_state(data, 1, true);
  const auto running = solvers().front().start(problem, start);
  const double cost = running->step(3);
  const State after = running->state();
  const StepCheck check =
      solvers().front().check(problem, {.before = start, .after = after, .batch = 3, .cost = cost});
  EXPECT_LE(check.ratio, 1) << check.place;
  // Far from the beam, the model is as dark as its roundings and the frames are not.
  EXPECT_GT(check.useful, 0.4);
}

/// Takes a step on the run's devices with all frames at once, from a flat object. Returns the state
/// after it.
State stepped(const Solver& solver, const Dataset& data, const Run& run) {
  gpu::sim::SimCluster devices(reference::contract_named, gpu::algorithm_for);
  devices.begin(run.ranks, {}, {});
  const Problem problem{
      .data = data, .cluster = devices, .partition = run.partition, .layout = run.layout};
  const auto running = solver.start(problem, starting_state(data, 1, true));
  static_cast<void>(running->step(0));
  return running->state();
}

std::vector<Run> every_partition() {
  std::vector<Run> runs;
  for (std::size_t kind = 0; kind < gpu::partition_names.size(); ++kind) {
    runs.push_back({std::string(gpu::partition_names[kind]),
                    static_cast<int>(kind) + 2,
                    static_cast<gpu::Partition>(kind),
                    kind % 2 == 0 ? Layout::replicated : Layout::tiles});
  }
  return runs;
}

TEST(ApartTest, IsTheLargestDifferenceByTheLargestValue) {
  EXPECT_EQ(apart({4, {0, 2}}, {3, {0, 2}}), 0.25);
  const float nan = std::nanf("");
  EXPECT_TRUE(std::isnan(apart({1, nan, 1}, {1, 1, 1})));
}

TEST(SiemensStepOfOneDeviceTest, IsThatOfEveryPartition) {
  const auto path = tests::data_file(siemens_star);
  if (!path) GTEST_SKIP() << tests::absent(siemens_star);
  const Dataset data = read_dataset(*path);
  const State alone = stepped(solvers().front(), data, {.name = "alone"});
  for (const auto& run : every_partition()) {
    SCOPED_TRACE(run.name);
    expect_same_step(stepped(solvers().front(), data, run), alone, data.count);
  }
}

/// Returns a dataset with a few positions, far from one another: `first` and every `every`-th
/// position after it.
Dataset few(const Dataset& data, std::int64_t first, std::int64_t every) {
  Dataset some = data;
  some.source.reset();
  some.count = 0;
  some.positions.clear();
  some.frames.clear();
  for (std::int64_t n = first; n < data.count; n += every, ++some.count) {
    std::copy_n(data.positions.begin() + 2 * n, 2, std::back_inserter(some.positions));
    const auto pixels = static_cast<std::int64_t>(data.pixels());
    std::copy_n(data.frames.begin() + n * pixels, pixels, std::back_inserter(some.frames));
  }
  return some;
}

/// Returns the solvers with the noise of amplitudes: no term of their sums is larger than the light
/// that it comes from. Poisson's gradients divide by modelled intensities, so their terms may have
/// any size.
std::vector<Solver> solvers_of_amplitudes() {
  std::vector<Solver> some = solvers();
  std::erase_if(some, [](const Solver& solver) { return solver.model != "gaussian"; });
  return some;
}

class SiemensStepsTest : public testing::TestWithParam<Solver> {};

TEST_P(SiemensStepsTest, AreThoseOfOneDevice) {
  const auto path = tests::data_file(siemens_star);
  if (!path) GTEST_SKIP() << tests::absent(siemens_star);
  const Dataset data = few(read_dataset(*path), 0, 8);
  const State alone = stepped(GetParam(), data, {.name = "alone"});
  for (const auto& run : every_partition()) {
    SCOPED_TRACE(run.name);
    expect_same_step(stepped(GetParam(), data, run), alone, data.count);
  }
}

INSTANTIATE_TEST_SUITE_P(Reconstruct,
                         SiemensStepsTest,
                         testing::ValuesIn(solvers_of_amplitudes()),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// Omitting the light of one frame of 516 changes more than the order of sums does.
TEST(SiemensStepOfOneDeviceTest, IsNotThatOfOtherFrames) {
  const auto path = tests::data_file(siemens_star);
  if (!path) GTEST_SKIP() << tests::absent(siemens_star);
  Dataset data = read_dataset(*path);
  const Solver& solver = solvers().front();
  const State right = stepped(solver, data, {.name = "right"});
  std::fill_n(data.frames.begin(), data.pixels(), 0.0F);
  const State wrong = stepped(solver, data, {.name = "wrong"});
  EXPECT_GT(apart(wrong.object, right.object), apart_at_most(data.count));
  EXPECT_GT(apart(wrong.probe, right.probe), apart_at_most(data.count));
}

TEST(SiemensCountsTest, StepsLowerTheirCost) {
  const auto path = tests::data_file(siemens_star);
  if (!path) GTEST_SKIP() << tests::absent(siemens_star);
  const Dataset data = read_dataset(*path);
  gpu::sim::SimCluster devices(reference::contract_named, gpu::algorithm_for);
  devices.begin(2, {}, {});
  Result start;
  start.state = starting_state(data, 1, true);
  const Problem problem{.data = data, .cluster = devices};
  const Result result = reconstruct(solver_named(poisson), problem, start, {.iterations = 3}, {});
  ASSERT_EQ(result.costs.size(), 4);
  for (std::size_t i = 1; i < result.costs.size(); ++i) {
    EXPECT_LT(result.costs[i], result.costs[i - 1]) << "iteration " << i;
  }
}

TEST(SiemensCountsTest, StepIsTheReferences) {
  const auto path = tests::data_file(siemens_star);
  if (!path) GTEST_SKIP() << tests::absent(siemens_star);
  const Dataset all = read_dataset(*path);
  const Dataset data = few(all, 0, 86);
  const Dataset others = few(all, 43, 86);
  gpu::sim::SimCluster devices(reference::contract_named, gpu::algorithm_for);
  devices.begin(2, {}, {});
  const Problem problem{.data = data, .cluster = devices};
  const Solver& solver = solver_named(poisson);
  const State start = starting_state(data, 1, true);
  const auto running = solver.start(problem, start);
  const double cost = running->step(0);
  const State after = running->state();
  const StepTaken step{.before = start, .after = after, .batch = 0, .cost = cost};
  const StepCheck check = solver.check(problem, step);
  EXPECT_LE(check.ratio, 1) << check.place;
  EXPECT_GT(check.useful, 0.7);
  // Bounds are wide where the model is dark and the frames are not. They are narrow where no window
  // lies, so changes there are found.
  const Problem of_others{.data = others, .cluster = devices};
  EXPECT_GT(solver.check(of_others, step).ratio, 1);
}

INSTANTIATE_TEST_SUITE_P(Reconstruct,
                         SiemensStepTest,
                         testing::ValuesIn(every_partition()),
                         tests::printed_name);

/// Raster step of the scan of `two_modes`, in pixels. Factors with this period and phase ramps may
/// move from the object to the probe: the light does not show them.
constexpr int raster_step = 9;

/// Calls `visit` with all pixels at least a window from the object's edges. The last `less` rows
/// and columns of these pixels are left out.
template <typename Visit>
void for_each_inner(const Dataset& data, int less, Visit visit) {
  const int margin = data.window;
  for (int row = margin; row < data.rows - margin - less; ++row) {
    for (int col = margin; col < data.cols - margin - less; ++col) visit(row, col);
  }
}

/// Returns how well two objects agree at least a window from their edges, where every pixel is
/// under many positions. The result is 1 if they differ only by what the light of a raster does not
/// show.
double likeness(const Dataset& data,
                const std::vector<std::complex<float>>& a,
                const std::vector<std::complex<float>>& b) {
  using Complex = std::complex<double>;
  const auto at = [&](const std::vector<std::complex<float>>& object, int row, int col) {
    return Complex(object[spec::to_size(row * data.cols + col)]);
  };
  const auto product = [&](int row, int col) {
    return at(a, row, col) * std::conj(at(b, row, col));
  };
  // Comparing neighbouring periods cancels periodic factors. Only the ramp is left.
  Complex down = 0;
  Complex right = 0;
  for_each_inner(data, raster_step, [&](int row, int col) {
    down += product(row + raster_step, col) * std::conj(product(row, col));
    right += product(row, col + raster_step) * std::conj(product(row, col));
  });
  // For each pixel of a period, the best factor is the sum divided by the power.
  constexpr std::size_t pixels_of_period = std::size_t{raster_step} * raster_step;
  std::array<Complex, pixels_of_period> sums{};
  std::array<double, pixels_of_period> powers{};
  double a_power = 0;
  for_each_inner(data, 0, [&](int row, int col) {
    const double phase = (row * std::arg(down) + col * std::arg(right)) / raster_step;
    const auto i = spec::to_size(row % raster_step * raster_step + col % raster_step);
    sums[i] += product(row, col) * std::polar(1.0, -phase);
    powers[i] += std::norm(at(b, row, col));
    a_power += std::norm(at(a, row, col));
  });
  double common = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) common += std::norm(sums[i]) / powers[i];
  return std::sqrt(common / a_power);
}

/// Expected result of a solver after 100 iterations. An object of likeness 0.999 has an rms error
/// of 4.5 %. The object of alternating projections has 6.3 %, because it is a mean of waves that do
/// not agree yet.
struct Target {
  std::string_view solver;
  double cost_most = 0;
  double likeness_least = 0;

  friend void PrintTo(const Target& target, std::ostream* out) { *out << target.solver; }
};

class SimulatedTest : public testing::TestWithParam<Target> {};

TEST_P(SimulatedTest, ObjectComesBackFromAFlatOne) {
  const auto path = tests::data_file(two_modes);
  if (!path) GTEST_SKIP() << tests::absent(two_modes);
  const Dataset data = read_dataset(*path);
  Result start;
  start.state = starting_state(data, 2, true);
  EXPECT_LT(likeness(data, start.state.object, data.object), 0.9);
  gpu::sim::SimCluster devices(reference::contract_named, gpu::algorithm_for);
  devices.begin(3, {}, {});
  const Solver& solver = solver_named(GetParam().solver);
  const Problem problem{.data = data, .cluster = devices, .batches = solver.batches};
  const Result result = reconstruct(solver, problem, start, {.iterations = 100}, {});
  EXPECT_LT(result.costs.back(), GetParam().cost_most);
  EXPECT_GT(likeness(data, result.state.object, data.object), GetParam().likeness_least);
}

INSTANTIATE_TEST_SUITE_P(Reconstruct,
                         SimulatedTest,
                         testing::Values(Target{"rpie", 1e-3, 0.999},
                                         Target{"epie", 1e-3, 0.999},
                                         Target{"momentum", 1e-3, 0.999},
                                         Target{"lsqml", 1e-3, 0.999},
                                         Target{"conjugate_gradient", 1e-3, 0.999},
                                         Target{poisson, 1e-3, 0.999},
                                         Target{"difference_map", 1e-4, 0.999},
                                         Target{"alternating_projections", 1e-2, 0.998}),
                         tests::printed_name);

}  // namespace
}  // namespace rankcheck::cases::reconstruct
