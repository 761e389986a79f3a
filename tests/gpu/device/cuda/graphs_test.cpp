#include "gpu/device/cuda/graphs.hpp"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/collectives/implementation.hpp"
#include "tests/gpu/device/cuda/trace.hpp"
#include "tests/print.hpp"

/// Tests the work that graphs keep and replay, without a device.
namespace rankcheck::gpu::cuda {
namespace {

/// Each rank has its own device.
constexpr int placement[] = {0, 1, 2, 3};

Subject subject_of(const Implementation& implementation, int ranks) {
  return {implementation, small_call(implementation.operation, ranks), {.chunk = 2}};
}

PlanCall call_on(const Subject& subject) {
  return {subject.plan(),
          subject.memory(),
          std::span(placement).first(static_cast<std::size_t>(subject.ranks()))};
}

/// Writes each rank's buffer on the rank's own stream, since a rank may use its buffers freely
/// between calls.
void touch(const Subject& subject, Trace& trace) {
  for (std::size_t r = 0; r < subject.buffers().size(); ++r) {
    const std::vector<float>& buffer = subject.buffers()[r];
    const auto* const begin = reinterpret_cast<const std::byte*>(buffer.data());
    trace.work.push_back(
        {.kind = Work::Kind::combine,
         .rank = static_cast<int>(r),
         .accesses = {{begin, static_cast<std::int64_t>(buffer.size()) * element, true}}});
  }
}

/// Returns work as text, without the work that fork and join add. Their events are numbered from
/// `own_events` on.
std::vector<std::string> lines_of(const std::vector<Work>& work, std::int32_t own_events) {
  std::vector<std::string> lines;
  for (const Work& each : work) {
    if (each.event >= own_events) continue;
    std::string line = std::to_string(static_cast<int>(each.kind)) + " rank " +
                       std::to_string(each.rank) + " event " + std::to_string(each.event);
    for (const Access& access : each.accesses) {
      line += ' ' + std::to_string(reinterpret_cast<std::uintptr_t>(access.begin)) + '+' +
              std::to_string(access.bytes) + (access.writes ? 'w' : 'r');
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(GraphsAfterErrorsTest, CaptureAnew) {
  const Subject subject = subject_of(implementations().front(), 2);
  Trace trace;
  Graphs graphs(trace);
  graphs.enqueue(call_on(subject));
  trace.refuses_work = true;
  EXPECT_THROW(graphs.enqueue(call_on(subject)), DeviceError);
  EXPECT_TRUE(trace.graphs.empty());
  trace.refuses_work = false;
  graphs.enqueue(call_on(subject));
  EXPECT_EQ(trace.graphs.size(), 1U);
  EXPECT_EQ(trace.replays, 1);
}

class GraphsTest : public testing::TestWithParam<Implementation> {};

TEST_P(GraphsTest, KeepWhatIsEnqueuedDirectly) {
  for (const int ranks : {1, 2, 4}) {
    const Subject subject = subject_of(GetParam(), ranks);
    Trace trace;
    Graphs graphs(trace);
    graphs.enqueue(call_on(subject));
    const std::vector<std::string> direct = lines_of(trace.work, subject.plan().events);
    graphs.enqueue(call_on(subject));
    ASSERT_EQ(trace.graphs.size(), 1U);
    EXPECT_EQ(lines_of(trace.graphs[0], subject.plan().events), direct);
  }
}

TEST_P(GraphsTest, AreOrderedWithAllThatRanksDoBeforeAndBehind) {
  for (const int ranks : {1, 2, 4}) {
    const Subject subject = subject_of(GetParam(), ranks);
    Trace trace;
    Graphs graphs(trace);
    for (int call = 0; call < 4; ++call) {
      touch(subject, trace);
      graphs.enqueue(call_on(subject));
    }
    touch(subject, trace);
    EXPECT_EQ(trace.captures, 1);
    EXPECT_EQ(trace.replays, 3);
    EXPECT_EQ(find_race(trace.work, Trace::streams_max), "");
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         GraphsTest,
                         testing::ValuesIn(implementations()),
                         tests::printed_name);

/// Makes a captured call, then a call with the same plan on other buffers. Returns whether the
/// second call gets its own result.
bool rebinds(const Graphs::Key& key) {
  Subject first = subject_of(ring(), 2);
  Subject second = subject_of(ring(), 2);
  Trace trace;
  Graphs graphs(trace, 8, key);
  graphs.enqueue(call_on(first));
  graphs.enqueue(call_on(first));
  trace.work.clear();
  graphs.enqueue(call_on(second));
  const auto before = std::vector(second.buffers());
  perform(trace.work, Trace::streams_max, 1);
  const std::vector<float> expected{56, 57, 58, 59, 60};
  return second.buffers() != before &&
         std::equal(expected.begin(), expected.end(), second.buffers()[0].begin());
}

TEST(GraphsOfBuffersTest, AreNeverReplayedForOthers) {
  EXPECT_TRUE(rebinds(key_of));
  // With a key that ignores the buffers, the graph is replayed for others. This shows that the
  // check above works.
  EXPECT_FALSE(rebinds([](const PlanCall& call) { return std::to_string(call.plan.events); }));
}

/// The middle one of three ranks copies an element to itself.
TEST(GraphsOfSomeRanksTest, LeaveTheOthersAlone) {
  const Subject subject = subject_of(ring(), 3);
  plan::Plan plan;
  plan.reset(3);
  plan.events = 3;
  plan.sources = {{.rank = 1, .count = 1}};
  plan::Step copy;
  copy.destination = {.rank = 1, .buffer = plan::Buffer::recv, .count = 1};
  copy.source_count = 1;
  plan.steps[1] = {copy};
  Trace trace;
  Graphs graphs(trace);
  for (int call = 0; call < 3; ++call) {
    graphs.enqueue({plan, subject.memory(), std::span(placement).first(3)});
  }
  EXPECT_EQ(trace.replays, 2);
  for (const Work& each : trace.work) {
    EXPECT_FALSE(each.kind == Work::Kind::wait && (each.rank == 0 || each.rank == 2));
  }
}

TEST(GraphsKeyTest, DiffersInAllThatMakesTheWork) {
  const Subject subject = subject_of(ring(), 2);
  const PlanCall call = call_on(subject);
  const std::string key = key_of(call);
  EXPECT_EQ(key_of(call), key);
  const int swapped[] = {1, 0};
  EXPECT_NE(key_of({call.plan, call.memory, swapped}), key);
  for (std::byte* RankMemory::*buffer : {&RankMemory::send, &RankMemory::recv}) {
    std::vector<RankMemory> moved = subject.memory();
    moved[1].*buffer += 4;
    EXPECT_NE(key_of({call.plan, moved, call.placement}), key);
  }
  std::vector<RankMemory> moved = subject.memory();
  moved[0].scratch += 4;
  EXPECT_NE(key_of({call.plan, moved, call.placement}), key);
  moved = subject.memory();
  moved[0].scalar = moved[0].send;
  EXPECT_NE(key_of({call.plan, moved, call.placement}), key);
  plan::Plan other = subject.plan();
  other.sources.front().offset += 1;
  EXPECT_NE(key_of({other, call.memory, call.placement}), key);
  other = subject.plan();
  other.steps[0].back().finish = !other.steps[0].back().finish;
  EXPECT_NE(key_of({other, call.memory, call.placement}), key);
  other = subject.plan();
  other.arithmetic[0].type = spec::Type::int32;
  EXPECT_NE(key_of({other, call.memory, call.placement}), key);
  other = subject.plan();
  other.arithmetic[1].op = spec::ReduceOp::max;
  EXPECT_NE(key_of({other, call.memory, call.placement}), key);
}

TEST(GraphsKeptTest, AreTheLastUsedOnes) {
  const Subject first = subject_of(ring(), 2);
  const Subject second = subject_of(ring(), 3);
  const Subject third = subject_of(ring(), 4);
  Trace trace;
  Graphs graphs(trace, 2);
  for (const Subject* each : {&first, &first, &second, &second, &first}) {
    graphs.enqueue(call_on(*each));
  }
  EXPECT_EQ(trace.captures, 2);
  // The second graph is dropped.
  graphs.enqueue(call_on(third));
  EXPECT_TRUE(trace.graphs[1].empty());
  graphs.enqueue(call_on(first));
  EXPECT_EQ(trace.captures, 2);
  EXPECT_EQ(trace.replays, 4);
}

TEST(GraphsKeptTest, AreNoneWhereNoneAreWanted) {
  const Subject subject = subject_of(ring(), 2);
  Trace trace;
  Graphs graphs(trace, 0);
  for (int call = 0; call < 3; ++call) graphs.enqueue(call_on(subject));
  EXPECT_EQ(trace.captures, 0);
  EXPECT_EQ(trace.work.size() % 3, 0U);
  EXPECT_FALSE(trace.work.empty());
}

}  // namespace
}  // namespace rankcheck::gpu::cuda
