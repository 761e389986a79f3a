#include <algorithm>
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

class NcclBackendTest : public tests::CliTest {
 protected:
  /// Returns what the doctor reports of the backend on a machine without devices.
  json doctor(const std::string& options) {
    const json said =
        json::parse(shell("CUDA_VISIBLE_DEVICES= " + program_ + " doctor --json" + options).out);
    for (const json& each : said.at("backends")) {
      if (each.at("name") == "nccl") return each;
    }
    return {};
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
  const json listing = json::parse(rankcheck("list --json" + absent_).out);
  const json& backends = listing.at("backends");
  const auto found = std::find_if(
      backends.begin(), backends.end(), [](const json& each) { return each.at("name") == "nccl"; });
  ASSERT_NE(found, backends.end());
  EXPECT_FALSE(found->at("available").get<bool>());
  EXPECT_NE(found->at("why_unavailable").get<std::string>().find("--nccl-library"),
            std::string::npos);
  for (const json& each : listing.at("operations")) {
    if (each.at("name") != "all_reduce") continue;
    EXPECT_EQ(each.at("algorithms").at("nccl").at(0).at("name"), "native");
  }
}

TEST_F(NcclBackendTest, IsSkippedWithTheReasonWhereASuiteNamesIt) {
  harness::write_file(folder_.path() / "s.json",
                      R"({"name":"s","summary":"s","entries":[)"
                      R"({"backends":["sim"],"operation":"gather","cases":1,)"
                      R"("require_all_cells":false},)"
                      R"({"backends":["nccl"],"family":"collectives","operation":"gather"}]})");
  const tests::Outcome outcome = rankcheck("run s.json --report r" + absent_);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.last_line().find(" 1 skipped"), std::string::npos) << outcome.out;
  EXPECT_NE(report("r").dump().find("NCCL cannot be loaded"), std::string::npos);
}

TEST_F(NcclBackendTest, WorksAroundWhatAnOldLibraryLacks) {
  const tests::Outcome outcome = rankcheck(
      "run --backend nccl --operation gather --algorithm '[ng]*' --cases 20 --ranks 1..3 "
      "--property agrees_with_reference --report r" +
      old_);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json findings = report("r").at("findings");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].at("unit").at("algorithm"), "grouped");
  EXPECT_EQ(findings[0].at("verdict"), "passed");
  EXPECT_EQ(findings[1].at("verdict"), "skipped");
  EXPECT_NE(outcome.out.find("not_supported"), std::string::npos) << outcome.out;
}

TEST_F(NcclBackendTest, CallsInWindows) {
  const std::string options = " run --backend nccl --algorithm windows --cases 20 --ranks 2..3 ";
  const tests::Outcome all = rankcheck(
      options + "--property agrees_with_reference --property groups_at_once --report all" +
      stand_in_);
  EXPECT_EQ(all.status, 0) << all.out << all.err;
  EXPECT_EQ(report("all").at("findings").size(), 2U * 8);
  const tests::Outcome old = rankcheck(
      options + "--operation reduce --property agrees_with_reference --report old" + old_);
  EXPECT_EQ(report("old").at("findings").at(0).at("verdict"), "skipped") << old.out;
}

TEST_F(NcclBackendTest, CallsInRegisteredMemoryInGraphsAndInGroups) {
  const tests::Outcome all = rankcheck(
      "run --backend nccl --algorithm registered,graph,aggregated --cases 10 --ranks 2..3 "
      "--property agrees_with_reference --report all" +
      stand_in_);
  EXPECT_EQ(all.status, 0) << all.out << all.err;
  const json findings = report("all").at("findings");
  EXPECT_EQ(findings.size(), 3U * 8);
  for (const json& each : findings) EXPECT_EQ(each.at("verdict"), "passed") << each;
}

/// NCCL_HOSTID makes NCCL take processes of one machine for those of several.
TEST_F(NcclBackendTest, TellsEachRankItsHost) {
  const std::string file = harness::shell_quoted((folder_.path() / "seen").string());
  const tests::Outcome outcome = shell(
      "RANKCHECK_STAND_IN_HOSTS=" + file + " " + program_ +
      " run --backend nccl --operation gather --algorithm native --hosts 0,1,0 --cases 10 --report "
      "r --property agrees_with_reference" +
      stand_in_);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(report("r").at("findings").at(0).at("unit").at("hosts"), (json{0, 1, 0}));
  const std::string seen = shell("sort -u " + file).out;
  for (const char* each : {"0 rankcheck-0\n", "1 rankcheck-1\n", "2 rankcheck-0\n"}) {
    EXPECT_NE(seen.find(each), std::string::npos) << seen;
  }
}

/// NCCL gives no window, without an error, where it does not support symmetric memory.
TEST_F(NcclBackendTest, PassesNoCaseWithoutItsWindow) {
  const tests::Outcome outcome =
      shell("RANKCHECK_STAND_IN=no_window " + program_ +
            " run --backend nccl --operation broadcast --algorithm windows --cases 5 --ranks 2..3 "
            "--property agrees_with_reference --report r" +
            stand_in_);
  EXPECT_NE(outcome.status, 0) << outcome.out << outcome.err;
  const json finding = report("r").at("findings").at(0);
  EXPECT_EQ(finding.at("verdict"), "vacuous") << finding;
  EXPECT_NE(finding.at("reason").get<std::string>().find("the backend refused"), std::string::npos)
      << finding;
}

TEST_F(NcclBackendTest, TellsTheDoctorInALineWhatIsMissing) {
  const std::string none = doctor(absent_).at("why_unavailable");
  EXPECT_EQ(none.find("NCCL cannot be loaded: /nowhere/libnccl.so.2: cannot open"), 0U) << none;
  EXPECT_EQ(none.find('\n'), std::string::npos) << none;
  const std::string other = doctor(" --nccl-library libm.so.6").at("why_unavailable");
  EXPECT_EQ(other.find("NCCL cannot be loaded: libm.so.6: not NCCL"), 0U) << other;
}

/// The stand-in library poses as NCCL itself. Its ranks share devices if there are too few.
TEST_F(NcclBackendTest, TellsTheDoctorThatSharedMemoryIsShort) {
  const json nccl =
      doctor(" --nccl-library " + harness::shell_quoted(RANKCHECK_STAND_IN_NCCL_ON_DEVICES));
  const json& notes = nccl.at("notes");
  EXPECT_NE(
      std::find(notes.begin(),
                notes.end(),
                "/proc: found 0 MiB, expected 136 MiB for 4 ranks that share devices: mount it "
                "with more (of a container: --shm-size=1g)"),
      notes.end())
      << nccl;
}

TEST_F(NcclBackendTest, TellsTheDoctorWhichFileItTook) {
  const std::string library = doctor(stand_in_).at("versions").at("nccl_library");
  EXPECT_EQ(library,
            RANKCHECK_STAND_IN_NCCL " (named by --nccl-library or RANKCHECK_NCCL_LIBRARY)");
}

TEST_F(NcclBackendTest, TellsTheDoctorThatItIsAStandIn) {
  const std::string said = rankcheck("doctor --json" + stand_in_).out;
  EXPECT_NE(said.find("2.28.9"), std::string::npos) << said;
  EXPECT_NE(said.find("stand-in, not NCCL"), std::string::npos) << said;
}

/// The run overrides variables that users set for their own programs.
TEST_F(NcclBackendTest, ForcesAlgorithmsWhateverTheEnvironmentSays) {
  const tests::Outcome outcome =
      shell("NCCL_COMM_BLOCKING=0 NCCL_DEBUG=WARN NCCL_DEBUG_FILE=theirs " + program_ +
            " run --backend nccl --operation all_reduce --algorithm tree_simple --cases 10 "
            "--ranks 2..3 --report r" +
            stand_in_);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
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
    const tests::Outcome outcome = shell(worker + " " + arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.err.find("rankcheck-worker-nccl: "), 0U) << outcome.err;
    EXPECT_NE(outcome.err.find(expected), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(NcclBackendTest, PrintsCommandsThatNameTheLibrary) {
  const std::string planted = "RANKCHECK_STAND_IN=flipped_bit ";
  const tests::Outcome found =
      shell(planted + program_ +
            " run --backend nccl --operation all_reduce --algorithm native --ranks 2 "
            "--property agrees_with_reference --cases 5 --report r" +
            stand_in_);
  const std::size_t begin = found.out.find(program_ + " --nccl-library ");
  ASSERT_NE(begin, std::string::npos) << found.out;
  const std::string line = found.out.substr(begin, found.out.find('\n', begin) - begin);
  const tests::Outcome again = shell(planted + line);
  EXPECT_EQ(again.status, 1) << line << again.out << again.err;
  EXPECT_NE(again.out.find("falsified"), std::string::npos) << again.out;
}

}  // namespace
}  // namespace rankcheck
