#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/collectives/implementation.hpp"

namespace rankcheck::gpu {

namespace {

using plan::Plan;
using plan::Range;
using plan::Step;
using plan::StepKind;

Plan plan_of(std::string_view operation,
             std::string_view algorithm,
             const spec::Call& call,
             const plan::Options& options = {}) {
  return plan_of(implementation_named(operation, algorithm), call, options);
}

/// Returns the number of elements that cross between ranks: those put, and those read by a
/// reduction.
std::int64_t elements_moved(const Plan& plan) {
  std::int64_t moved = 0;
  for (const auto& program : plan.steps) {
    for (const Step& step : program) {
      if (step.kind == StepKind::put) moved += step.destination.count;
      if (step.kind != StepKind::reduce) continue;
      for (const Range& source : plan.sources_of(step)) {
        if (source.rank != step.destination.rank) moved += source.count;
      }
    }
  }
  return moved;
}

/// Returns the number of elements that are put on another host.
std::int64_t elements_between(const Plan& plan, const std::vector<int>& hosts) {
  const auto host = [&](int rank) { return hosts[static_cast<std::size_t>(rank)]; };
  std::int64_t moved = 0;
  for (std::size_t r = 0; r < plan.steps.size(); ++r) {
    for (const Step& step : plan.steps[r]) {
      if (step.kind != StepKind::put) continue;
      if (host(step.destination.rank) != hosts[r]) moved += step.destination.count;
    }
  }
  return moved;
}

std::size_t longest_program(const Plan& plan) {
  std::size_t longest = 0;
  for (const auto& program : plan.steps) longest = std::max(longest, program.size());
  return longest;
}

constexpr spec::Call reduction(int ranks, std::int64_t count) {
  return {.ranks = ranks, .op = spec::ReduceOp::sum, .count = count, .counts = {}};
}

constexpr spec::Call movement(int ranks, std::int64_t count) {
  return {.ranks = ranks, .count = count, .counts = {}};
}

TEST(AllReduceTrafficTest, IsTheMinimumForLargeMessageAlgorithms) {
  constexpr std::int64_t count = 1 << 20;
  for (const std::string_view algorithm : {"ring", "recursive_halving_doubling", "direct"}) {
    EXPECT_EQ(elements_moved(plan_of("all_reduce", algorithm, reduction(8, count))), count * 2 * 7)
        << algorithm;
  }
}

TEST(AllReduceTrafficTest, BetweenHostsIsOneMessageThereAndBackForEachHost) {
  constexpr std::int64_t count = 1000;
  const plan::Options options{.hosts = {0, 1, 0, 2, 1, 0, 2, 2}};
  const Plan plan = plan_of("all_reduce", "by_host", reduction(8, count), options);
  EXPECT_EQ(elements_between(plan, options.hosts), count * 2 * 2);
}

TEST(AllGatherTrafficTest, BetweenHostsEachBlockCrossesOnceToEachOtherHost) {
  constexpr std::int64_t count = 100;
  const plan::Options options{.hosts = {0, 1, 0, 2, 1}};
  const Plan plan = plan_of("all_gather", "by_host", movement(5, count), options);
  EXPECT_EQ(elements_between(plan, options.hosts), 5 * 2 * count);
}

TEST(BroadcastTrafficTest, BringsEachElementToARankOnce) {
  for (const std::string_view algorithm : {"binomial", "chain", "scatter_all_gather"}) {
    EXPECT_EQ(elements_moved(plan_of("broadcast", algorithm, movement(11, 1000))), 10 * 1000)
        << algorithm;
  }
}

TEST(RingReduceScatterTest, NeedsTwoSlotsOfScratch) {
  const Plan plan = plan_of("reduce_scatter", "ring", reduction(6, 5));
  EXPECT_EQ(plan.scratch, std::vector<std::int64_t>(6, std::int64_t{2} * 5));
}

TEST(ChainBroadcastTest, CutsTheMessageIntoChunks) {
  const Plan plan = plan_of("broadcast", "chain", movement(2, 10), {.in_place = false, .chunk = 4});
  std::vector<std::int64_t> sizes;
  for (const Step& step : plan.steps[0]) {
    if (step.kind == StepKind::put) sizes.push_back(step.destination.count);
  }
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{4, 4, 2}));
}

TEST(LogarithmicAlgorithmsTest, TakeFewStepsOnManyRanks) {
  struct Entry {
    std::string_view operation;
    std::string_view algorithm;
    bool reduces;
  };
  constexpr int log2_ranks = 9;
  for (const Entry& entry : {Entry{"all_reduce", "recursive_halving_doubling", true},
                             Entry{"all_reduce", "binomial_tree", true},
                             Entry{"reduce_scatter", "recursive_halving", true},
                             Entry{"reduce", "binomial", true},
                             Entry{"broadcast", "binomial", false},
                             Entry{"all_gather", "bruck", false},
                             Entry{"gather", "binomial", false},
                             Entry{"scatter", "binomial", false}}) {
    const spec::Call call =
        entry.reduces ? reduction(1 << log2_ranks, 3) : movement(1 << log2_ranks, 3);
    const std::size_t steps = longest_program(plan_of(entry.operation, entry.algorithm, call));
    EXPECT_LE(steps, std::size_t{10} * log2_ranks) << entry.operation << " " << entry.algorithm;
  }
}

}  // namespace

}  // namespace rankcheck::gpu
