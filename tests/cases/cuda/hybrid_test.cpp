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

  Outcome run(const std::string& surroundings, const std::string& options) {
    return shell(surroundings + " " + program_ +
                 " run ci --backend hybrid --devices cuda --ranks 1..5 --replays 1 --report out " +
                 options);
  }
};

TEST_F(HybridOnStandInTest, StagesMessagesOfAllCollectives) {
  const Outcome outcome = run("", "--algorithm staged --property agrees_with_reference --cases 15");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(report("out")["environment"]["backends"]["hybrid"]["devices"], "cuda");
}

TEST_F(HybridOnStandInTest, RunsOperatorsAsTheyAre) {
  for (const std::string operation : {"rpie_step", "halo_blend", "partition_grid"}) {
    const Outcome outcome =
        run("", "--operation " + operation + " --property agrees_with_reference --cases 10");
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    std::filesystem::remove_all(path_to("out"));
  }
}

/// Open MPI must be built for CUDA to take addresses of its devices.
TEST_F(HybridOnStandInTest, RefusesToGiveAddressesToMpi) {
  const Outcome outcome = rankcheck(
      R"(replay --devices cuda '{"operation":"all_gather","algorithm":"direct","ranks":3,)"
      R"("backend":"hybrid","count":2}')");
  EXPECT_EQ(outcome.status, 2) << outcome.out;
  EXPECT_NE(outcome.err.find("the MPI library does not take addresses of CUDA devices"),
            std::string::npos)
      << outcome.err;
}

/// MPI must not read the host's memory before the copy from the device is done.
TEST_F(HybridOnStandInTest, FindsThatMpiOvertakesStaging) {
  const Outcome outcome = run("RANKCHECK_STAND_IN=early_return",
                              "--operation all_gather --algorithm staged --property "
                              "agrees_with_reference --cases 40");
  ASSERT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  tests::expect_first_finding(
      report("out"), {.verdict = "falsified", .says = "", .ranks_max = 5, .has_case = false});
}

#ifdef RANKCHECK_MPI_FAULTS

const std::string direct_calls =
    "--algorithm direct --operation all_reduce --property agrees_with_reference --cases 20";

/// The worker's MPI library says that it takes addresses of CUDA devices, and takes them.
TEST_F(HybridOnStandInTest, GivesAddressesToAnMpiThatTakesThem) {
  preload_mpi("RANKCHECK_MPI_TAKES_DEVICES=1");
  const Outcome outcome = run("", "--algorithm direct --property agrees_with_reference --cases 5");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out.find("not_supported"), std::string::npos) << outcome.out;
}

TEST_F(HybridOnStandInTest, FindsAnMpiThatOnlySaysThatItTakesAddresses) {
  preload_mpi("RANKCHECK_MPI_TAKES_DEVICES=1 RANKCHECK_PLANTED=empty_promise");
  const Outcome outcome = run("", direct_calls);
  ASSERT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  tests::expect_first_finding(report("out"),
                              {.verdict = "crashed", .says = "died", .ranks_max = 3});
}

TEST_F(HybridOnStandInTest, FindsAnMpiThatReadsADeviceTooEarly) {
  preload_mpi("RANKCHECK_MPI_TAKES_DEVICES=1 RANKCHECK_PLANTED=overtaken_staging");
  const Outcome outcome = run("", direct_calls);
  ASSERT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  tests::expect_first_finding(
      report("out"), {.verdict = "falsified", .says = "; stage 0 ran direct: ", .ranks_max = 3});
}

/// Two ranks share a process here, so only cases of three ranks send messages.
TEST_F(HybridOnStandInTest, GoesOnAfterAProcessWasKilled) {
  preload_mpi("RANKCHECK_PLANTED=kill");
  const Outcome outcome = shell(program_ +
                                " run ci --backend hybrid --devices cuda --operation all_gather "
                                "--algorithm staged --property agrees_with_reference --cases 10 "
                                "--ranks 2..3 --replays 1 --report out");
  ASSERT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  const nlohmann::json finding = report("out").at("findings").at(0);
  EXPECT_EQ(finding.at("verdict"), "crashed") << outcome.out;
  // Smaller cases were tried after the crash, and passed.
  EXPECT_EQ(finding.at("minimal").at("ranks"), 3) << outcome.out;
}

#endif

TEST_F(HybridOnStandInTest, Reconstructs) {
  if (!tests::reconstructs) GTEST_SKIP() << tests::no_reconstruct;
  ASSERT_EQ(rankcheck("simulate scan.cxi --positions 16 --detector 16 --overlap 0.7").status, 0);
  const Outcome outcome = rankcheck(
      "reconstruct scan.cxi --backend hybrid --devices cuda --ranks 3 --iterations 2 --verify 2");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace rankcheck
