#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reference/ptycho/cancellation.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/case/case.hpp"

#include "cases/audit/wrong_cluster.hpp"
#include "cases/reconstruct/solvers.hpp"
#include "tests/cases/reconstruct/small_data.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

constexpr std::array layouts{Layout::replicated, Layout::tiles};

class SolversTest : public testing::TestWithParam<Solver> {
 protected:
  Solver solver_ = GetParam();
  /// The number of batches that the solver takes of this data.
  int batches_ = std::min(solver_.batches, 3);
  Dataset data_ = small_data();
  State start_ = starting_state(data_, 2, true);
};

TEST_P(SolversTest, StepAsTheReferenceWithEveryPartition) {
  for (std::size_t kind = 0; kind < gpu::partition_names.size(); ++kind) {
    for (const int ranks : {1, 2, 3, 5, 8, 16}) {
      for (const Layout layout : layouts) {
        SCOPED_TRACE(testing::Message() << gpu::partition_names[kind] << ' ' << ranks << ' '
                                        << (layout == Layout::tiles ? "tiles" : "replicated"));
        Devices devices(ranks);
        Problem problem = devices.problem(data_, batches_, layout);
        problem.partition = static_cast<gpu::Partition>(kind);
        const StepCheck check =
            first_step(solver_, problem, start_, batches_ - 1).check(solver_, problem);
        EXPECT_LE(check.ratio, 1) << check.place;
        EXPECT_GT(check.useful, 0.9);
        EXPECT_TRUE(check.has_power) << check.blind;
      }
    }
  }
}

/// The change is more than a tenth of the largest value, so a useful bound must detect it.
TEST_P(SolversTest, StepWithAnotherObjectOrProbeIsFound) {
  Devices devices(2);
  const Problem problem = devices.problem(data_, batches_);
  const Step step = first_step(solver_, problem, start_);
  for (const auto values : {&State::object, &State::probe}) {
    Step changed = step;
    auto& all = changed.after.*values;
    const auto largest = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::norm(a) < std::norm(b);
    });
    *largest *= 1.25F;
    EXPECT_GT(changed.check(solver_, problem).ratio, 1);
  }
}

TEST_P(SolversTest, GoOnFromACheckpointAsIfTheyHadNeverStopped) {
  const harness::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "checkpoint.cxi";
  for (const Layout layout : layouts) {
    Devices devices(3);
    const Problem problem = devices.problem(data_, batches_, layout);
    const auto save = [&](const Result& result) {
      if (result.iterations == 2) write_result(path, data_, result, true);
    };
    const StepBudget budget{.iterations = 4, .save_every = 2};
    const Result whole = reconstruct(solver_, problem, {.state = start_}, budget, {.save = save});
    expect_same(reconstruct(solver_, problem, read_result(path, data_), {.iterations = 4}), whole);
  }
}

/// The object is larger than the stretch that ranks exchange at a time.
TEST_P(SolversTest, KeepAndReadStatesAsTheyAre) {
  const Dataset data = simulate({.positions = 16, .detector = 9, .probe = 7, .step = 85});
  ASSERT_GT(std::ssize(data.object), stretch_max);
  for (const Layout layout : layouts) {
    Devices devices(3);
    const Problem problem = devices.problem(data, batches_, layout);
    State start = starting_state(data, data.modes, false);
    // Every pixel gets its own value, and none of them fits the data.
    float factor = 1;
    for (std::complex<float>& value : start.object) value *= factor += 1e-5F;
    const auto running = solver_.start(problem, start);
    EXPECT_EQ(running->state().object, start.object);
    running->keep();
    const double cost = running->step(0);
    const Step step{.before = start, .after = running->state(), .cost = cost};
    const StepCheck check = step.check(solver_, problem);
    EXPECT_LE(check.ratio, 1) << check.place;
    EXPECT_NE(step.after.object, start.object);
    EXPECT_NE(step.after.probe, start.probe);
    EXPECT_EQ(running->kept().object, start.object);
    EXPECT_EQ(running->kept().probe, start.probe);
    EXPECT_EQ(running->state().object, step.after.object);
    EXPECT_EQ(running->unequal_copy(), "");
  }
}

/// A restart also clears what the solver remembers of earlier steps.
TEST_P(SolversTest, RestartAsIfTheyWereNew) {
  for (const Layout layout : layouts) {
    Devices devices(3);
    const Problem problem = devices.problem(data_, batches_, layout);
    const auto fresh = solver_.start(problem, start_);
    const auto used = solver_.start(problem, starting_state(data_, 2, false));
    static_cast<void>(used->step(0));
    static_cast<void>(used->step(0));
    used->restart(start_);
    for (int step = 0; step < 2; ++step) EXPECT_EQ(used->step(0), fresh->step(0));
    expect_same(used->state(), fresh->state());
  }
}

TEST_P(SolversTest, TellWhichRankWentItsOwnWay) {
  for (const int wrong : {1, 2}) {
    for (const Layout layout : layouts) {
      Devices devices(3);
      audit::WrongCluster cluster(devices);
      cluster.on_collective = [&](audit::CollectiveCall& call) {
        call.make();
        if (call.operation != "all_reduce" || call.call.type != spec::Type::f32) return;
        std::vector<float> sums(spec::to_size(call.call.count));
        const auto bytes = static_cast<std::int64_t>(sums.size() * sizeof(float));
        std::byte* const there = call.buffers[spec::to_size(wrong)].recv;
        call.devices.read(wrong, there, sums.data(), bytes);
        // The weights are sums, too. Changing every number would leave sum / weight the same.
        for (std::size_t i = 0; i < sums.size(); i += 3) sums[i] *= 1.5F;
        call.devices.write(wrong, sums.data(), there, bytes);
      };
      const Problem problem{
          .data = data_, .cluster = cluster, .layout = layout, .batches = batches_};
      const auto running = solver_.start(problem, start_);
      static_cast<void>(running->step(0));
      const std::string copy = running->unequal_copy();
      EXPECT_TRUE(copy.starts_with(fmt::format("rank {}: ", wrong))) << copy;
    }
  }
}

TEST_P(SolversTest, LowerTheCost) {
  Devices devices(3);
  const Problem problem = devices.problem(data_, batches_);
  const Result result = reconstruct(solver_, problem, {.state = start_}, {.iterations = 20});
  EXPECT_LT(result.costs.back(), 0.5 * result.costs.front());
}

/// The check is cancelled early, halfway and at the very end.
TEST_P(SolversTest, LeaveACheckWhereNobodyWaitsForIt) {
  Devices devices(1);
  const Problem problem = devices.problem(data_, 1);
  const Step step{.before = start_, .after = start_};
  const auto check = [&] { static_cast<void>(step.check(solver_, problem)); };
  std::int64_t asked = 0;
  std::int64_t asked_most = std::numeric_limits<std::int64_t>::max();
  const reference::CancellationScope cancellation([&] { return ++asked > asked_most; });
  check();
  for (const std::int64_t most : {std::int64_t{0}, asked / 2, asked - 1}) {
    asked = 0;
    asked_most = most;
    EXPECT_THROW(check(), reference::Cancelled);
  }
}

TEST_P(SolversTest, RejectWhatTheyCannotHaveRemembered) {
  start_.memory["another"] = {1, 2, 3};
  Devices devices(1);
  const Problem problem = devices.problem(data_, batches_);
  EXPECT_NO_THROW(static_cast<void>(solver_.start(problem, start_)));
  for (const spec::Array array : solver_.remembers) {
    State wrong = start_;
    wrong.memory[std::string(spec::name(array))] = {1, 2, 3};
    EXPECT_THROW(static_cast<void>(solver_.start(problem, wrong)), harness::BadInput);
  }
}

/// Returns the scan on an object with more rows, which no window touches.
Dataset with_more_rows(Dataset data, int more_rows) {
  data.object.resize(data.object.size() + spec::to_size(more_rows * data.cols));
  data.rows += more_rows;
  return data;
}

/// Returns the bytes that a step takes on two devices.
std::int64_t bytes_of_step(const Solver& solver, const Dataset& data, Layout layout) {
  Devices devices(2);
  const Problem problem = devices.problem(data, 1, layout);
  const auto running = solver.start(problem, starting_state(data, data.modes, true));
  if (solver.batches > 1) running->keep();
  static_cast<void>(running->step(0));
  return devices.bytes();
}

TEST_P(SolversTest, TakeAsMuchMemoryAsTheySay) {
  const int more_rows = 1000;
  const auto bytes = [&](const Dataset& data, Layout layout) {
    return bytes_of_step(solver_, data, layout);
  };
  const Dataset larger = with_more_rows(data_, more_rows);
  const auto more =
      static_cast<double>(bytes(larger, Layout::replicated) - bytes(data_, Layout::replicated));
  const auto said = static_cast<double>(2 * solver_.bytes_per_pixel * more_rows * data_.cols);
  // Sums over pixels are made in parts, which take some memory of their own.
  EXPECT_NEAR(more / said, 1, 0.01);
  // In tiles, no device holds the additional rows.
  EXPECT_EQ(bytes(larger, Layout::tiles), bytes(data_, Layout::tiles));
}

/// Returns the bytes that reading a tiled state takes on two devices.
std::int64_t bytes_of_reading(const Solver& solver, const Dataset& data) {
  Devices devices(2);
  const Problem problem = devices.problem(data, 1, Layout::tiles);
  const auto running = solver.start(problem, starting_state(data, data.modes, true));
  const std::int64_t before = devices.bytes();
  static_cast<void>(running->state());
  const std::int64_t once = devices.bytes() - before;
  static_cast<void>(running->state());
  EXPECT_EQ(devices.bytes() - before, once);
  return once;
}

TEST_P(SolversTest, ExchangeTilesThroughRoomForNoMoreThanTheirArrays) {
  constexpr std::int64_t value = sizeof(std::complex<float>);
  ASSERT_GT(data_.object.size(), data_.probe.size());
  // Exit waves, if the solver keeps them, are longer than the object.
  const bool has_waves = solver_.name == "difference_map";
  const std::int64_t waves = data_.count * spec::values(data_.scene(), spec::Array::exit_waves);
  ASSERT_GT(waves, std::ssize(data_.object));
  EXPECT_EQ(bytes_of_reading(solver_, data_),
            2 * value * (has_waves ? waves : std::ssize(data_.object)));
  const Dataset larger = with_more_rows(data_, static_cast<int>(stretch_max / data_.cols));
  ASSERT_GT(std::ssize(larger.object), stretch_max);
  EXPECT_EQ(bytes_of_reading(solver_, larger), 2 * value * stretch_max);
}

INSTANTIATE_TEST_SUITE_P(Reconstruct,
                         SolversTest,
                         testing::ValuesIn(solvers()),
                         [](const auto& instance) { return std::string(instance.param.name); });

class DifferenceMapOnDevicesTest : public testing::Test {
 protected:
  [[nodiscard]] Problem problem(Devices& devices, gpu::Partition partition) const {
    Problem problem = devices.problem(data_);
    problem.partition = partition;
    return problem;
  }

  const Solver& solver_ = find_solver("difference_map");
  Dataset data_ = small_data();
  Devices devices_{5};
  Problem problem_ = problem(devices_, gpu::Partition::random);
};

TEST_F(DifferenceMapOnDevicesTest, LaterStepsGoOnFromTheirExitWaves) {
  const auto running = solver_.start(problem_, starting_state(data_, 2, true));
  static_cast<void>(running->step(0));
  const State before = running->state();
  const double cost = running->step(0);
  State after = running->state();
  const auto check = [&](const State& from) {
    return solver_.check(problem_, {.before = from, .after = after, .cost = cost});
  };
  EXPECT_LE(check(before).ratio, 1) << check(before).place;
  EXPECT_GT(check(before).useful, 0.99);
  State forgetful = before;
  forgetful.memory.clear();
  EXPECT_GT(check(forgetful).ratio, 1);
  // Position 4, mode 1, pixel (2, 3) of frames of 9 x 9.
  after.memory["exit_waves"][std::size_t{2} * (9 * 81 + 2 * 9 + 3)] += 1000;
  EXPECT_GT(check(before).ratio, 1);
  EXPECT_EQ(check(before).place, "exit_waves, position 4, mode 1, pixel (2, 3)");
}

TEST_F(DifferenceMapOnDevicesTest, KeepsTheWavesOfItsPositionsInAnotherPartition) {
  const auto running = solver_.start(problem_, starting_state(data_, 2, true));
  static_cast<void>(running->step(0));
  const State state = running->state();
  ASSERT_EQ(std::ssize(state.memory.at("exit_waves")), data_.count * 2 * 2 * 81);
  for (const auto partition : {gpu::Partition::stripes, gpu::Partition::interlaced}) {
    Devices others(3);
    const auto resumed = solver_.start(problem(others, partition), state);
    EXPECT_EQ(resumed->state().memory, state.memory);
  }
}

/// Returns the cost after 40 steps on a scan with a known answer.
double cost_after_40(const Solver& solver) {
  const Dataset data = simulate({.positions = 49, .detector = 16, .probe = 16, .step = 3.2});
  Devices devices(2);
  return reconstruct(solver, devices.problem(data), flat_start(data, 1), {.iterations = 40})
      .costs.back();
}

TEST_F(DifferenceMapOnDevicesTest, GoesOnWhereAlternatingProjectionsStagnate) {
  EXPECT_LT(cost_after_40(solver_), 0.005);
  EXPECT_GT(cost_after_40(find_solver("alternating_projections")), 0.03);
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
