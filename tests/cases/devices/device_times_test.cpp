#include "cases/devices/device_times.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/plan/builder.hpp"

#include "harness/case/fields.hpp"

#include "tests/harness/text.hpp"

namespace rankcheck::cases::bench {
namespace {

TEST(MedianTest, IsTheMiddleOne) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 3) << "the upper of two";
}

/// Returns the plan of an all_reduce of sums of f32.
gpu::plan::Plan plan_of(std::string_view algorithm, int ranks, std::int64_t count) {
  gpu::plan::Plan plan;
  gpu::plan::Builder builder;
  const spec::Call call{.ranks = ranks, .op = spec::ReduceOp::sum, .count = count};
  builder.begin(plan, reference::contract_named("all_reduce"), call, {});
  for (const gpu::Implementation& each : gpu::implementations()) {
    if (each.operation == "all_reduce" && each.algorithm.name == algorithm) {
      each.algorithm.plan(builder);
    }
  }
  return plan;
}

TEST(MovedBytesTest, AreThoseThatStepsReadAndWrite) {
  EXPECT_EQ(moved_bytes(gpu::plan::Plan(), 4), 0);
  // Each of 4 ranks reduces 2 elements of 4 peers and puts these 2 to the 3 others.
  EXPECT_EQ(moved_bytes(plan_of("direct", 4, 8), 4), 4 * 4 * ((4 * 2 + 2) + 3 * (2 + 2)));
  // Each of 4 ranks reduces all 8 elements of 4 peers.
  EXPECT_EQ(moved_bytes(plan_of("one_shot", 4, 8), 8), 8 * 4 * (4 * 8 + 8));
}

TEST(BandwidthShareTest, IsThatOfTheCopysSpeed) {
  // 6 bytes in 2 s, compared with 4 bytes in 1 s.
  EXPECT_DOUBLE_EQ(
      bandwidth_share({.seconds = {2, 2, 9}, .floor_seconds = {1, 1, 7}, .floor_bytes = 4}, 6),
      0.75);
}

TEST(TimesInTurnsTest, LeaveOutTheFirstRunsAndTakeEnough) {
  std::string order;
  const Times times = time_in_turns(
      [&] {
        order += 'r';
        return static_cast<double>(order.size());
      },
      [&] {
        order += 'f';
        return 0.5;
      },
      100);
  // Runs 1, 3 and 5 do not count. 7 + 9 + … + 21 is the first such sum that reaches 100.
  EXPECT_EQ(times.seconds, (std::vector<double>{7, 9, 11, 13, 15, 17, 19, 21}));
  EXPECT_EQ(times.floor_seconds, std::vector<double>(8, 0.5));
  EXPECT_EQ(order.substr(0, 4), "rfrf");
}

TEST(TimesInTurnsTest, TakeAFewWhereOneIsLong) {
  const auto ten_seconds = [] { return 10.0; };
  EXPECT_EQ(time_in_turns(ten_seconds, ten_seconds, 1).seconds.size(), 5U);
}

TEST(TimesRequestTest, ReadsWhatItWrites) {
  TimesRequest request{.seconds_min = 0.25};
  request.c.operation = "barrier";
  request.c.ranks = 3;
  const TimesRequest read = times_request_from_json(nlohmann::json(to_json(request)));
  EXPECT_EQ(harness::to_text(read.c), harness::to_text(request.c));
  EXPECT_EQ(read.seconds_min, 0.25);
}

TEST(TimesTest, ReadsWhatItWrites) {
  const Times times{.seconds = {0.5, 1}, .floor_seconds = {2}, .floor_bytes = 1 << 30};
  const Times read = times_from_json(nlohmann::json(to_json(times)));
  EXPECT_EQ(read.seconds, times.seconds);
  EXPECT_EQ(read.floor_seconds, times.floor_seconds);
  EXPECT_EQ(read.floor_bytes, times.floor_bytes);
}

TEST(TimesTest, OfNothingAreRefused) {
  for (const char* empty : {"seconds", "floor_seconds"}) {
    nlohmann::json said = to_json(Times{.seconds = {1}, .floor_seconds = {1}});
    said[empty].clear();
    EXPECT_EQ(harness::complaint_of<harness::BadInput>([&] { return times_from_json(said); }),
              std::string("times: ") + empty + ": expected at least one");
  }
}

}  // namespace
}  // namespace rankcheck::cases::bench
