#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "cases/reconstruct/solvers.hpp"
#include "tests/cases/reconstruct/data_file.hpp"
#include "tests/cases/reconstruct/small_data.hpp"
#include "tests/print.hpp"

/// Reconstructions of the data files, which may be absent.
namespace rankcheck::cases::reconstruct {
namespace {

using testing::TestWithParam;

/// Conjugate gradients with the model of counted photons.
constexpr const char* poisson = "poisson_conjugate_gradient";

/// Devices of a test, as the options of `rankcheck reconstruct` choose them. GoogleTest prints the
/// name.
struct Run {
  std::string name;
  int ranks = 1;
  gpu::Partition partition = gpu::Partition::compact;
  Layout layout = Layout::replicated;

  friend void PrintTo(const Run& run, std::ostream* out) { *out << run.name; }
};

class SiemensTest : public DataFileTest<TestWithParam<Run>> {};

/// Returns the problem of reconstructing the data on the run's devices.
Problem problem_of(Devices& devices, const Dataset& data, const Run& run, int batches) {
  Problem problem = devices.problem(data, batches, run.layout);
  problem.partition = run.partition;
  return problem;
}

TEST_P(SiemensTest, ComesNearTheData) {
  Devices devices(GetParam().ranks);
  const Problem problem = problem_of(devices, data_, GetParam(), 16);
  const Result result =
      reconstruct(solvers().front(), problem, flat_start(data_, 1), {.iterations = 7});
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

/// Takes a step on the run's devices with all frames at once, from a flat object. Returns the state
/// after it.
State stepped(const Solver& solver, const Dataset& data, const Run& run) {
  Devices devices(run.ranks);
  return first_step(solver, problem_of(devices, data, run, 1), starting_state(data, 1, true)).after;
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

/// Largest difference between two sums of `terms` numbers in single precision, added in any order,
/// relative to the sum of their magnitudes. Each sum is off by up to (terms - 1) roundings of 2^-24
/// (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
double apart_at_most(std::int64_t terms) {
  return 2 * static_cast<double>(terms - 1) * 0x1p-24;
}

/// Returns the largest difference between two arrays, relative to the largest value of `a`.
double apart(const Complexes& a, const Complexes& b) {
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max<double>(largest, std::abs(a[i]));
    const double here = std::abs(std::complex<double>(a[i]) - std::complex<double>(b[i]));
    // std::max() would drop a NaN.
    if (std::isnan(here)) return here;
    difference = std::max(difference, here);
  }
  return difference / largest;
}

/// Expects that a step with `positions` positions differs from the same step on one device only by
/// the order of sums over positions. All partitions compute the same bits for each frame. The
/// largest value replaces the sum of the terms' magnitudes, which a state does not hold; README.md
/// explains this and lists measured values.
void expect_same_step(const State& state, const State& alone, std::int64_t positions) {
  ASSERT_EQ(state.object.size(), alone.object.size());
  ASSERT_EQ(state.probe.size(), alone.probe.size());
  EXPECT_LE(apart(state.object, alone.object), apart_at_most(positions));
  EXPECT_LE(apart(state.probe, alone.probe), apart_at_most(positions));
}

TEST(ApartTest, IsTheLargestDifferenceByTheLargestValue) {
  EXPECT_EQ(apart({4, {0, 2}}, {3, {0, 2}}), 0.25);
  const float nan = std::nanf("");
  EXPECT_TRUE(std::isnan(apart({1, nan, 1}, {1, 1, 1})));
}

class SiemensStepTest : public DataFileTest<TestWithParam<Run>> {};

/// Every partition's result is within the reference's bound. So results of two partitions differ by
/// at most twice this bound.
TEST_P(SiemensStepTest, IsTheReferences) {
  Devices devices(GetParam().ranks);
  const Problem problem = problem_of(devices, data_, GetParam(), 32);
  const Solver& solver = solvers().front();
  const StepCheck check =
      first_step(solver, problem, starting_state(data_, 1, true), 3).check(solver, problem);
  EXPECT_LE(check.ratio, 1) << check.place;
  // Far from the beam, the model is as dark as its roundings and the frames are not.
  EXPECT_GT(check.useful, 0.4);
}

INSTANTIATE_TEST_SUITE_P(Reconstruct,
                         SiemensStepTest,
                         testing::ValuesIn(every_partition()),
                         tests::printed_name);

/// Expects the step of one device with every partition.
void expect_same_steps(const Solver& solver, const Dataset& data) {
  const State alone = stepped(solver, data, {.name = "alone"});
  for (const auto& run : every_partition()) {
    SCOPED_TRACE(run.name);
    expect_same_step(stepped(solver, data, run), alone, data.count);
  }
}

class SiemensFramesTest : public DataFileTest<> {};

TEST_F(SiemensFramesTest, GiveTheSameStepWithEveryPartition) {
  expect_same_steps(solvers().front(), data_);
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

class SiemensStepsTest : public DataFileTest<TestWithParam<Solver>> {};

TEST_P(SiemensStepsTest, AreThoseOfOneDevice) {
  expect_same_steps(GetParam(), few(data_, 0, 8));
}

INSTANTIATE_TEST_SUITE_P(Reconstruct,
                         SiemensStepsTest,
                         testing::ValuesIn(solvers_of_amplitudes()),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// Omitting the light of one frame of 516 changes more than the order of sums does.
TEST_F(SiemensFramesTest, CountOneByOne) {
  const Solver& solver = solvers().front();
  const State right = stepped(solver, data_, {.name = "right"});
  std::fill_n(data_.frames.begin(), data_.pixels(), 0.0F);
  const State wrong = stepped(solver, data_, {.name = "wrong"});
  EXPECT_GT(apart(wrong.object, right.object), apart_at_most(data_.count));
  EXPECT_GT(apart(wrong.probe, right.probe), apart_at_most(data_.count));
}

TEST_F(SiemensFramesTest, LowerTheCostOfCounts) {
  Devices devices(2);
  const Result result = reconstruct(
      find_solver(poisson), devices.problem(data_), flat_start(data_, 1), {.iterations = 3});
  ASSERT_EQ(result.costs.size(), 4);
  for (std::size_t i = 1; i < result.costs.size(); ++i) {
    EXPECT_LT(result.costs[i], result.costs[i - 1]) << "iteration " << i;
  }
}

TEST_F(SiemensFramesTest, GiveTheReferencesStepOfCounts) {
  const Dataset data = few(data_, 0, 86);
  const Dataset others = few(data_, 43, 86);
  Devices devices(2);
  const Problem problem = devices.problem(data);
  const Solver& solver = find_solver(poisson);
  const Step step = first_step(solver, problem, starting_state(data, 1, true));
  const StepCheck check = step.check(solver, problem);
  EXPECT_LE(check.ratio, 1) << check.place;
  EXPECT_GT(check.useful, 0.7);
  // Bounds are wide where the model is dark and the frames are not. They are narrow where no window
  // lies, so changes there are found.
  EXPECT_GT(step.check(solver, devices.problem(others)).ratio, 1);
}

/// Raster step of the scan with two modes, in pixels. Factors with this period and phase ramps may
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
double likeness(const Dataset& data, const Complexes& a, const Complexes& b) {
  using Complex = std::complex<double>;
  const auto at = [&](const Complexes& object, int row, int col) {
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
  std::string solver;
  double cost_most = 0;
  double likeness_least = 0;

  friend void PrintTo(const Target& target, std::ostream* out) { *out << target.solver; }
};

class SimulatedTest : public DataFileTest<TestWithParam<Target>, two_modes> {};

TEST_P(SimulatedTest, ObjectComesBackFromAFlatOne) {
  const Result start = flat_start(data_, 2);
  EXPECT_LT(likeness(data_, start.state.object, data_.object), 0.9);
  Devices devices(3);
  const Solver& solver = find_solver(GetParam().solver);
  const Result result =
      reconstruct(solver, devices.problem(data_, solver.batches), start, {.iterations = 100});
  EXPECT_LT(result.costs.back(), GetParam().cost_most);
  EXPECT_GT(likeness(data_, result.state.object, data_.object), GetParam().likeness_least);
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
