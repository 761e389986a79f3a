#include "gpu/device/cuda/enqueue.hpp"

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/cluster.hpp"

#include "tests/gpu/collectives/implementation.hpp"
#include "tests/gpu/device/cuda/trace.hpp"
#include "tests/gpu/plan/sketch.hpp"
#include "tests/print.hpp"

/// Work that plans enqueue on CUDA's streams, checked without a device.
namespace rankcheck::gpu::cuda {
namespace {

class EnqueueTest : public testing::TestWithParam<Implementation> {
 protected:
  /// Returns calls of several sizes, also in place if the algorithm supports this.
  static std::vector<Subject> subjects() {
    std::vector<Subject> all;
    const spec::Contract& contract = reference::contract_named(GetParam().operation);
    for (const int ranks : {1, 2, 3, 6}) {
      for (const spec::ReduceOp op : {spec::ReduceOp::avg, spec::ReduceOp::premul_sum}) {
        spec::Call call = small_call(GetParam().operation, ranks, op);
        for (const bool in_place : {false, true}) {
          if (in_place) spec::mirror_counts(contract, ranks, call.counts);
          const plan::Options options{.in_place = in_place, .chunk = 2};
          if (GetParam().algorithm.refuses(call, options).empty()) {
            all.emplace_back(GetParam(), call, options);
          }
        }
        if (!collective(contract).reduces) break;
      }
    }
    return all;
  }
};

TEST_P(EnqueueTest, LeavesNoRaceBetweenStreams) {
  for (Subject& subject : subjects()) EXPECT_EQ(find_race(subject.enqueued(), subject.ranks()), "");
}

/// Each of the calls records the same events.
TEST_P(EnqueueTest, LeavesNoRaceBetweenCallsInARow) {
  for (Subject& subject : subjects()) {
    EXPECT_EQ(find_race(subject.enqueued(3), subject.ranks()), "");
  }
}

TEST_P(EnqueueTest, GivesTheSameResultInEveryOrderThatStreamsAllow) {
  for (Subject& subject : subjects()) {
    const std::vector<Work> work = subject.enqueued();
    perform(work, subject.ranks(), 0);
    const std::vector<std::vector<float>> first = subject.buffers();
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
      subject.fill();
      perform(work, subject.ranks(), seed);
      EXPECT_EQ(subject.buffers(), first);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         EnqueueTest,
                         testing::ValuesIn(implementations()),
                         tests::printed_name);

/// Tests the race detector: it must report every wait for data that is missing.
TEST(EnqueueTraceTest, ShowsARaceWhereAWaitForDataIsMissing) {
  Subject subject(ring(), small_call("all_reduce", 3), {});
  const std::vector<Work> work = subject.enqueued();
  int missing = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    // Later waits may imply a wait for an entry.
    if (work[i].kind != Work::Kind::wait || work[i].event < subject.ranks()) continue;
    std::vector<Work> without = work;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(find_race(without, subject.ranks()), "") << "work " << i;
    ++missing;
  }
  EXPECT_GT(missing, 0);
}

TEST(EnqueueTraceTest, DividesOnceOrMultipliesByTheScalarOfTheRankThatGives) {
  // The buffer recv comes first. Rank r's send buffer starts with element 5: 100 r + 6, 100 r + 7,
  // ... Its scalar is r + 2, so the first sum of products is 2 * 6 + 3 * 106.
  const std::vector<std::pair<spec::ReduceOp, std::vector<float>>> all{
      {spec::ReduceOp::avg, {56, 57, 58, 59, 60}},
      {spec::ReduceOp::premul_sum, {330, 335, 340, 345, 350}}};
  for (const auto& [op, expected] : all) {
    Subject subject(ring(), small_call("all_reduce", 2, op), {});
    perform(subject.enqueued(), 2, 1);
    ASSERT_EQ(subject.buffers().size(), 2U);
    for (const std::vector<float>& each : subject.buffers()) {
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), each.begin())) << spec::name(op);
    }
  }
}

/// In a single call, waits for data may imply the waits for entries. In some algorithms the next
/// call's waits do so, too, so not every algorithm shows a race.
TEST(EnqueueTraceTest, ShowsRacesBetweenCallsWhereNobodyWaitsForEntries) {
  int races = 0;
  for (const Implementation& each : implementations()) {
    Subject subject(each, small_call(each.operation, 3), {});
    EXPECT_EQ(find_race(subject.enqueued(2), subject.ranks()), "");
    std::vector<Work> work = subject.enqueued(2);
    std::erase_if(work, [&](const Work& one) {
      return one.kind == Work::Kind::wait && one.event < subject.ranks();
    });
    races += find_race(work, subject.ranks()).empty() ? 0 : 1;
  }
  EXPECT_GT(races, 0);
}

TEST(EnqueueTraceTest, RejectsAWaitThatNobodyEnds) {
  plan::Sketch sketch(2);
  sketch.builder.wait(0, sketch.builder.signal(0));
  std::swap(sketch.plan.steps[0].front(), sketch.plan.steps[0].back());
  Trace trace;
  const std::vector<RankMemory> memory(2);
  EXPECT_THROW(enqueue({sketch.plan, memory}, trace), DeviceError);
}

}  // namespace
}  // namespace rankcheck::gpu::cuda
