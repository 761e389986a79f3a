#include "gpu/device/sim/simulator.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/plan/sketch.hpp"

namespace rankcheck::gpu::sim {
namespace {

using plan::Builder;
using plan::part;
using plan::Range;
using plan::Schedule;
using plan::Sketch;
using Policy = plan::Schedule::Policy;

/// A sketch that runs on floats. Element i of rank r's send buffer is 10 r + i + 1; outputs start
/// at -1.
class Bench : public Sketch {
 public:
  using Sketch::Sketch;

  const Report& run(const Schedule& schedule = {},
                    const std::optional<Fault>& fault = {},
                    spec::ReduceOp op = spec::ReduceOp::sum) {
    reset();
    for (plan::Arithmetic& each : plan.arithmetic) each.op = op;
    return simulator_.run(plan, buffers_, schedule, fault);
  }
  [[nodiscard]] const std::vector<float>& recv(std::size_t rank) const { return recv_[rank]; }

  std::vector<float> scalars{2, 3, 4, 5};

 private:
  void reset() {
    const auto n = static_cast<std::size_t>(call.ranks);
    const auto count = static_cast<std::size_t>(call.count);
    const auto bytes = static_cast<std::int64_t>(count * sizeof(float));
    send_.assign(n, std::vector<float>(count));
    recv_.assign(n, std::vector<float>(count, -1));
    buffers_.clear();
    for (std::size_t r = 0; r < n; ++r) {
      std::vector<float>& send = options.in_place ? recv_[r] : send_[r];
      for (std::size_t i = 0; i < count; ++i) send[i] = static_cast<float>(10 * r + i + 1);
      buffers_.push_back({.send = reinterpret_cast<std::byte*>(send.data()),
                          .recv = reinterpret_cast<std::byte*>(recv_[r].data()),
                          .send_bytes = bytes,
                          .recv_bytes = bytes,
                          .scalar = r < scalars.size()
                                        ? reinterpret_cast<const std::byte*>(&scalars[r])
                                        : nullptr});
    }
  }

  Simulator simulator_;
  std::vector<std::vector<float>> send_;
  std::vector<std::vector<float>> recv_;
  std::vector<RankBuffers> buffers_;
};

/// Rank 1 averages all inputs through a scratch slot and sends the average to rank 0.
void average(Builder& builder) {
  const Range slot = builder.scratch(1, builder.call().count);
  builder.wait(1, builder.send_to(slot, builder.send(0)));
  builder.reduce(builder.recv(1), {slot, builder.send(1)}, true);
  builder.wait(0, builder.send_to(builder.recv(0), builder.recv(1)));
}

/// Two ranks that average two elements.
class AverageTest : public testing::Test {
 protected:
  AverageTest() { average(bench_.builder); }

  /// Runs with a fault and expects that the fault fires and changes something. Returns the output
  /// of rank 0.
  std::vector<float> output_under(const char* fault) {
    const Report& report = bench_.run({}, parse_fault(fault));
    EXPECT_EQ(report.status, Status::completed) << report.text;
    EXPECT_TRUE(report.fault_fired);
    EXPECT_TRUE(report.fault_changed);
    return bench_.recv(0);
  }

  Bench bench_{2, 2};
};

std::vector<Schedule> schedules() {
  std::vector<Schedule> all{{}};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    all.push_back({Policy::random, seed});
    all.push_back({Policy::pct, seed});
  }
  return all;
}

TEST_F(AverageTest, ComputesTheSameUnderEverySchedule) {
  for (const Schedule& schedule : schedules()) {
    const Report& report = bench_.run(schedule);
    ASSERT_EQ(report.status, Status::completed) << report.text;
    EXPECT_EQ(bench_.recv(0), (std::vector<float>{12, 14}));
    EXPECT_EQ(bench_.recv(1), (std::vector<float>{12, 14}));
  }
}

TEST_F(AverageTest, DividesWhereAStepFinishesAnAverage) {
  ASSERT_EQ(bench_.run({}, {}, spec::ReduceOp::avg).status, Status::completed);
  EXPECT_EQ(bench_.recv(0), (std::vector<float>{6, 7}));
}

TEST_F(AverageTest, MultipliesWhatItReadsFromSendByItsRanksScalar) {
  ASSERT_EQ(bench_.run({}, {}, spec::ReduceOp::premul_sum).status, Status::completed);
  EXPECT_EQ(bench_.recv(0), (std::vector<float>{2 * 1 + 3 * 11, 2 * 2 + 3 * 12}));
}

TEST(SimulatorTest, PremultipliesInPlace) {
  Bench bench(1, 2, {.in_place = true});
  bench.builder.copy(bench.builder.recv(0), bench.builder.send(0));
  ASSERT_EQ(bench.run({}, {}, spec::ReduceOp::premul_sum).status, Status::completed);
  EXPECT_EQ(bench.recv(0), (std::vector<float>{2, 4}));
}

TEST(SimulatorTest, FindsAMissingWaitUnderEverySchedule) {
  Bench bench(2);
  send_to_1(bench.builder, false);
  for (const Schedule& schedule : schedules()) {
    const Report& report = bench.run(schedule);
    EXPECT_EQ(report.status, Status::race) << plan::to_text(schedule);
    EXPECT_NE(report.text.find("rank 0 step 1 (put"), std::string::npos);
    EXPECT_NE(report.text.find("rank 1 (leaving)"), std::string::npos);
    EXPECT_NE(report.text.find("recv[0..4) of rank 1 unordered"), std::string::npos);
  }
}

TEST(SimulatorTest, FindsADeadlockUnderEverySchedule) {
  Bench bench(2);
  bench.builder.wait(1, plan::Event{bench.plan.events++});
  for (const Schedule& schedule : schedules()) {
    const Report& report = bench.run(schedule);
    EXPECT_EQ(report.status, Status::deadlock);
    EXPECT_EQ(report.text, "rank 1 step 0 (wait event 2) never continues");
    EXPECT_EQ(report.ranks[1].left, -1);
  }
}

TEST(SimulatorTest, ReportsRangesOutOfBoundsBeforeItMovesAByte) {
  Bench bench(1);
  bench.builder.copy(part(bench.builder.recv(0), 1, 4), bench.builder.send(0));
  EXPECT_EQ(bench.run().status, Status::memory_violation);
  EXPECT_EQ(bench.recv(0), std::vector<float>(4, -1));
}

TEST(SimulatorTest, SeesThatPhysicalMemoryOverlaps) {
  Bench bench(2, 4, {.in_place = true});
  bench.builder.copy(bench.builder.scratch(1, 4), bench.builder.send(1));
  send_to_1(bench.builder);
  EXPECT_EQ(bench.run().status, Status::race);
}

TEST(SimulatorTest, RejectsWhatDoesNotFitTogether) {
  Bench bench(2);
  average(bench.builder);
  Simulator simulator;
  EXPECT_EQ(simulator.run(bench.plan, {}, {}).status, Status::malformed);
  bench.scalars = {2};
  EXPECT_EQ(bench.run({}, {}, spec::ReduceOp::premul_sum).status, Status::malformed);
}

TEST(SimulatorTest, KnowsWhoLeftAfterEveryEntry) {
  Bench bench(2);
  bench.builder.wait(1, bench.builder.signal(0));
  const Report& report = bench.run();
  ASSERT_EQ(report.status, Status::completed);
  EXPECT_FALSE(report.ranks[0].left_after_every_entry);
  EXPECT_TRUE(report.ranks[1].left_after_every_entry);
  EXPECT_EQ(report.ranks[0].entered, 0);
  EXPECT_EQ(report.ranks[1].left, report.moves - 1);
}

TEST(SimulatorTest, AsksForTheEntriesOfTheOwnCallOnly) {
  Bench bench(3);
  bench.builder.wait(1, bench.builder.signal(0));
  bench.plan.groups = {0, 0, 1};
  const Report& report = bench.run();
  EXPECT_FALSE(report.ranks[0].left_after_every_entry);
  EXPECT_TRUE(report.ranks[1].left_after_every_entry);
  EXPECT_TRUE(report.ranks[2].left_after_every_entry);
}

TEST(SimulatorTest, CountsMovesAndMessages) {
  Bench bench(2);
  average(bench.builder);
  const Report& report = bench.run();
  EXPECT_EQ(report.moves, 2 * 2 + 4 + 4);
  EXPECT_EQ(report.messages, 2);
  EXPECT_EQ(report.message_bytes, 2 * 4 * 4);
}

TEST(SimulatorTest, RepeatsTheOrderOfASeed) {
  Bench bench(4);
  for (int rank = 1; rank < 4; ++rank) {
    const Range to = bench.builder.recv(rank);
    bench.builder.wait(rank, bench.builder.send_to(to, bench.builder.send(0)));
  }
  const auto stamps = [&](const Schedule& schedule) {
    std::vector<std::int64_t> all;
    for (const RankTimes& times : bench.run(schedule).ranks) {
      all.push_back(times.entered);
      all.push_back(times.left);
    }
    return all;
  };
  EXPECT_EQ(stamps({Policy::random, 3}), stamps({Policy::random, 3}));
  EXPECT_EQ(stamps({Policy::pct, 3}), stamps({Policy::pct, 3}));
  EXPECT_NE(stamps({Policy::random, 3}), stamps({Policy::random, 4}));
}

TEST(FaultTest, ReadsBackItsText) {
  for (const char* text :
       {"flip:0", "lost:3", "duplicate:1", "late:2", "dead_rank:10", "stale:4", "overrun:2"}) {
    ASSERT_TRUE(parse_fault(text)) << text;
    EXPECT_EQ(to_text(*parse_fault(text)), text);
  }
  for (const char* text : {"", "lost", "lost:", "lost:-1", "lost:1x", "gone:1", "lostx:1"}) {
    EXPECT_FALSE(parse_fault(text)) << text;
  }
}

TEST_F(AverageTest, AFlipChangesOneBit) {
  const std::vector<float> output = output_under("flip:2");
  EXPECT_NE(output, (std::vector<float>{12, 14}));
  EXPECT_TRUE(output[0] == 12 || output[1] == 14);
}

TEST_F(AverageTest, AMessageThatIsLostLateOrStaleLeavesWhatWasThere) {
  for (const char* fault : {"lost:1", "late:1", "stale:1"}) {
    EXPECT_EQ(output_under(fault), (std::vector<float>{-1, -1})) << fault;
  }
  // The sum comes before the message.
  EXPECT_NE(output_under("late:0"), (std::vector<float>{12, 14}));
}

TEST_F(AverageTest, AWriteBehindScratchIsAViolation) {
  const Report& report = bench_.run({}, parse_fault("overrun:0"));
  EXPECT_EQ(report.status, Status::memory_violation);
  EXPECT_EQ(report.text, "a guard zone beside the scratch of rank 1 was overwritten");
}

TEST(FaultTest, ADuplicateMessageOverwritesWhatCameAfterIt) {
  Bench bench(2, 2);
  send_to_1(bench.builder);
  bench.builder.copy(bench.builder.recv(1), bench.builder.send(1));
  const Report& report = bench.run({}, parse_fault("duplicate:0"));
  ASSERT_EQ(report.status, Status::completed) << report.text;
  EXPECT_TRUE(report.fault_changed);
  EXPECT_EQ(bench.recv(1), (std::vector<float>{1, 2}));
}

TEST_F(AverageTest, ADeadRankKeepsTheOthersWaiting) {
  const Report& report = bench_.run({}, parse_fault("dead_rank:3"));
  EXPECT_EQ(report.status, Status::deadlock);
  EXPECT_TRUE(report.fault_fired);
  EXPECT_NE(report.text.find("rank 1 step"), std::string::npos);
}

TEST_F(AverageTest, SaysWhenNothingWasThereToBefall) {
  const Report& report = bench_.run({}, parse_fault("lost:2"));
  EXPECT_EQ(report.status, Status::completed);
  EXPECT_FALSE(report.fault_fired);
}

TEST(FaultTest, SaysWhenItFiredWithoutEffect) {
  Bench bench(2, 2);
  send_to_1(bench.builder);
  const Report& report = bench.run({}, parse_fault("duplicate:0"));
  EXPECT_TRUE(report.fault_fired);
  EXPECT_FALSE(report.fault_changed);
}

TEST(SimulatorTest, WritesAnInputThatArrivesWhenTheRankEnters) {
  Sketch sketch(1, 2);
  sketch.builder.copy(sketch.builder.recv(0), sketch.builder.send(0));
  std::vector<float> send{-1, -1};
  std::vector<float> recv{-1, -1};
  const std::vector<float> arriving{5, 6};
  const auto bytes = static_cast<std::int64_t>(2 * sizeof(float));
  const RankBuffers buffers{.send = std::as_writable_bytes(std::span(send)).data(),
                            .recv = std::as_writable_bytes(std::span(recv)).data(),
                            .send_bytes = bytes,
                            .recv_bytes = bytes,
                            .arriving = std::as_bytes(std::span(arriving)).data()};
  Simulator simulator;
  const Report& report = simulator.run(sketch.plan, {&buffers, 1}, {});
  EXPECT_EQ(report.status, Status::completed) << report.text;
  EXPECT_EQ(send, arriving);
  EXPECT_EQ(recv, arriving);
}

}  // namespace
}  // namespace rankcheck::gpu::sim
