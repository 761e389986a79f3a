#include "gpu/plan/schedule.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/gpu/plan/sketch.hpp"

namespace rankcheck::gpu::plan {
namespace {

std::string walk(const Plan& plan, const Schedule& schedule, Scheduler& scheduler) {
  scheduler.begin(plan, schedule);
  std::string order;
  while (const auto move = scheduler.next()) order += std::to_string(move->rank);
  return scheduler.finished() ? order : order + "!";
}

TEST(ScheduleTest, ReadsBackItsText) {
  for (const char* text : {"in_order", "random:7", "pct:18446744073709551615"}) {
    ASSERT_TRUE(parse_schedule(text)) << text;
    EXPECT_EQ(to_text(*parse_schedule(text)), text);
  }
}

TEST(ScheduleTest, RejectsOtherText) {
  for (const char* text : {"", "random", "random:", "pct:-1", "pct:1x", "order:1", "in_order:1"}) {
    EXPECT_FALSE(parse_schedule(text)) << text;
  }
}

TEST(SchedulerTest, TakesOneRankAsFarAsItGoes) {
  Sketch sketch(2);
  send_to_1(sketch.builder);
  Scheduler scheduler;
  // Rank 0 enters and waits for rank 1's entry. Rank 1 enters and waits for the put.
  EXPECT_EQ(walk(sketch.plan, {}, scheduler),
            "01"
            "0000"
            "11");
}

TEST(SchedulerTest, LetsALateRankInWhenNoOtherCanGoOn) {
  Sketch sketch(2);
  send_to_1(sketch.builder);
  sketch.plan.late = {0};
  Scheduler scheduler;
  // Rank 1 enters and waits for the put. Then rank 0 enters and does all of its steps.
  EXPECT_EQ(walk(sketch.plan, {}, scheduler),
            "1"
            "00000"
            "11");
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const std::string order = walk(sketch.plan, {Schedule::Policy::random, seed}, scheduler);
    EXPECT_TRUE(order.starts_with("10")) << order;
    EXPECT_EQ(order.size(), 8U) << order;
  }
}

TEST(SchedulerTest, RepeatsItselfAndVariesWithTheSeed) {
  Sketch sketch(4);
  for (int rank = 1; rank < 4; ++rank) {
    sketch.builder.wait(rank,
                        sketch.builder.send_to(sketch.builder.recv(rank), sketch.builder.send(0)));
  }
  Scheduler scheduler;
  for (const auto policy : {Schedule::Policy::random, Schedule::Policy::pct}) {
    std::set<std::string> orders;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const std::string order = walk(sketch.plan, {policy, seed}, scheduler);
      EXPECT_EQ(order, walk(sketch.plan, {policy, seed}, scheduler));
      orders.insert(order);
    }
    EXPECT_GT(orders.size(), 5U);
  }
}

/// Ranks 1 and 2 enter when rank 0 has left. Rank 2 is late then.
TEST(SchedulerTest, ARankEntersBehindThoseThatItFollows) {
  Sketch sketch(4);
  sketch.plan.order = {{0, 1}, {0, 2}};
  sketch.plan.late = {2};
  Scheduler scheduler;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::string order;
    scheduler.begin(sketch.plan, {Schedule::Policy::random, seed});
    while (const auto move = scheduler.next()) order += std::to_string(move->rank);
    EXPECT_TRUE(scheduler.finished());
    EXPECT_EQ(order.substr(6), "22") << order;
    EXPECT_LT(order.rfind('0'), order.find('1')) << order;
  }
}

TEST(SchedulerTest, AStoppedRankDoesNotSignal) {
  Sketch sketch(2);
  sketch.builder.wait(1, sketch.builder.signal(0));
  Scheduler scheduler;
  scheduler.begin(sketch.plan, {});
  int moves = 0;
  while (const auto move = scheduler.next()) {
    ++moves;
    if (move->rank == 0 && move->step == 0) scheduler.stop(*move);
  }
  EXPECT_EQ(moves, 3);
  EXPECT_FALSE(scheduler.finished());
  EXPECT_EQ(scheduler.position(1).step, 0);
}

TEST(SchedulerDeathTest, APlanHasTheEventsThatItNames) {
  Sketch sketch(1);
  static_cast<void>(sketch.builder.signal(0));
  sketch.plan.steps[0].back().event.id = sketch.plan.events;
  Scheduler scheduler;
  EXPECT_DEATH(walk(sketch.plan, {}, scheduler),
               "schedule\\.cpp:[0-9]+: this invariant does not hold: event >= 0");
}

TEST(SchedulerDeathTest, APlanStaysTheSameDuringAWalk) {
  Sketch sketch(1);
  for (int i = 0; i < 2; ++i) static_cast<void>(sketch.builder.signal(0));
  Scheduler scheduler;
  scheduler.begin(sketch.plan, {});
  // The rank enters and takes both steps.
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(scheduler.next());
  sketch.plan.steps[0].clear();
  EXPECT_DEATH(static_cast<void>(scheduler.next()), "step <= size");
}

}  // namespace
}  // namespace rankcheck::gpu::plan
