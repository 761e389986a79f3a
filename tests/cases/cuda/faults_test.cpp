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

using tests::fault;
using tests::Outcome;
using tests::planted_run;
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
  const Outcome outcome =
      with("RANKCHECK_STAND_IN=" + GetParam().planted(), GetParam().arguments("cuda"), 1);
  GetParam().expect_found("cuda", outcome, report("out"));
}

/// Returns a run with one fault.
PlantedRun alone(const tests::Fault& fault) {
  return planted_run({fault}, on_40_cases);
}

// Most faults are in what every call uses, so they would hide others.
INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyCudaTest,
    testing::Values(
        planted_run(
            {fault("deaf_wait", "all_reduce/ring", differs),
             fault("deaf_wait", "barrier/central/separates_ranks", told("left before rank"))},
            on_40_cases),
        alone(fault("early_return", "all_gather/ring", differs)),
        alone(fault("short_copy", "broadcast/chain", differs)),
        alone(fault("shared_memory", "all_to_all/pairwise", outside)),
        alone(fault("long_copy", "broadcast/chain", outside)),
        alone(fault("lost_block", "all_reduce/ring", differs)),
        alone(fault("early_event", "all_reduce/ring", differs)),
        alone(fault("overtakes", "all_reduce/ring", differs)),
        alone(fault("scaled_transform", "propagate/fft", differs)),
        planted_run({fault("lost_replay",
                           "all_reduce/ring/is_deterministic",
                           told("differs from the first")),
                     fault("lost_replay", "broadcast/chain/repeats_with_other_data", differs)},
                    on_40_cases),
        alone(fault("old_data", "broadcast/chain/repeats_with_other_data", differs)),
        // The old addresses are in the previous graph. A process that replays only this case has no
        // previous graph, so the calls before it become a part of the case.
        planted_run({fault("old_addresses",
                           "all_reduce/ring/is_deterministic",
                           told("differs from the reference"))},
                    on_40_cases,
                    PlantedRun::default_replays),
        alone(fault(
            "loose_graph", "all_reduce/ring/is_deterministic", told("differs from the first"))),
        // Only in a case that is pending is work on the stream before the launch, and behind it.
        // The result is copied before the inputs arrive.
        alone(fault("launch_overtakes",
                    "all_reduce/ring/is_deterministic",
                    only_pending("memory outside the buffers was written"))),
        alone(fault("overtaken_launch",
                    "all_reduce/ring/is_deterministic",
                    only_pending("differs from the first"))),
        alone(fault("illegal_address",
                    "all_reduce/ring",
                    told("an illegal memory access was encountered", "crashed")))),
    tests::name_of_run);

/// The test above finds these faults with graphs enabled.
TEST_F(FaultsOfGraphsTest, AreThoseThatAreGoneWithoutThem) {
  const auto run = [this](const std::string& faults, const std::string& property, int status) {
    with("RANKCHECK_CUDA_GRAPHS=0 RANKCHECK_STAND_IN=" + faults,
         "run ci --backend cuda --operation all_reduce --algorithm ring --property " + property +
             " --cases 40 --ranks 2..3 --replays 1 --report " + faults,
         status);
  };
  run("lost_replay,loose_graph", "is_deterministic", 0);
  run("deaf_wait", "agrees_with_reference", 1);
}

/// tests/gpu/plan/planted_merge.cpp has the fault.
TEST_F(FaultsOfGroupsTest, InTheCommunicatorOfTheWorldAreFound) {
  const std::string arguments =
      " run ci --backend cuda --operation all_gather --algorithm ring --property groups_at_once "
      "--cases 40 --ranks 2..4 --replays 1 --report ";
  shell(program_ + arguments + "right", 0);
  const std::filesystem::path worker = folder_.path() / "bin" / "rankcheck-worker-cuda";
  std::filesystem::remove(worker);
  std::filesystem::create_symlink(RANKCHECK_PLANTED_CUDA, worker);
  shell(program_ + arguments + "wrong", 1);
  tests::expect_first_finding(report("wrong"), tests::falsified(""));
}

TEST_F(FaultsOfGraphsTest, AreLookedForOnlyAsAskedFor) {
  EXPECT_TRUE(has(with("RANKCHECK_CUDA_GRAPHS=0", "doctor").out, "cuda_graphs: none"));
  surroundings_ = "RANKCHECK_CUDA_GRAPHS=off ";
  expect_unable("run smoke --backend cuda --report r",
                "RANKCHECK_CUDA_GRAPHS: got off, expected 0 or 1");
}

}  // namespace
}  // namespace rankcheck
