#include "gpu/plan/timing.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"

#include "tests/gpu/plan/sketch.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::gpu::plan {
namespace {

/// Latencies of 1, 10 and 100 microseconds. 4000 bytes take 1, 4 and 40 microseconds.
Topology machine() {
  return parse_topology("test", "1 local 1 4\n2 near 10 1\n8 far 100 0.1 # and slow\n");
}

std::string error_of(const std::string& text) {
  return harness::complaint_of<std::invalid_argument>([&] { return parse_topology("test", text); });
}

TEST(TopologyTest, FindsTheLevelBetweenRanks) {
  const Topology topology = machine();
  EXPECT_EQ(topology.level_between(5, 5), 0U);
  EXPECT_EQ(topology.level_between(4, 5), 1U);
  EXPECT_EQ(topology.level_between(3, 4), 2U);
}

TEST(TopologyTest, NamesTheLineThatIsWrong) {
  EXPECT_EQ(error_of("# none\n"), "topology test, line 1: expected at least one level");
  EXPECT_EQ(error_of("2 near 1 1"),
            "topology test, line 1: expected the first level to hold 1 rank");
  EXPECT_EQ(error_of("1 local 1 1\n\n4 a 1 1\n6 b 1 1"),
            "topology test, line 4: expected a larger multiple of 4 ranks");
  EXPECT_EQ(error_of("1 local 1"),
            "topology test, line 1: got 1 local 1, expected RANKS CLASS MICROSECONDS "
            "GIGABYTES_PER_SECOND");
  EXPECT_EQ(error_of("1 local 1 0"),
            "topology test, line 1: expected a latency of at least 0 and a bandwidth above 0");
}

TEST(TopologyTest, ParsesWhatIsShipped) {
  const auto capacity = [](const std::string& name) {
    const std::string path = RANKCHECK_SOURCE_DIR "/gpu/plan/topologies/" + name + ".txt";
    return parse_topology(name, harness::read_file(path)).capacity();
  };
  EXPECT_EQ(capacity("nvlink8"), 8);
  EXPECT_EQ(capacity("pcie_pairs"), 8);
  EXPECT_EQ(capacity("cluster64"), 512);
  EXPECT_EQ(capacity("cluster512"), 4096);
}

TEST(TimingTest, APutTakesBandwidthAndLatency) {
  Sketch sketch(2, 1000);
  send_to_1(sketch.builder);
  const Timing timing = time_plan(sketch.plan, 4, machine());
  EXPECT_NEAR(timing.leave_seconds[1], 14e-6, 1e-12);
  EXPECT_NEAR(timing.seconds, 14e-6, 1e-12);
  EXPECT_EQ(timing.traffic[1].bytes, 4000);
  EXPECT_EQ(timing.traffic[1].messages, 1);
  EXPECT_EQ(timing.traffic[2].bytes, 0);
}

TEST(TimingTest, ASignalTakesOneLatency) {
  Sketch sketch(3);
  sketch.builder.wait(1, sketch.builder.signal(0));
  sketch.builder.wait(2, sketch.builder.signal(1));
  const Timing timing = time_plan(sketch.plan, 4, machine());
  EXPECT_NEAR(timing.leave_seconds[0], 0, 1e-12);
  EXPECT_NEAR(timing.leave_seconds[1], 10e-6, 1e-12);
  EXPECT_NEAR(timing.leave_seconds[2], 110e-6, 1e-12);
}

/// A put to a far rank delays the later signal to a near rank.
TEST(TimingTest, ASignalDoesNotOvertakeWhatWasSent) {
  Sketch sketch(3, 1000);
  sketch.builder.put(sketch.builder.recv(2), sketch.builder.send(0));
  sketch.builder.wait(1, sketch.builder.signal(0));
  EXPECT_NEAR(time_plan(sketch.plan, 4, machine()).leave_seconds[1], 140e-6, 1e-12);
}

TEST(TimingTest, AReduceFetchesAndTouchesMemory) {
  Sketch sketch(2, 1000);
  sketch.builder.reduce(sketch.builder.recv(0), {sketch.builder.send(0), sketch.builder.send(1)});
  EXPECT_NEAR(time_plan(sketch.plan, 4, machine()).seconds, (14 + 1 + 3) * 1e-6, 1e-12);
}

TEST(TimingTest, MessagesToOneRankShareItsPort) {
  Sketch sketch(6, 1000);
  const auto scratch = sketch.builder.scratch(0, 2000);
  for (const int rank : {2, 4}) {
    const Range slot = part(scratch, std::int64_t{rank - 2} * 500, 1000);
    sketch.builder.wait(0, sketch.builder.send_to(slot, sketch.builder.send(rank)));
  }
  EXPECT_NEAR(time_plan(sketch.plan, 4, machine()).seconds, (100 + 2 * 40) * 1e-6, 1e-12);
}

TEST(TimingTest, RejectsWhatDoesNotFit) {
  Sketch sketch(9);
  EXPECT_EQ(harness::complaint_of<std::invalid_argument>(
                [&] { return time_plan(sketch.plan, 4, machine()); }),
            "topology test has 8 ranks, the plan needs 9");
}

TEST(TimingTest, RejectsAPlanThatNeverEnds) {
  Sketch sketch(1);
  sketch.builder.wait(0, Event{sketch.plan.events++});
  EXPECT_THROW((void)time_plan(sketch.plan, 4, machine()), std::invalid_argument);
}

}  // namespace
}  // namespace rankcheck::gpu::plan
