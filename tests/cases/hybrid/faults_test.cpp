#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "cases/backends/hybrid.hpp"
#include "tests/cases/planted_fault.hpp"

/// Tests that `rankcheck run --backend hybrid` reports faults of the worker, and of the MPI library
/// below it. tests/gpu/device/hybrid/planted_members.cpp and tests/gpu/device/mpi/faults.cpp
/// plant them.
namespace rankcheck::hybrid_tests {
namespace {

using tests::crashed;
using tests::falsified;
using tests::fault;
using tests::Outcome;
using tests::planted_run;
using tests::PlantedRun;

constexpr std::string_view two_a_process = "--cases 40 --ranks 2..3 --devices-per-process 2";
/// A device works on the memory of another one, so values, guards or inputs are wrong.
constexpr std::string_view elsewhere = "stage 0 ran staged: ";

/// Installs the program, and a worker that has the faults of placements and preloads those of MPI.
class FaultyHybridTest : public tests::CliTest, public testing::WithParamInterface<PlantedRun> {
 protected:
  void SetUp() override {
    const std::string why = cases::hybrid_backend().why_unavailable();
    if (!why.empty()) GTEST_SKIP() << why;
    install();
    write_script("bin/rankcheck-worker-hybrid",
                 "LD_PRELOAD='" RANKCHECK_MPI_FAULTS "' RANKCHECK_PLANTED=" + GetParam().planted() +
                     " exec '" RANKCHECK_PLANTED_HYBRID "' \"$@\"\n");
  }
};

TEST_P(FaultyHybridTest, IsFoundAndShrinks) {
  const Outcome outcome = fails(GetParam().arguments("hybrid"));
  GetParam().expect_found("hybrid", outcome, report("out"));
}

INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyHybridTest,
    testing::Values(
        // Only signals are messages of no bytes, and the other fault needs bytes.
        PlantedRun{
            "messages",
            {fault("flipped_bit", "all_reduce/staged"),
             fault("flipped_bit", "all_gather_v/direct", falsified("; stage 0 ran direct: ")),
             fault("no_signals", "barrier/staged/separates_ranks", falsified("left before rank"))},
            two_a_process},
        planted_run({fault("reversed_devices", "all_gather/staged", falsified(elsewhere, 2))},
                    two_a_process),
        planted_run({fault("places_of_world", "all_gather/staged", falsified(elsewhere, 3))},
                    "--cases 40 --ranks 2..3 --devices-per-process 3"),
        planted_run({fault("even_shares", "all_gather/staged", crashed("died", 4))},
                    "--cases 40 --ranks 4..4 --devices-per-process 3"),
        planted_run({fault("reversed_in_second_group",
                           "all_gather/staged/groups_at_once",
                           falsified(elsewhere, 4))},
                    "--cases 40 --ranks 3..4 --devices-per-process 4"),
        planted_run({fault("overtaken_staging", "all_gather/staged")}, two_a_process),
        planted_run({fault("kill", "all_reduce/staged", crashed("died")),
                     fault("kill", "broadcast_list/direct", crashed("died"))},
                    two_a_process),
        planted_run(
            {fault("hang", "all_reduce/staged", tests::hung("entered stage 0 (all_reduce)"))},
            "--cases 40 --ranks 2..3 --devices-per-process 2 --timeout 2")),
    tests::name_of_run);

}  // namespace
}  // namespace rankcheck::hybrid_tests
