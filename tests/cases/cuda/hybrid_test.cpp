#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cuda/on_stand_in.hpp"
#include "tests/cases/planted_fault.hpp"

/// MPI processes with several CUDA devices each, tested on stand-ins for these devices. Their
/// memory is closed to MPI: an access outside of their own work ends the process.
namespace rankcheck {
namespace {

using tests::Outcome;

class HybridOnStandInTest : public tests::OnStandIn {
 protected:
  void SetUp() override {
    OnStandIn::SetUp();
    const std::filesystem::path programs(RANKCHECK_STAND_IN_CUDA);
    if (!std::filesystem::exists(programs / "rankcheck-worker-hybrid-cuda")) {
      GTEST_SKIP() << "the programs for MPI processes were not built";
    }
    for (const char* name : {"rankcheck-worker-hybrid-cuda", "rankcheck-reconstruct-hybrid-cuda"}) {
      std::filesystem::create_symlink(programs / name, folder_.path() / "bin" / name);
    }
  }

#ifdef RANKCHECK_MPI_FAULTS
  /// Puts the library of tests/gpu/device/mpi/faults.cpp before the worker's MPI.
  void preload_mpi(const std::string& surroundings) {
    const std::filesystem::path worker = path_to("bin/rankcheck-worker-hybrid-cuda");
    const std::filesystem::path real = std::filesystem::read_symlink(worker);
    std::filesystem::remove(worker);
    write_script("bin/rankcheck-worker-hybrid-cuda",
                 "LD_PRELOAD='" RANKCHECK_MPI_FAULTS "' " + surroundings + " exec '" +
                     real.string() + "' \"$@\"\n");
  }
#endif

  /// Runs a part of ci. Expects the exit status.
  Outcome run(int status, const std::string& options, const std::string& ranks = "1..5") {
    return rankcheck(
        "run ci --backend hybrid --devices cuda --replays 1 --overwrite --report out "
        "--ranks " +
            ranks + ' ' + options,
        status);
  }
};

TEST_F(HybridOnStandInTest, StagesMessagesOfAllCollectives) {
  run(0, "--algorithm staged --property agrees_with_reference --cases 15");
  EXPECT_EQ(report("out")["environment"]["backends"]["hybrid"]["devices"], "cuda");
}

TEST_F(HybridOnStandInTest, RunsOperatorsAsTheyAre) {
  for (const std::string operation : {"rpie_step", "halo_blend", "partition_grid"}) {
    run(0, "--operation " + operation + " --property agrees_with_reference --cases 10");
  }
}

/// Open MPI must be built for CUDA to take addresses of its devices.
TEST_F(HybridOnStandInTest, RefusesToGiveAddressesToMpi) {
  expect_unable(
      R"(replay --devices cuda '{"operation":"all_gather","algorithm":"direct","ranks":3,)"
      R"("backend":"hybrid","count":2}')",
      "the MPI library does not take addresses of CUDA devices");
}

/// MPI must not read the host's memory before the copy from the device is done.
TEST_F(HybridOnStandInTest, FindsThatMpiOvertakesStaging) {
  surroundings_ = "RANKCHECK_STAND_IN=early_return ";
  run(1, "--operation all_gather --algorithm staged --property agrees_with_reference --cases 40");
  tests::expect_first_finding(
      report("out"), {.verdict = "falsified", .says = "", .ranks_max = 5, .has_case = false});
}

#ifdef RANKCHECK_MPI_FAULTS

const std::string direct_calls =
    "--algorithm direct --operation all_reduce --property agrees_with_reference --cases 20";

/// The worker's MPI library says that it takes addresses of CUDA devices, and takes them.
TEST_F(HybridOnStandInTest, GivesAddressesToAnMpiThatTakesThem) {
  preload_mpi("RANKCHECK_MPI_TAKES_DEVICES=1");
  const Outcome outcome = run(0, "--algorithm direct --property agrees_with_reference --cases 5");
  EXPECT_FALSE(has(outcome.out, "not_supported"));
}

TEST_F(HybridOnStandInTest, FindsAnMpiThatOnlySaysThatItTakesAddresses) {
  preload_mpi("RANKCHECK_MPI_TAKES_DEVICES=1 RANKCHECK_PLANTED=empty_promise");
  run(1, direct_calls);
  tests::expect_first_finding(report("out"), tests::crashed("died"));
}

TEST_F(HybridOnStandInTest, FindsAnMpiThatReadsADeviceTooEarly) {
  preload_mpi("RANKCHECK_MPI_TAKES_DEVICES=1 RANKCHECK_PLANTED=overtaken_staging");
  run(1, direct_calls);
  tests::expect_first_finding(report("out"), tests::falsified("; stage 0 ran direct: "));
}

/// Two ranks share a process here, so only cases of three ranks send messages.
TEST_F(HybridOnStandInTest, GoesOnAfterAProcessWasKilled) {
  preload_mpi("RANKCHECK_PLANTED=kill");
  const Outcome outcome =
      run(1,
          "--operation all_gather --algorithm staged --property agrees_with_reference --cases 10",
          "2..3");
  const nlohmann::json finding = findings("out").at(0);
  EXPECT_EQ(finding.at("verdict"), "crashed") << outcome.out;
  // Smaller cases were tried after the crash, and passed.
  EXPECT_EQ(finding.at("minimal").at("ranks"), 3) << outcome.out;
}

#endif

TEST_F(HybridOnStandInTest, Reconstructs) {
  if (!tests::reconstructs) GTEST_SKIP() << tests::no_reconstruct;
  passes("simulate scan.cxi --positions 16 --detector 16 --overlap 0.7");
  passes(
      "reconstruct scan.cxi --backend hybrid --devices cuda --ranks 3 --iterations 2 --verify 2");
}

}  // namespace
}  // namespace rankcheck
