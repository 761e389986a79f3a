#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/cases/cuda/on_stand_in.hpp"
#include "tests/cases/planted_fault.hpp"

/// Tests that `rankcheck run --backend cuda` reports devices with faults.
/// tests/gpu/device/cuda/stand_in/ plants the faults.
namespace rankcheck {
namespace {

using tests::agrees;
using tests::PlantedRun;
using tests::Told;

constexpr std::string_view on_40_cases = "--cases 40 --ranks 2..3";

/// Returns what is expected of a fault whose minimal case may be larger than others.
constexpr Told told(std::string_view says, std::string_view verdict = "falsified") {
  return {.verdict = verdict, .says = says, .ranks_max = 3, .has_case = false};
}
constexpr Told only_pending(std::string_view says) {
  Told expected = told(says);
  expected.is_pending = true;
  return expected;
}
constexpr Told differs = told("differs from the reference");
constexpr Told outside = told("memory outside the buffers was written");

class FaultyCudaTest : public tests::OnStandIn, public testing::WithParamInterface<PlantedRun> {};

using FaultsOfGraphsTest = tests::OnStandIn;
using FaultsOfGroupsTest = tests::OnStandIn;

TEST_P(FaultyCudaTest, IsFound) {
  const tests::Outcome outcome = shell("RANKCHECK_STAND_IN=" + GetParam().planted() + " " +
                                       program_ + " " + GetParam().arguments("cuda"));
  ASSERT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  GetParam().expect_found("cuda", outcome, report("out"));
}

/// Returns a run with one fault.
PlantedRun alone(const tests::Fault& fault) {
  return {fault.name, {fault}, on_40_cases};
}

// Most faults are in what every call uses, so they would hide others.
INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyCudaTest,
    testing::Values(
        PlantedRun{
            "deaf_wait",
            {{"deaf_wait", "all_reduce", "ring", agrees, differs},
             {"deaf_wait", "barrier", "central", "separates_ranks", told("left before rank")}},
            on_40_cases},
        alone({"early_return", "all_gather", "ring", agrees, differs}),
        alone({"short_copy", "broadcast", "chain", agrees, differs}),
        alone({"shared_memory", "all_to_all", "pairwise", agrees, outside}),
        alone({"long_copy", "broadcast", "chain", agrees, outside}),
        alone({"lost_block", "all_reduce", "ring", agrees, differs}),
        alone({"early_event", "all_reduce", "ring", agrees, differs}),
        alone({"overtakes", "all_reduce", "ring", agrees, differs}),
        alone({"scaled_transform", "propagate", "fft", agrees, differs}),
        PlantedRun{"lost_replay",
                   {{"lost_replay",
                     "all_reduce",
                     "ring",
                     "is_deterministic",
                     told("differs from the first")},
                    {"lost_replay", "broadcast", "chain", "repeats_with_other_data", differs}},
                   on_40_cases},
        alone({"old_data", "broadcast", "chain", "repeats_with_other_data", differs}),
        // The old addresses are in the previous graph. A process that replays only this case has no
        // previous graph, so the finding is flaky. What the previous graph overwrites depends on
        // its case.
        PlantedRun{"old_addresses",
                   {{"old_addresses",
                     "all_reduce",
                     "ring",
                     "is_deterministic",
                     told("falsified in 0 of 5 replays", "flaky")}},
                   on_40_cases,
                   PlantedRun::default_replays},
        alone({"loose_graph",
               "all_reduce",
               "ring",
               "is_deterministic",
               told("differs from the first")}),
        // Only in a case that is pending is work on the stream before the launch, and behind it.
        // The result is copied before the inputs arrive.
        alone({"launch_overtakes",
               "all_reduce",
               "ring",
               "is_deterministic",
               only_pending("memory outside the buffers was written")}),
        alone({"overtaken_launch",
               "all_reduce",
               "ring",
               "is_deterministic",
               only_pending("differs from the first")}),
        alone({"illegal_address",
               "all_reduce",
               "ring",
               agrees,
               told("an illegal memory access was encountered", "crashed")})),
    tests::name_of_run);

/// The test above finds these faults with graphs enabled.
TEST_F(FaultsOfGraphsTest, AreThoseThatAreGoneWithoutThem) {
  const auto run = [this](const std::string& fault, const std::string& property) {
    return shell("RANKCHECK_CUDA_GRAPHS=0 RANKCHECK_STAND_IN=" + fault + " " + program_ +
                 " run ci --backend cuda --operation all_reduce --algorithm ring --property " +
                 property + " --cases 40 --ranks 2..3 --replays 1 --report " + fault);
  };
  const tests::Outcome outcome = run("lost_replay,loose_graph", "is_deterministic");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(run("deaf_wait", "agrees_with_reference").status, 1);
}

/// tests/gpu/plan/planted_merge.cpp has the fault.
TEST_F(FaultsOfGroupsTest, InTheCommunicatorOfTheWorldAreFound) {
  const std::string arguments =
      " run ci --backend cuda --operation all_gather --algorithm ring --property groups_at_once "
      "--cases 40 --ranks 2..4 --replays 1 --report ";
  const tests::Outcome right = shell(program_ + arguments + "right");
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  const std::filesystem::path worker = folder_.path() / "bin" / "rankcheck-worker-cuda";
  std::filesystem::remove(worker);
  std::filesystem::create_symlink(RANKCHECK_PLANTED_CUDA, worker);
  const tests::Outcome wrong = shell(program_ + arguments + "wrong");
  ASSERT_EQ(wrong.status, 1) << wrong.out << wrong.err;
  tests::expect_first_finding(report("wrong"),
                              {.verdict = "falsified", .says = "", .ranks_max = 3});
}

TEST_F(FaultsOfGraphsTest, AreLookedForOnlyAsAskedFor) {
  const tests::Outcome doctor = shell("RANKCHECK_CUDA_GRAPHS=0 " + program_ + " doctor");
  EXPECT_NE(doctor.out.find("cuda_graphs: none"), std::string::npos) << doctor.out;
  const tests::Outcome outcome =
      shell("RANKCHECK_CUDA_GRAPHS=off " + program_ + " run smoke --backend cuda --report r");
  EXPECT_EQ(outcome.status, 2) << outcome.out;
  EXPECT_NE(outcome.err.find("RANKCHECK_CUDA_GRAPHS: got off, expected 0 or 1"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace rankcheck
