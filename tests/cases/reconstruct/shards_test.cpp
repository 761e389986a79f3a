#include "cases/reconstruct/shards.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/cluster.hpp"

#include "cases/reconstruct/check.hpp"
#include "cases/reconstruct/on_devices.hpp"
#include "cases/reconstruct/simulate.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

/// A source of frames that counts how often each frame was read.
class CountingSource final : public FrameSource {
 public:
  CountingSource(std::vector<float> frames, std::size_t pixels)
      : frames_(std::move(frames)), pixels_(pixels), reads(frames_.size() / pixels) {}

  void read(std::int64_t n, std::span<float> frame) override {
    ++reads[spec::to_size(n)];
    order.push_back(n);
    const auto first = n * static_cast<std::int64_t>(pixels_);
    std::copy_n(frames_.begin() + first, pixels_, frame.begin());
  }

 private:
  std::vector<float> frames_;
  std::size_t pixels_;

 public:
  std::vector<int> reads;
  std::vector<std::int64_t> order;
};

class ShardsTest : public testing::Test {
 protected:
  /// Returns the same scan with its frames in a CountingSource.
  Dataset elsewhere() {
    Dataset data = data_;
    source_ = std::make_shared<CountingSource>(std::move(data.frames), data.pixels());
    data.frames.clear();
    data.source = source_;
    return data;
  }

  Dataset data_ = simulate({.positions = 9, .detector = 8, .probe = 6, .step = 2});
  std::shared_ptr<CountingSource> source_;
  gpu::sim::SimCluster cluster_{reference::contract_named, gpu::algorithm_for};
};

TEST_F(ShardsTest, ReadEveryFrameOnceAndInOrder) {
  cluster_.begin(4, {}, {});
  const Dataset data = elsewhere();
  const Shards shards(data, cluster_, gpu::Partition::interlaced, 2);
  EXPECT_EQ(source_->reads, std::vector<int>(9, 1));
  EXPECT_TRUE(std::is_sorted(source_->order.begin(), source_->order.end()));
}

TEST_F(ShardsTest, GiveEveryRankTheFramesOfItsPositions) {
  cluster_.begin(4, {}, {});
  const Shards shards(elsewhere(), cluster_, gpu::Partition::compact, 2);
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
    cluster_.begin(ranks, {}, {});
    const Shards shards(elsewhere(), cluster_, gpu::Partition::compact, 3);
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
  cluster_.begin(3, {}, {});
  const State start = starting_state(data_, data_.modes, true);
  const auto step = [&](const Dataset& data, const Shards* shards) {
    const Problem problem{.data = data, .cluster = cluster_, .batches = 2, .shards = shards};
    const auto running = start_on_devices(gpu::StepKind::rpie, problem, start);
    const double cost = running->step(1);
    const State after = running->state();
    const StepCheck check = check_step(
        "rpie_step", problem, {.before = start, .after = after, .batch = 1, .cost = cost});
    return std::pair{after.object, check.ratio};
  };
  Dataset data = elsewhere();
  const Shards shards(data, cluster_, gpu::Partition::compact, 2);
  data.source_total = shards.total();
  EXPECT_EQ(step(data, &shards), step(data_, nullptr));
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
