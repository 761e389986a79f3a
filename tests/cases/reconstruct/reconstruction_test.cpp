#include "cases/reconstruct/reconstruction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/cancellation.hpp"
#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/cluster.hpp"

#include "harness/base/files.hpp"
#include "harness/case/case.hpp"

#include "cases/reconstruct/fingerprint.hpp"
#include "cases/reconstruct/hdf5.hpp"
#include "cases/reconstruct/model.hpp"
#include "cases/reconstruct/simulate.hpp"
#include "tests/cases/reconstruct/small_data.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

/// Each step adds 1 to the object's first pixel and is counted. The cost is 10 minus this pixel.
class Counting final : public Reconstruction {
 public:
  explicit Counting(State from) : state_(std::move(from)) {}

  double step(int batch) override {
    const double before = cost();
    state_.object[0] += 1;
    state_.memory["batch"].push_back(static_cast<float>(batch));
    std::vector<float>& count = state_.memory["count"];
    count.resize(1, 0);
    count[0] += 1;
    return before;
  }
  double cost() override { return 10 - state_.object[0].real(); }
  [[nodiscard]] State state() override {
    ++states_read;
    return state_;
  }
  void restart(const State& from) override { state_ = from; }
  void keep() override { kept_ = state_; }
  [[nodiscard]] State kept() override { return kept_; }

  static inline int states_read = 0;

 private:
  State state_;
  State kept_;
};

/// The ratio is 0 only if the two states are one step apart. So a check of other states is seen.
StepCheck check_counting(const Problem& /*problem*/, const StepTaken& step) {
  reference::CancellationScope::check();
  const float change = step.after.object[0].real() - step.before.object[0].real();
  return {.ratio = change - 1, .place = std::to_string(step.batch)};
}

const Solver counting{
    .name = "counting",
    .summary = "counts",
    .start = [](const Problem&, const State& from) -> std::unique_ptr<Reconstruction> {
      return std::make_unique<Counting>(from);
    },
    .check = check_counting};

class ReconstructTest : public testing::Test {
 protected:
  ReconstructTest() {
    cluster_.begin(1, {}, {});
    start_.state = starting_state(data_, 2, true);
  }

  harness::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "out.cxi";
  Dataset data_ = simulate({.positions = 4, .detector = 8, .probe = 6, .step = 2});
  gpu::sim::SimCluster cluster_{reference::contract_named, gpu::algorithm_for};
  Problem problem_{.data = data_, .cluster = cluster_};
  Result start_;
};

TEST_F(ReconstructTest, KeepsTheCostOfEveryState) {
  const Result result = reconstruct(counting, problem_, start_, {.iterations = 3}, {});
  EXPECT_EQ(result.costs, (std::vector<double>{9, 8, 7, 6}));
  EXPECT_EQ(result.iterations, 3);
  EXPECT_EQ(result.solver, "counting");
}

TEST_F(ReconstructTest, GoesThroughAllBatchesInEveryIteration) {
  problem_.batches = 3;
  const Result result = reconstruct(counting, problem_, start_, {.iterations = 2}, {});
  EXPECT_EQ(result.state.memory.at("batch"), (std::vector<float>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(result.costs, (std::vector<double>{9 + 8 + 7, 6 + 5 + 4, 3}));
  EXPECT_EQ(result.batches, 3);
}

TEST_F(ReconstructTest, ChecksEveryKthStep) {
  std::vector<std::pair<std::int64_t, std::string>> checked;
  const auto note = [&](std::int64_t step, const StepCheck& check) {
    EXPECT_EQ(check.ratio, 0);
    checked.emplace_back(step, check.place);
  };
  problem_.batches = 2;
  static_cast<void>(reconstruct(
      counting, problem_, start_, {.iterations = 4, .check_every = 3}, {.checked = note}));
  EXPECT_EQ(checked, (std::vector<std::pair<std::int64_t, std::string>>{{3, "0"}, {6, "1"}}));
}

/// Reports after its third step that a rank has another probe.
class Parting final : public Reconstruction {
 public:
  explicit Parting(const State& from) : counting_(from) {}

  double step(int batch) override {
    ++steps_;
    return counting_.step(batch);
  }
  double cost() override { return counting_.cost(); }
  [[nodiscard]] State state() override { return counting_.state(); }
  void restart(const State& from) override { counting_.restart(from); }
  void keep() override { counting_.keep(); }
  [[nodiscard]] State kept() override { return counting_.kept(); }
  [[nodiscard]] std::string unequal_copy() override { return steps_ < 3 ? "" : "rank 1: probe"; }

 private:
  Counting counting_;
  int steps_ = 0;
};

TEST_F(ReconstructTest, ComparesCopiesAtCheckedStepsAndAtTheEnd) {
  Solver parting = counting;
  parting.start = [](const Problem&, const State& from) -> std::unique_ptr<Reconstruction> {
    return std::make_unique<Parting>(from);
  };
  std::vector<std::pair<std::int64_t, std::string>> unequal;
  const Observer observer{
      .checked = [](std::int64_t, const StepCheck&) {},
      .unequal = [&](std::int64_t step,
                     const std::string& copy) { unequal.emplace_back(step, copy); }};
  static_cast<void>(
      reconstruct(parting, problem_, start_, {.iterations = 5, .check_every = 2}, observer));
  EXPECT_EQ(unequal,
            (std::vector<std::pair<std::int64_t, std::string>>{{4, "rank 1: probe"},
                                                               {5, "rank 1: probe"}}));
}

TEST_F(ReconstructTest, GoesOnFromACheckpointAsIfItHadNeverStopped) {
  const StepBudget budget{.iterations = 5, .save_every = 2};
  const auto save = [&](const Result& result) {
    if (result.iterations == 2) write_result(path_, data_, result, true);
  };
  const Result whole = reconstruct(counting, problem_, start_, budget, {.save = save});
  const Result resumed =
      reconstruct(counting, problem_, read_result(path_, data_), {.iterations = 5}, {});
  EXPECT_EQ(resumed.costs, whole.costs);
  EXPECT_EQ(resumed.state.object, whole.state.object);
  EXPECT_EQ(resumed.state.probe, whole.state.probe);
  EXPECT_EQ(resumed.state.memory, whole.state.memory);
}

TEST_F(ReconstructTest, GoesOnFromItsEnd) {
  const Result whole = reconstruct(counting, problem_, start_, {.iterations = 5}, {});
  write_result(path_, data_, reconstruct(counting, problem_, start_, {.iterations = 3}, {}), true);
  const Result resumed =
      reconstruct(counting, problem_, read_result(path_, data_), {.iterations = 5}, {});
  EXPECT_EQ(resumed.costs, whole.costs);
}

TEST_F(ReconstructTest, EndsWhenItIsInterrupted) {
  int steps = 0;
  const Result result =
      reconstruct(counting, problem_, start_, {.iterations = 9}, {.is_interrupted = [&] {
                    return ++steps == 2;
                  }});
  EXPECT_EQ(result.costs, (std::vector<double>{9, 8, 7}));
}

/// An interrupt does not wait for the end of the iteration. The result is the state before the
/// iteration.
TEST_F(ReconstructTest, EndsWithinAnIterationWhenItIsInterrupted) {
  problem_.batches = 3;
  int asked = 0;
  const Observer observer{.is_interrupted = [&] { return ++asked == 5; }};
  const Result result = reconstruct(counting, problem_, start_, {.iterations = 9}, observer);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_EQ(result.costs, (std::vector<double>{9 + 8 + 7}));
  EXPECT_EQ(result.state.memory.at("batch"), (std::vector<float>{0, 1, 2}));
  write_result(path_, data_, result, true);
  const Result resumed =
      reconstruct(counting, problem_, read_result(path_, data_), {.iterations = 2}, {});
  EXPECT_EQ(resumed.costs, (std::vector<double>{9 + 8 + 7, 6 + 5 + 4, 3}));
}

/// An interrupt does not wait for a check either. An interrupted check reports nothing.
TEST_F(ReconstructTest, EndsWithinACheckWhenItIsInterrupted) {
  problem_.batches = 2;
  std::vector<std::int64_t> begun;
  std::vector<std::int64_t> checked;
  const auto is_third = [&] { return begun.size() == 3; };
  const Observer observer{
      .checking = [&](std::int64_t step) { begun.push_back(step); },
      .checked = [&](std::int64_t step, const StepCheck&) { checked.push_back(step); },
      .is_check_cancelled = is_third,
      .is_interrupted = is_third};
  const Result result =
      reconstruct(counting, problem_, start_, {.iterations = 9, .check_every = 1}, observer);
  EXPECT_EQ(begun, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(checked, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(result.iterations, 1);
  EXPECT_EQ(result.state.memory.at("batch"), (std::vector<float>{0, 1}));
}

TEST_F(ReconstructTest, ReadsTheStateAtItsEndAlone) {
  problem_.batches = 2;
  Counting::states_read = 0;
  static_cast<void>(reconstruct(
      counting, problem_, start_, {.iterations = 9}, {.is_interrupted = [] { return false; }}));
  EXPECT_EQ(Counting::states_read, 1);
}

TEST_F(ReconstructTest, EndsBeforeTheFirstIteration) {
  problem_.batches = 2;
  const Result result = reconstruct(
      counting, problem_, start_, {.iterations = 9}, {.is_interrupted = [] { return true; }});
  EXPECT_EQ(result.iterations, 0);
  EXPECT_TRUE(result.costs.empty());
  EXPECT_EQ(result.state.object, start_.state.object);
}

TEST_F(ReconstructTest, EndsWhereTheCostIsNoNumber) {
  start_.state.object[0] = std::numeric_limits<float>::quiet_NaN();
  const Result result = reconstruct(counting, problem_, start_, {.iterations = 9}, {});
  EXPECT_EQ(result.iterations, 1);
}

TEST_F(ReconstructTest, WritesWhatOthersNeedToRecomputeTheModel) {
  const Result result = reconstruct(counting, problem_, start_, {.iterations = 1}, {});
  write_result(path_, data_, result, false);
  const hdf5::Reader file(path_);
  EXPECT_EQ(file.complex("entry_1/image_1/data").shape, (hdf5::Shape{data_.rows, data_.cols}));
  EXPECT_EQ(file.complex("entry_1/image_1/data").values, result.state.object);
  const auto probe = file.complex("entry_1/instrument_1/source_1/illumination");
  EXPECT_EQ(probe.shape, (hdf5::Shape{2, 6, 6}));
  EXPECT_EQ(probe.values, result.state.probe);
  EXPECT_EQ(file.numbers<float>("entry_1/image_1/positions").values, data_.positions);
  EXPECT_EQ(file.numbers<double>("entry_1/image_1/cost").values, result.costs);
}

TEST_F(ReconstructTest, TellsFiniteStatesFromOthers) {
  EXPECT_TRUE(is_finite(start_));
  Result spoilt = start_;
  spoilt.state.object.back() = {0, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_FALSE(is_finite(spoilt));
  spoilt = start_;
  spoilt.state.probe.front() = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(is_finite(spoilt));
  spoilt = start_;
  spoilt.state.memory["count"] = {1, -std::numeric_limits<float>::infinity()};
  EXPECT_FALSE(is_finite(spoilt));
  spoilt = start_;
  spoilt.costs = {std::nan("")};
  EXPECT_FALSE(is_finite(spoilt));
}

TEST_F(ReconstructTest, LeavesNothingHalfWritten) {
  EXPECT_THROW(write_result(folder_.path() / "none" / "out.cxi", data_, start_, true),
               std::runtime_error);
  write_result(path_, data_, start_, true);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

/// Writes checkpoints with one changed number each, and reads them.
TEST_F(ReconstructTest, RejectsBrokenCheckpoints) {
  const auto complaint = [&](const Result& broken) -> std::string {
    write_result(path_, data_, broken, true);
    try {
      static_cast<void>(read_result(path_, data_));
    } catch (const harness::BadInput& bad) {
      return std::string(bad.what()).substr(path_.string().size() + 2);
    }
    return {};
  };
  start_.state.memory["count"] = {1, 2};
  EXPECT_EQ(complaint(start_), "");
  Result broken = start_;
  broken.state.probe.clear();
  EXPECT_EQ(complaint(broken),
            "entry_1/instrument_1/source_1/illumination: found [0, 6, 6], expected at least one "
            "number");
  broken = start_;
  broken.batches = 0;
  EXPECT_EQ(complaint(broken), "rankcheck_1/batches: found 0, expected a whole number, 1 or more");
  broken = start_;
  broken.iterations = -1;
  EXPECT_EQ(complaint(broken),
            "rankcheck_1/iterations: found -1, expected a whole number, 0 or more");
  broken = start_;
  broken.state.object[3] = {0, std::nanf("")};
  EXPECT_EQ(complaint(broken),
            "entry_1/image_1/data: found infinity or NaN at 3, expected finite numbers");
  broken = start_;
  broken.state.memory["count"][1] = INFINITY;
  EXPECT_EQ(complaint(broken),
            "rankcheck_1/memory/count: found infinity or NaN at 1, expected finite numbers");
  broken = start_;
  broken.iterations = 2;
  broken.costs = {1, std::nan("")};
  EXPECT_EQ(complaint(broken),
            "entry_1/image_1/cost: found infinity or NaN at 1, expected finite numbers");
}

TEST_F(ReconstructTest, RejectsCheckpointsWithAnyFlippedBit) {
  start_.state.memory["count"] = {1, 2};
  write_result(path_, data_, start_, true);
  const std::string whole = harness::read_file(path_);
  EXPECT_NO_THROW((void)read_result(path_, data_));
  for (std::size_t bit = 0; bit < 8 * whole.size(); bit += 1009) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    harness::write_file(path_, flipped);
    EXPECT_THROW((void)read_result(path_, data_), harness::FileError) << bit;
  }
  // A file without a checksum is not a checkpoint.
  harness::write_file(path_, whole.substr(0, whole.rfind("\ncrc32 ")));
  EXPECT_THROW((void)read_result(path_, data_), harness::FileError);
}

TEST_F(ReconstructTest, RejectsCountsThatAreNotWhole) {
  for (const double number : {3.7, std::nan(""), 1e10}) {
    hdf5::Writer file;
    file.number("rankcheck_1/memory/is_complete", 1);
    file.string("rankcheck_1/solver", "counting");
    file.number("rankcheck_1/iterations", 3);
    file.number("rankcheck_1/batches", number);
    file.save(path_, true);
    try {
      static_cast<void>(read_result(path_, data_));
      ADD_FAILURE() << number;
    } catch (const harness::BadInput& bad) {
      EXPECT_NE(std::string(bad.what()).find(", expected a whole number, 1 or more"),
                std::string::npos)
          << bad.what();
    }
  }
}

TEST_F(ReconstructTest, RejectsCheckpointsOfOtherFrames) {
  start_.frames_hash = fingerprint(data_);
  write_result(path_, data_, start_, true);
  const Result read = read_result(path_, data_);
  EXPECT_NO_THROW(require_same_frames(path_, read, fingerprint(data_)));
  Dataset other = data_;
  std::swap_ranges(other.frames.begin(), other.frames.begin() + 64, other.frames.begin() + 64);
  EXPECT_THROW(require_same_frames(path_, read, fingerprint(other)), harness::BadInput);
  other = data_;
  other.mask[5] = 0;
  EXPECT_THROW(require_same_frames(path_, read, fingerprint(other)), harness::BadInput);
}

TEST_F(ReconstructTest, RejectsCheckpointsWithoutWhatTheSolverRemembers) {
  Solver remembering = counting;
  remembering.remembers = {spec::Array::probe_direction};
  const auto require = [&] { require_memory(path_, start_, remembering, data_); };
  EXPECT_NO_THROW(require_memory(path_, start_, counting, data_));
  EXPECT_THROW(require(), harness::BadInput);
  start_.state.memory["probe_direction"].assign(2 * start_.state.probe.size(), 0);
  EXPECT_NO_THROW(require());
  start_.state.memory["probe_direction"].pop_back();
  EXPECT_THROW(require(), harness::BadInput);
  // Every position needs its exit waves.
  remembering.remembers = {spec::Array::exit_waves};
  spec::Scene scene = data_.scene();
  scene.modes = start_.state.modes(data_.window);
  const auto size = spec::to_size(data_.count * spec::components(scene, spec::Array::exit_waves));
  start_.state.memory["exit_waves"].assign(size, 0);
  EXPECT_NO_THROW(require());
  start_.state.memory["exit_waves"].pop_back();
  EXPECT_THROW(require(), harness::BadInput);
}

TEST_F(ReconstructTest, RejectsCheckpointsOfOtherData) {
  write_result(path_, data_, start_, false);
  EXPECT_THROW(static_cast<void>(read_result(path_, data_)), harness::FileError);
  write_result(path_, data_, start_, true);
  EXPECT_NO_THROW(static_cast<void>(read_result(path_, data_)));
  Dataset moved = data_;
  moved.positions[0] += 0.5F;
  EXPECT_THROW(static_cast<void>(read_result(path_, moved)), harness::BadInput);
  Dataset larger = data_;
  ++larger.rows;
  EXPECT_THROW(static_cast<void>(read_result(path_, larger)), harness::BadInput);
}

TEST(StartingStateTest, IsAsBrightAsTheFrames) {
  Dataset data = small_data();
  for (float& intensity : data.frames) intensity *= 7;
  const State state = starting_state(data, 3, true);
  data.object = state.object;
  data.probe = state.probe;
  data.modes = 3;
  ReferenceModel model(data);
  double modelled = 0;
  for (std::int64_t n = 0; n < data.count; ++n) {
    const reference::BoundedArray& frame = model.intensity(n);
    for (std::size_t i = 0; i < data.mask.size(); ++i) {
      modelled += data.mask[i] * frame.values[i].real();
    }
  }
  EXPECT_NEAR(modelled / data.total(), 1, 1e-5);
}

TEST(StartingStateTest, OfTheFileIsLeftAlone) {
  const Dataset data = small_data();
  const State state = starting_state(data, 2, false);
  EXPECT_EQ(state.object, data.object);
  EXPECT_EQ(state.probe, data.probe);
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
