#include "gpu/plan/validate.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "tests/gpu/plan/sketch.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::gpu::plan {
namespace {

TEST(ValidateTest, AcceptsAnExchange) {
  Sketch sketch(2);
  const Event to_1 = sketch.builder.send_to(sketch.builder.recv(1), sketch.builder.send(0));
  const Event to_0 = sketch.builder.send_to(sketch.builder.recv(0), sketch.builder.send(1));
  sketch.builder.wait(1, to_1);
  sketch.builder.wait(0, to_0);
  EXPECT_EQ(sketch.wrong(), "");
}

TEST(ValidateTest, FindsAMissingWaitAndNamesBothMoves) {
  Sketch sketch(2);
  sketch.builder.put(sketch.builder.recv(1), sketch.builder.send(0));
  EXPECT_EQ(sketch.wrong(),
            "rank 1 (leaving) and rank 0 step 1 (put send[0..4) -> recv[0..4) of rank 1) touch "
            "recv[0..4) of rank 1 unordered");
}

TEST(ValidateTest, FindsAnAccessBeforeEntry) {
  Sketch sketch(2);
  sketch.raw(0, StepKind::put, sketch.builder.recv(1), {sketch.builder.send(0)});
  sketch.builder.wait(1, sketch.builder.signal(0));
  EXPECT_EQ(sketch.wrong(),
            "rank 1 (entering) and rank 0 step 0 (put send[0..4) -> recv[0..4) of rank 1) touch "
            "recv[0..4) of rank 1 unordered");
}

TEST(ValidateTest, FindsASendBufferReadAfterItsOwnerLeft) {
  Sketch sketch(2);
  sketch.builder.reduce(sketch.builder.recv(0), {sketch.builder.send(0), sketch.builder.send(1)});
  EXPECT_NE(sketch.wrong().find("touch send[0..4) of rank 1 unordered"), std::string::npos);
}

TEST(ValidateTest, FindsAScratchSlotReusedWithoutCredit) {
  Sketch sketch(2);
  Builder& builder = sketch.builder;
  const Range slot = builder.scratch(1, 2);
  for (const std::int64_t offset : {0, 2}) {
    builder.wait(1, builder.send_to(slot, part(builder.send(0), offset, 2)));
    builder.copy(part(builder.recv(1), offset, 2), slot);
  }
  EXPECT_NE(sketch.wrong().find("touch scratch[0..2) of rank 1 unordered"), std::string::npos);
}

TEST(ValidateTest, FindsScratchWrittenAfterItsOwnerLeft) {
  Sketch sketch(2);
  sketch.builder.put(sketch.builder.scratch(1, 4), sketch.builder.send(0));
  EXPECT_NE(sketch.wrong().find("touch scratch[0..4) of rank 1 unordered"), std::string::npos);
}

TEST(ValidateTest, NamesOnlyTheElementsInConflict) {
  Sketch sketch(2);
  Builder& builder = sketch.builder;
  const Event sent = builder.send_to(part(builder.recv(1), 0, 3), part(builder.send(0), 0, 3));
  builder.copy(part(builder.recv(1), 2, 2), part(builder.send(1), 2, 2));
  builder.wait(1, sent);
  EXPECT_NE(sketch.wrong().find("touch recv[2..3) of rank 1 unordered"), std::string::npos);
}

TEST(ValidateTest, SeesThatInPlaceBuffersAreTheSameMemory) {
  for (const bool in_place : {false, true}) {
    Sketch sketch(2, 4, {.in_place = in_place});
    Builder& builder = sketch.builder;
    builder.copy(builder.scratch(1, 4), builder.send(1));
    send_to_1(builder);
    EXPECT_EQ(sketch.wrong().find("touch recv[0..4) of rank 1 unordered") != std::string::npos,
              in_place);
  }
}

TEST(ValidateTest, FindsRangesOutOfBounds) {
  Sketch sketch(1);
  sketch.builder.copy(part(sketch.builder.recv(0), 1, 4), sketch.builder.send(0));
  EXPECT_EQ(sketch.wrong(),
            "rank 0 step 0 (copy send[0..4) -> recv[1..5)): recv[1..5) of rank 0 is outside the "
            "buffer of 4 elements");
}

TEST(ValidateTest, FindsAReadOfScratchThatNobodyWrote) {
  Sketch sketch(1);
  const Range slot = sketch.builder.scratch(0, 4);
  sketch.builder.copy(part(slot, 0, 3), part(sketch.builder.send(0), 0, 3));
  sketch.builder.copy(sketch.builder.recv(0), slot);
  EXPECT_NE(sketch.wrong().find("of which a part was never written"), std::string::npos);
}

TEST(ValidateTest, FindsAReadOfAnOutputThatNobodyWrote) {
  Sketch sketch(1);
  sketch.builder.reduce(sketch.builder.recv(0), {sketch.builder.recv(0), sketch.builder.send(0)});
  EXPECT_NE(sketch.wrong().find("of which a part was never written"), std::string::npos);
}

TEST(ValidateTest, FindsAReadOfAnOutputBesideTheInputThatLiesInIt) {
  for (const std::int64_t at : {0, 1, 2, 3}) {
    Sketch sketch(1);
    sketch.builder.copy(sketch.builder.scratch(0, 1), part(sketch.builder.recv(0), at, 1));
    std::vector<RankMemory> memory = sketch.memory();
    const std::int64_t begin = memory[0][Buffer::recv].begin;
    memory[0][Buffer::send] = {begin + 1, begin + 3};
    EXPECT_EQ(validate(sketch.plan, memory).has_value(), at == 0 || at == 3) << at;
  }
}

TEST(ValidateTest, FindsADeadlock) {
  Sketch sketch(2);
  const Event a{sketch.plan.events++};
  const Event b{sketch.plan.events++};
  sketch.builder.wait(0, b);
  sketch.builder.wait(1, a);
  sketch.plan.steps[0].push_back({StepKind::signal, false, a, {}});
  sketch.plan.steps[1].push_back({StepKind::signal, false, b, {}});
  const auto violation = validate(sketch.plan, sketch.memory());
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->kind, Violation::Kind::deadlock);
  EXPECT_EQ(
      violation->text,
      "rank 0 step 0 (wait event 3) never continues; rank 1 step 0 (wait event 2) never continues");
}

TEST(ValidateTest, FindsEventsThatAreUsedOnOneSideOnly) {
  Sketch signalled(2);
  (void)signalled.builder.signal(0);
  EXPECT_NE(signalled.wrong().find("no rank ever waits for that event"), std::string::npos);
  Sketch awaited(2);
  awaited.builder.wait(1, Event{awaited.plan.events++});
  EXPECT_NE(awaited.wrong().find("no rank ever signals that event"), std::string::npos);
}

TEST(ValidateTest, FindsAnEventSignalledTwice) {
  Sketch sketch(2);
  sketch.builder.wait(1, sketch.builder.signal(0));
  sketch.plan.steps[0].push_back(sketch.plan.steps[0].back());
  EXPECT_NE(sketch.wrong().find("was signalled before"), std::string::npos);
}

TEST(ValidateTest, FindsStepsThatMeanNothing) {
  const auto wrong = [](StepKind kind, const Range& to, const std::vector<Range>& from) {
    Sketch sketch(2);
    sketch.raw(0, kind, to, from);
    return sketch.wrong();
  };
  const auto send = [](int rank, std::int64_t offset = 0, std::int64_t count = 2) {
    return Range{rank, Buffer::send, offset, count};
  };
  const auto recv = [](int rank) { return Range{rank, Buffer::recv, 0, 2}; };
  EXPECT_TRUE(harness::has(wrong(StepKind::put, recv(0), {send(0)}), "must be a copy"));
  EXPECT_TRUE(harness::has(wrong(StepKind::copy, recv(1), {send(0)}), "must be a put"));
  EXPECT_TRUE(harness::has(wrong(StepKind::copy, recv(0), {send(1)}), "must be a reduce"));
  EXPECT_TRUE(harness::has(wrong(StepKind::copy, recv(0), {send(0, 0, 1)}), "another size"));
  EXPECT_TRUE(harness::has(wrong(StepKind::copy, recv(0), {send(0), send(0)}), "needs one source"));
  EXPECT_TRUE(harness::has(wrong(StepKind::reduce, recv(0), {}), "needs a source"));
  EXPECT_TRUE(harness::has(wrong(StepKind::put, recv(2), {send(0)}), "no rank of the plan"));
  EXPECT_TRUE(harness::has(wrong(StepKind::copy, send(0), {send(0, 1)}), "its own source"));
}

TEST(TraceTest, SaysWhatEachElementIsMadeOf) {
  Sketch sketch(2, 2);
  Builder& builder = sketch.builder;
  const Range slot = builder.scratch(1, 2);
  const Event sent = builder.send_to(slot, builder.send(0));
  builder.wait(1, sent);
  builder.reduce(builder.recv(1), {slot, builder.send(1)}, true);
  const auto traced = trace(sketch.plan, sketch.memory());
  const TracedValue expected{{.rank = 0, .index = 1, .premultiplied = 1, .finished = 1},
                             {.rank = 1, .index = 1, .premultiplied = 1, .finished = 1}};
  EXPECT_EQ(traced[1][1], expected);
  EXPECT_TRUE(traced[0][0].empty());
}

TEST(TraceTest, CountsWhatIsCombinedTwice) {
  Sketch sketch(1, 1);
  Builder& builder = sketch.builder;
  builder.reduce(builder.recv(0), {builder.send(0), builder.send(0)});
  EXPECT_EQ(trace(sketch.plan, sketch.memory())[0][0].at(0).times, 2);
}

TEST(TraceTest, CountsReadsThroughSendOfMemoryThatWasOverwritten) {
  Sketch sketch(1, 1, {.in_place = true});
  Builder& builder = sketch.builder;
  builder.copy(builder.recv(0), builder.send(0));
  builder.copy(builder.recv(0), builder.send(0));
  EXPECT_EQ(trace(sketch.plan, sketch.memory())[0][0].at(0).premultiplied, 2);
}

}  // namespace
}  // namespace rankcheck::gpu::plan
