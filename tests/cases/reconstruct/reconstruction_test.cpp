#include "cases/reconstruct/reconstruction.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/cancellation.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"
#include "harness/case/case.hpp"

#include "cases/reconstruct/hdf5.hpp"
#include "cases/reconstruct/model.hpp"
#include "cases/reconstruct/shards.hpp"
#include "tests/cases/reconstruct/reading.hpp"
#include "tests/cases/reconstruct/small_data.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

/// Each step adds 1 to the object's first pixel and is counted. The cost is 10 minus this pixel.
class Counting : public Reconstruction {
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

/// Returns the solver that starts a `Running`.
template <class Running>
Solver solver_of() {
  return {.name = "counting",
          .summary = "counts",
          .start = [](const Problem&, const State& from) -> std::unique_ptr<Reconstruction> {
            return std::make_unique<Running>(from);
          },
          .check = check_counting};
}

class ReconstructTest : public testing::Test {
 protected:
  /// Steps, and what was said of each.
  using Said = std::vector<std::pair<std::int64_t, std::string>>;

  Result run(const StepBudget& budget, const Observer& observer = {}) {
    return reconstruct(solver_, problem_, start_, budget, observer);
  }
  /// Goes on from the file to this number of iterations.
  Result resumed(std::int64_t iterations) {
    return reconstruct(solver_, problem_, read_result(path_, data_), {.iterations = iterations});
  }
  /// Writes a checkpoint with a change. Expects the complaint about it.
  void expect_rejected(const std::function<void(Result&)>& change, const std::string& complaint) {
    Result changed = start_;
    change(changed);
    write_result(path_, data_, changed, true);
    EXPECT_EQ(complaint_of([&] { return read_result(path_, data_); }),
              path_.string() + ": " + complaint);
  }
  /// The same for a change that makes number `i` of an array infinite or NaN.
  void expect_not_finite(const std::function<void(Result&)>& change,
                         const std::string& array,
                         int i) {
    Result changed = start_;
    change(changed);
    EXPECT_FALSE(is_finite(changed)) << array;
    expect_rejected(
        change,
        array + ": found infinity or NaN at " + std::to_string(i) + ", expected finite numbers");
  }

  harness::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "out.cxi";
  Dataset data_ = simulate({.positions = 4, .detector = 8, .probe = 6, .step = 2});
  Solver solver_ = solver_of<Counting>();
  Devices devices_;
  Problem problem_ = devices_.problem(data_);
  Result start_ = flat_start(data_, 2);
};

TEST_F(ReconstructTest, KeepsTheCostOfEveryState) {
  const Result result = run({.iterations = 3});
  EXPECT_EQ(result.costs, (std::vector<double>{9, 8, 7, 6}));
  EXPECT_EQ(result.iterations, 3);
  EXPECT_EQ(result.solver, "counting");
}

TEST_F(ReconstructTest, GoesThroughAllBatchesInEveryIteration) {
  problem_.batches = 3;
  const Result result = run({.iterations = 2});
  EXPECT_EQ(result.state.memory.at("batch"), (std::vector<float>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(result.costs, (std::vector<double>{9 + 8 + 7, 6 + 5 + 4, 3}));
  EXPECT_EQ(result.batches, 3);
}

TEST_F(ReconstructTest, ChecksEveryKthStep) {
  Said checked;
  const auto note = [&](std::int64_t step, const StepCheck& check) {
    EXPECT_EQ(check.ratio, 0);
    checked.emplace_back(step, check.place);
  };
  problem_.batches = 2;
  run({.iterations = 4, .check_every = 3}, {.checked = note});
  EXPECT_EQ(checked, (Said{{3, "0"}, {6, "1"}}));
}

/// Reports after its third step that a rank has another probe.
class Parting final : public Counting {
 public:
  using Counting::Counting;

  double step(int batch) override {
    ++steps_;
    return Counting::step(batch);
  }
  [[nodiscard]] std::string unequal_copy() override { return steps_ < 3 ? "" : "rank 1: probe"; }

 private:
  int steps_ = 0;
};

TEST_F(ReconstructTest, ComparesCopiesAtCheckedStepsAndAtTheEnd) {
  Said unequal;
  const Observer observer{
      .checked = [](std::int64_t, const StepCheck&) {},
      .unequal = [&](std::int64_t step,
                     const std::string& copy) { unequal.emplace_back(step, copy); }};
  solver_ = solver_of<Parting>();
  run({.iterations = 5, .check_every = 2}, observer);
  EXPECT_EQ(unequal, (Said{{4, "rank 1: probe"}, {5, "rank 1: probe"}}));
}

TEST_F(ReconstructTest, GoesOnFromItsEnd) {
  write_result(path_, data_, run({.iterations = 3}), true);
  EXPECT_EQ(resumed(5).costs, run({.iterations = 5}).costs);
}

TEST_F(ReconstructTest, EndsWhenItIsInterrupted) {
  int steps = 0;
  const auto is_second = [&] { return ++steps == 2; };
  EXPECT_EQ(run({.iterations = 9}, {.is_interrupted = is_second}).costs,
            (std::vector<double>{9, 8, 7}));
}

/// An interrupt does not wait for the end of the iteration. The result is the state before the
/// iteration.
TEST_F(ReconstructTest, EndsWithinAnIterationWhenItIsInterrupted) {
  problem_.batches = 3;
  int asked = 0;
  const auto is_fifth = [&] { return ++asked == 5; };
  const Result result = run({.iterations = 9}, {.is_interrupted = is_fifth});
  EXPECT_EQ(result.iterations, 1);
  EXPECT_EQ(result.costs, (std::vector<double>{9 + 8 + 7}));
  EXPECT_EQ(result.state.memory.at("batch"), (std::vector<float>{0, 1, 2}));
  write_result(path_, data_, result, true);
  EXPECT_EQ(resumed(2).costs, (std::vector<double>{9 + 8 + 7, 6 + 5 + 4, 3}));
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
  const Result result = run({.iterations = 9, .check_every = 1}, observer);
  EXPECT_EQ(begun, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(checked, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(result.iterations, 1);
  EXPECT_EQ(result.state.memory.at("batch"), (std::vector<float>{0, 1}));
}

TEST_F(ReconstructTest, ReadsTheStateAtItsEndAlone) {
  problem_.batches = 2;
  Counting::states_read = 0;
  run({.iterations = 9}, {.is_interrupted = [] { return false; }});
  EXPECT_EQ(Counting::states_read, 1);
}

TEST_F(ReconstructTest, EndsBeforeTheFirstIteration) {
  problem_.batches = 2;
  const Result result = run({.iterations = 9}, {.is_interrupted = [] { return true; }});
  EXPECT_EQ(result.iterations, 0);
  EXPECT_TRUE(result.costs.empty());
  EXPECT_EQ(result.state.object, start_.state.object);
}

TEST_F(ReconstructTest, EndsWhereTheCostIsNoNumber) {
  start_.state.object[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(run({.iterations = 9}).iterations, 1);
}

TEST_F(ReconstructTest, WritesWhatOthersNeedToRecomputeTheModel) {
  const Result result = run({.iterations = 1});
  write_result(path_, data_, result, false);
  const hdf5::Reader file(path_);
  EXPECT_EQ(file.complex(object_1).shape, (hdf5::Shape{data_.rows, data_.cols}));
  EXPECT_EQ(file.complex(object_1).values, result.state.object);
  const auto probe = file.complex(probe_1);
  EXPECT_EQ(probe.shape, (hdf5::Shape{2, 6, 6}));
  EXPECT_EQ(probe.values, result.state.probe);
  EXPECT_EQ(file.numbers<float>("entry_1/image_1/positions").values, data_.positions);
  EXPECT_EQ(file.numbers<double>("entry_1/image_1/cost").values, result.costs);
}

TEST_F(ReconstructTest, LeavesNothingHalfWritten) {
  EXPECT_THROW(write_result(folder_.path() / "none" / "out.cxi", data_, start_, true),
               std::runtime_error);
  write_result(path_, data_, start_, true);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(ReconstructTest, RejectsBrokenCheckpoints) {
  start_.state.memory["count"] = {1, 2};
  write_result(path_, data_, start_, true);
  EXPECT_NO_THROW((void)read_result(path_, data_));
  expect_rejected([](Result& result) { result.state.probe.clear(); },
                  probe_1 + ": found [0, 6, 6], expected at least one number");
  expect_rejected([](Result& result) { result.batches = 0; },
                  "rankcheck_1/batches: found 0, expected a whole number, 1 or more");
  expect_rejected([](Result& result) { result.iterations = -1; },
                  "rankcheck_1/iterations: found -1, expected a whole number, 0 or more");
}

TEST_F(ReconstructTest, TellsFiniteStatesFromOthers) {
  const float nan = std::nanf("");
  start_.state.memory["count"] = {1, 2};
  start_.costs = {1, 2};
  EXPECT_TRUE(is_finite(start_));
  expect_not_finite([&](Result& result) { result.state.object[3] = {0, nan}; }, object_1, 3);
  expect_not_finite([](Result& result) { result.state.probe[0] = INFINITY; }, probe_1, 0);
  expect_not_finite([](Result& result) { result.state.memory["count"][1] = -INFINITY; },
                    "rankcheck_1/memory/count",
                    1);
  expect_not_finite([&](Result& result) { result.costs[1] = nan; }, "entry_1/image_1/cost", 1);
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
    const std::string complaint = complaint_of([&] { return read_result(path_, data_); });
    EXPECT_TRUE(complaint.ends_with(", expected a whole number, 1 or more")) << complaint;
  }
}

TEST_F(ReconstructTest, RejectsCheckpointsOfOtherFrames) {
  const auto fingerprint = [&](const Dataset& data) {
    return Shards(data, devices_, gpu::Partition::compact, 1).fingerprint();
  };
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
  Solver remembering = solver_;
  remembering.remembers = {spec::Array::probe_direction};
  const auto require = [&] { require_memory(path_, start_, remembering, data_); };
  EXPECT_NO_THROW(require_memory(path_, start_, solver_, data_));
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
