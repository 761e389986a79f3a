#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

/// The backend nccl as users meet it.
namespace rankcheck {
namespace {

using nlohmann::json;
using tests::Outcome;

class NcclBackendTest : public tests::CliTest {
 protected:
  /// Returns what the doctor reports of the backend on a machine without devices.
  json doctor_on_host(const std::string& options) {
    return doctor("nccl", options, "CUDA_VISIBLE_DEVICES= ");
  }
  const std::string stand_in_ = " --nccl-library " + harness::shell_quoted(RANKCHECK_STAND_IN_NCCL);
  const std::string old_ = " --nccl-library " + harness::shell_quoted(RANKCHECK_STAND_IN_NCCL_OLD);
  const std::string absent_ = " --nccl-library /nowhere/libnccl.so.2";
};

TEST_F(NcclBackendTest, SaysInALineWhyItCannotRun) {
  expect_unable("run --backend nccl" + absent_, "/nowhere/libnccl.so.2: cannot open");
  expect_unable("run --backend nccl" + absent_, "install it");
  expect_unable("run --backend nccl --ranks 1..65" + stand_in_, "expected at most 64");
}

TEST_F(NcclBackendTest, IsListedWithWhatIsBuiltIn) {
  const json listing = json::parse(rankcheck("list --json --operation all_reduce" + absent_).out);
  const json nccl = with_name("nccl", listing.at("backends"));
  EXPECT_FALSE(nccl.at("available").get<bool>());
  EXPECT_TRUE(has(std::string(nccl.at("why_unavailable")), "--nccl-library"));
  EXPECT_EQ(listing.at("operations").at(0).at("algorithms").at("nccl").at(0).at("name"), "native");
}

TEST_F(NcclBackendTest, WorksAroundWhatAnOldLibraryLacks) {
  const Outcome outcome = passes(
      "run --backend nccl --operation gather --algorithm '[ng]*' --cases 20 --ranks 1..3 "
      "--property agrees_with_reference --report r" +
      old_);
  const json found = findings("r");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].at("unit").at("algorithm"), "grouped");
  EXPECT_EQ(found[0].at("verdict"), "passed");
  EXPECT_EQ(found[1].at("verdict"), "skipped");
  EXPECT_TRUE(has(outcome.out, "not_supported"));
}

/// NCCL_HOSTID makes NCCL take processes of one machine for those of several.
TEST_F(NcclBackendTest, TellsEachRankItsHost) {
  surroundings_ = "RANKCHECK_STAND_IN_HOSTS=$PWD/seen ";
  passes(
      "run --backend nccl --operation gather --algorithm native --hosts 0,1,0 --cases 10 "
      "--property agrees_with_reference --report r" +
      stand_in_);
  EXPECT_EQ(findings("r").at(0).at("unit").at("hosts"), (json{0, 1, 0}));
  const std::string seen = shell("sort -u seen").out;
  for (const char* each : {"0 rankcheck-0\n", "1 rankcheck-1\n", "2 rankcheck-0\n"}) {
    EXPECT_TRUE(has(seen, each));
  }
}

/// NCCL gives no window, without an error, where it does not support symmetric memory.
TEST_F(NcclBackendTest, PassesNoCaseWithoutItsWindow) {
  surroundings_ = "RANKCHECK_STAND_IN=no_window ";
  EXPECT_NE(rankcheck("run --backend nccl --operation broadcast --algorithm windows --cases 5 "
                      "--ranks 2..3 --property agrees_with_reference --report r" +
                      stand_in_)
                .status,
            0);
  const json finding = findings("r").at(0);
  EXPECT_EQ(finding.at("verdict"), "vacuous") << finding;
  EXPECT_TRUE(has(std::string(finding.at("reason")), "the backend refused"));
}

TEST_F(NcclBackendTest, TellsTheDoctorInALineWhatIsMissing) {
  const std::string none = doctor_on_host(absent_).at("why_unavailable");
  EXPECT_TRUE(begins(none, "NCCL cannot be loaded: /nowhere/libnccl.so.2: cannot open"));
  EXPECT_FALSE(has(none, "\n"));
  const std::string other = doctor_on_host(" --nccl-library libm.so.6").at("why_unavailable");
  EXPECT_TRUE(begins(other, "NCCL cannot be loaded: libm.so.6: not NCCL"));
}

/// The stand-in library poses as NCCL itself. Its ranks share devices if there are too few.
TEST_F(NcclBackendTest, TellsTheDoctorThatSharedMemoryIsShort) {
  const json nccl = doctor_on_host(" --nccl-library " +
                                   harness::shell_quoted(RANKCHECK_STAND_IN_NCCL_ON_DEVICES));
  EXPECT_TRUE(
      has(nccl.at("notes").dump(),
          "\"/proc: found 0 MiB, expected 136 MiB for 4 ranks that share devices: mount it with "
          "more (of a container: --shm-size=1g)\""));
}

TEST_F(NcclBackendTest, TellsTheDoctorWhichFileItTookAndThatItIsAStandIn) {
  EXPECT_EQ(doctor_on_host(stand_in_).at("versions").at("nccl_library"),
            RANKCHECK_STAND_IN_NCCL " (named by --nccl-library or RANKCHECK_NCCL_LIBRARY)");
  EXPECT_TRUE(has(rankcheck("doctor --json" + stand_in_).out, "stand-in, not NCCL", "2.28.9"));
}

/// The run overrides variables that users set for their own programs.
TEST_F(NcclBackendTest, ForcesAlgorithmsWhateverTheEnvironmentSays) {
  surroundings_ = "NCCL_COMM_BLOCKING=0 NCCL_DEBUG=WARN NCCL_DEBUG_FILE=theirs ";
  passes(
      "run --backend nccl --operation all_reduce --algorithm tree_simple --cases 10 --ranks 2..3 "
      "--report r" +
      stand_in_);
}

TEST_F(NcclBackendTest, WorkerRefusesArgumentsThatMakeNoSense) {
  const std::string worker = harness::shell_quoted(RANKCHECK_BINARY_DIR "/rankcheck-worker-nccl");
  const std::vector<std::pair<std::string, std::string>> refused{
      {"", "expected --ranks N"},
      {"--ranks 0", "--ranks: "},
      {"--ranks 4097", "--ranks: "},
      {"--ranks two", "--ranks: "},
      {"--ranks 2 --patience nan",
       "--patience: got nan, expected seconds above 0, at most 1000000000"},
      {"--ranks 2 --patience inf", "got inf"},
      {"--ranks 2 --patience -1", "got -1"},
      {"--ranks 2 --rank 1", "--meeting"},
      {"--ranks 2 --rank 2 --meeting /tmp", "--rank: got 2, expected less than the 2 of --ranks"},
      {"--ranks 2 --rank -7 --meeting /tmp", "--rank: "},
      {"--ranks 2 --rank 1 --meeting /nowhere", "--meeting: "},
      {"--ranks 2 --nonsense", "--nonsense"}};
  for (const auto& [arguments, expected] : refused) {
    SCOPED_TRACE(arguments);
    expect_one_line(shell(worker + " " + arguments, 2), expected, "rankcheck-worker-nccl");
  }
}

TEST_F(NcclBackendTest, PrintsCommandsThatNameTheLibrary) {
  surroundings_ = "RANKCHECK_STAND_IN=flipped_bit ";
  const Outcome found = rankcheck(
      "run --backend nccl --operation all_reduce --algorithm native --ranks 2 "
      "--property agrees_with_reference --cases 5 --report r" +
      stand_in_);
  const std::size_t begin = found.out.find(program_ + " --nccl-library ");
  ASSERT_NE(begin, std::string::npos) << found.out;
  const std::string line = found.out.substr(begin, found.out.find('\n', begin) - begin);
  EXPECT_TRUE(has(shell(surroundings_ + line, 1).out, "falsified"));
}

}  // namespace
}  // namespace rankcheck
