#include "cases/backends/sim.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"

#include "harness/check/operation.hpp"

#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases {
namespace {

/// Returns what the stages leave on a new simulator.
harness::Observation observed(std::span<const harness::Case> stages, SimEdits edits = {}) {
  SimBackend backend(gpu::implementations(), std::move(edits));
  harness::Observation observation;
  backend.run(stages, observation);
  return observation;
}

/// Runs an operator on two ranks. Rank 1's device allocates 24 bytes of scratch memory, and one
/// byte is written at offset `at` of this memory.
harness::Observation run_with_write(std::ptrdiff_t at) {
  const harness::Case c = harness::case_from_text(
      R"({"operation":"insert","ranks":2,"counts":[1,1],"rows":2,"cols":2,"window":1,)"
      R"("detector":1})");
  return observed({&c, 1}, {.call = [&](const harness::Case&, const OperatorCall& call) {
                    call.make();
                    call.cluster.allocate(1, 24)[at] = std::byte{};
                  }});
}

TEST(SimBackendTest, SeesWritesOutsideOfADevicesMemory) {
  EXPECT_EQ(run_with_write(23).status, harness::RunStatus::completed);
  for (const auto& [at, says] : {std::pair(24, "rank 1: a write past 24 bytes of scratch memory"),
                                 {-1, "rank 1: a write before 24 bytes of scratch memory"}}) {
    const harness::Observation observation = run_with_write(at);
    EXPECT_EQ(observation.status, harness::RunStatus::failed);
    EXPECT_EQ(observation.reason, says);
  }
}

/// The stages of repeated calls of two ranks.
std::vector<harness::Case> calls(int repeat) {
  harness::Case c = harness::case_from_text(
      R"({"operation":"broadcast","algorithm":"binomial","ranks":2,"count":3})");
  std::vector<harness::Case> stages(spec::to_size(repeat), c);
  for (std::size_t k = 0; k < stages.size(); ++k) stages[k].data_seed += k;
  return stages;
}

TEST(SimBackendTest, HasRepeatedCallsInFlightAtTheSameTime) {
  std::vector<int> ranks;
  const SimEdits edits{.groups = [&](std::span<const harness::Case>, auto& merged) {
    ranks.push_back(merged.ranks());
  }};
  // Equal data is no repeated call: is_deterministic runs such calls one after another.
  std::vector<harness::Case> same = calls(2);
  same[1].data_seed = same[0].data_seed;
  for (const std::vector<harness::Case>& stages : {calls(3), same}) {
    const harness::Observation observation = observed(stages, edits);
    EXPECT_EQ(observation.status, harness::RunStatus::completed) << observation.reason;
    EXPECT_EQ(ranks, std::vector{6});
  }
}

/// Calls of different operations and types, of which the second one ends the overlap.
TEST(SimBackendTest, RunsAHistoryAsOnePlan) {
  std::vector<harness::Case> stages = calls(1);
  stages.insert(
      stages.begin(),
      harness::case_from_text(
          R"({"operation":"all_reduce","algorithm":"ring","ranks":3,"group":[2,0,1],"count":5,)"
          R"("type":"f64","op":"premul_sum","overlaps":true})"));
  stages.push_back(stages[1]);
  std::vector<int> ranks;
  harness::Observation together =
      observed(stages, {.groups = [&](std::span<const harness::Case> in_flight, auto& merged) {
                 EXPECT_EQ(in_flight.size(), 3U);
                 EXPECT_EQ(merged.arithmetic[2].type, spec::Type::f64);
                 EXPECT_EQ(merged.arithmetic[3].type, spec::Type::f32);
                 ranks.push_back(merged.ranks());
               }});
  EXPECT_EQ(together.status, harness::RunStatus::completed) << together.reason;
  EXPECT_EQ(ranks, std::vector{7});
  stages[0].overlaps = false;
  for (std::size_t k = 0; k < stages.size(); ++k) {
    EXPECT_EQ(together.stages[k].images, observed({&stages[k], 1}).stages[0].images);
  }
}

/// So suites require cells with strides.
TEST(SimBackendTest, TakesElementsThatLieApart) {
  EXPECT_TRUE(SimBackend(gpu::implementations()).traits().has_strides);
}

/// A message to the memory of the call before is a race, and the text says which call is meant.
TEST(SimBackendTest, SeesMemoryThatTwoCallsUse) {
  const harness::Observation observation =
      observed(calls(2), {.groups = [](std::span<const harness::Case>, auto& merged) {
                 for (auto& step : merged.steps[2]) {
                   if (step.kind == gpu::plan::StepKind::put) step.destination.rank = 1;
                 }
               }});
  EXPECT_EQ(observation.status, harness::RunStatus::failed);
  EXPECT_EQ(observation.symptom, harness::Symptom::race);
  EXPECT_TRUE(observation.reason.ends_with(". Ranks 2 to 3 stand for the ranks in call 2"))
      << observation.reason;
}

TEST(SimBackendTest, LetsInputsArriveWithTheRank) {
  std::vector<harness::Case> pending = calls(2);
  for (harness::Case& c : pending) c.pending = true;
  const harness::Observation arrived = observed(pending);
  const harness::Observation usual = observed(calls(2));
  ASSERT_EQ(arrived.status, harness::RunStatus::completed) << arrived.reason;
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(arrived.stages[k].images, usual.stages[k].images);
  }
}

TEST(SimBackendTest, LetsTheLateRankEnterLast) {
  std::vector<harness::Case> late = calls(1);
  late[0].late = 0;
  const harness::Observation observation = observed(late);
  ASSERT_EQ(observation.status, harness::RunStatus::completed) << observation.reason;
  const auto& stamps = observation.stages[0].stamps;
  EXPECT_GT(stamps[0].entered, stamps[1].entered);
}

}  // namespace
}  // namespace rankcheck::cases
