#include "cases/reconstruct/shards.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "cases/reconstruct/solvers.hpp"
#include "tests/cases/reconstruct/small_data.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

/// A source of frames that notes which frames were read.
class NotingSource final : public FrameSource {
 public:
  explicit NotingSource(const Dataset& data) : data_(data) {}

  void read(std::int64_t n, std::span<float> frame) override {
    read_.push_back(n);
    data_.read_frame(n, frame);
  }
  [[nodiscard]] const std::vector<std::int64_t>& order() const { return read_; }

 private:
  Dataset data_;
  std::vector<std::int64_t> read_;
};

class ShardsTest : public testing::Test {
 protected:
  /// Returns the same scan with its frames in a NotingSource.
  Dataset elsewhere() {
    Dataset data = data_;
    data.frames.clear();
    data.source = source_;
    return data;
  }

  Dataset data_ = simulate({.positions = 9, .detector = 8, .probe = 6, .step = 2});
  std::shared_ptr<NotingSource> source_ = std::make_shared<NotingSource>(data_);
};

TEST_F(ShardsTest, ReadEveryFrameOnceAndInOrder) {
  Devices devices(4);
  const Shards shards(elsewhere(), devices, gpu::Partition::interlaced, 2);
  EXPECT_EQ(source_->order(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(ShardsTest, GiveEveryRankTheFramesOfItsPositions) {
  Devices devices(4);
  const Shards shards(elsewhere(), devices, gpu::Partition::compact, 2);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const float* frame = shards.frames(rank);
    for (const std::int64_t n : shards.positions()[rank]) {
      const auto first = data_.frames.begin() + n * static_cast<std::int64_t>(data_.pixels());
      EXPECT_TRUE(std::equal(frame, frame + data_.pixels(), first)) << rank << ' ' << n;
      frame += data_.pixels();
    }
  }
}

TEST_F(ShardsTest, AddUpToTheSameForAnyPartition) {
  const double total = data_.total();
  data_.has_probe = false;
  std::vector<double> mean;
  for (const int ranks : {1, 2, 5, 16}) {
    Devices devices(ranks);
    const Shards shards(elsewhere(), devices, gpu::Partition::compact, 3);
    EXPECT_EQ(shards.total(), total) << ranks;
    if (mean.empty()) mean = shards.mean_frame();
    EXPECT_EQ(shards.mean_frame(), mean) << ranks;
  }
  ASSERT_EQ(mean.size(), data_.pixels());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    double sum = 0;
    for (std::size_t n = 0; n < 9; ++n) sum += data_.frames[n * data_.pixels() + i];
    EXPECT_NEAR(mean[i], sum / 9, 1e-12 * sum) << i;
  }
}

/// State, cost and check do not depend on whether the frames come from the data or from shards.
TEST_F(ShardsTest, AStepTakesThemFromThere) {
  Devices devices(3);
  const Solver& solver = find_solver("rpie");
  const State start = starting_state(data_, data_.modes, true);
  const auto step = [&](const Dataset& data, const Shards* shards) {
    Problem problem = devices.problem(data, 2);
    problem.shards = shards;
    const Step taken = first_step(solver, problem, start, 1);
    return std::pair{taken.after.object, taken.check(solver, problem).ratio};
  };
  Dataset data = elsewhere();
  const Shards shards(data, devices, gpu::Partition::compact, 2);
  data.source_total = shards.total();
  EXPECT_EQ(step(data, &shards), step(data_, nullptr));
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
