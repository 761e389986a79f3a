#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cases/backends/mpi.hpp"
#include "cases/backends/mpi_launch.hpp"
#include "tests/cases/cli.hpp"
#include "tests/harness/schema.hpp"

namespace rankcheck {
namespace {

/// Ranks of Open MPI on several hosts of this machine.
class MpiHostsTest : public tests::CliTest {
 protected:
  void SetUp() override {
    const std::string why = cases::mpi_backend().why_unavailable();
    if (!why.empty()) GTEST_SKIP() << why;
    version_ = cases::mpi_backend().describe({}).value("mpi", "");
    if (!version_.starts_with("Open MPI")) GTEST_SKIP() << "another library: " << version_;
    const std::string forbidden = cases::why_no_mpi_hosts(cases::mpi_launcher(), version_, {});
    if (!forbidden.empty()) GTEST_SKIP() << forbidden;
  }

  [[nodiscard]] const std::string& version() const { return version_; }

  /// The file with the defects of Open MPI 4.1.4, for the command line.
  static std::string known_of_open_mpi() {
    const std::filesystem::path file =
        std::filesystem::path(RANKCHECK_SOURCE_DIR) / "cases/known/open-mpi-4.1.4.json";
    return harness::shell_quoted(file.string());
  }

 private:
  std::string version_;
};

/// The worker throws if the component did not run, or left a call to another one.
TEST_F(MpiHostsTest, HanRunsOnTwoHosts) {
  const tests::Outcome outcome = rankcheck(
      "run --backend mpi --algorithm han --property agrees_with_reference "
      "--hosts 0,0,1,1 --cases 12 --report out --known " +
      known_of_open_mpi());
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(harness::complaints(report("out")), "");
  const nlohmann::json findings = report("out").at("findings");
  int generated = 0;
  for (const nlohmann::json& each : findings) {
    if (each.at("unit").contains("pinned")) continue;
    ++generated;
    EXPECT_EQ(each.at("unit").at("hosts"), (nlohmann::json{0, 0, 1, 1}));
    EXPECT_EQ(each.at("unit").at("variant"), "hosts_0_0_1_1");
    EXPECT_TRUE(each.at("verdict") == "passed" || each.contains("is_known")) << each;
  }
  EXPECT_EQ(generated, 6) << outcome.out;
}

TEST_F(MpiHostsTest, HanWithoutHostsIsOneClearLine) {
  const std::string hint =
      "expected at least one that 'rankcheck list' shows; han needs several hosts, such as --hosts "
      "0,0,1,1";
  expect_unable("run --operation all_reduce --backend mpi --algorithm han --cases 3", hint);
}

TEST_F(MpiHostsTest, HanInPlaceEndsRanksBehindOneSegment) {
  // Another version may have the defect, or not.
  if (version().find("v4.1.4") == std::string::npos)
    GTEST_SKIP() << "another version: " << version();
  // Nothing of `smoke` is on hosts, so this is a run of `all`.
  const tests::Outcome outcome = rankcheck(
      "run --backend mpi --algorithm han --property agrees_with_reference --hosts 0,0,1,1 --cases "
      "1 "
      "--operation reduce,all_reduce --report out --known " +
      known_of_open_mpi());
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const nlohmann::json findings = report("out").at("findings");
  std::map<std::string, std::string> pinned;
  for (const nlohmann::json& each : findings) {
    if (!each.at("unit").contains("pinned")) continue;
    pinned[each.at("unit").at("pinned")] = each.at("verdict");
  }
  EXPECT_EQ(pinned,
            (std::map<std::string, std::string>{{"all_reduce/han_in_place", "crashed"},
                                                {"reduce/han_in_place", "crashed"}}))
      << outcome.out;
}

TEST_F(MpiHostsTest, AReplaySaysWhichAlgorithmRan) {
  const std::string text =
      R"('{"operation":"all_reduce","backend":"mpi","algorithm":"han","ranks":4,)"
      R"("hosts":[0,1,1,0],"count":5,"type":"int32","op":"sum","input":"coded"}')";
  const tests::Outcome outcome = rankcheck("replay " + text);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("han"), std::string::npos) << outcome.out;
}

TEST_F(MpiHostsTest, HanRefusesHostsForWhichItGivesWay) {
  const auto refusal = [&](const std::string& hosts) {
    const tests::Outcome outcome = rankcheck(
        R"(replay '{"operation":"gather","backend":"mpi","algorithm":"han","ranks":4,"hosts":)" +
        hosts + R"(,"count":5,"type":"int32"}')");
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    return outcome.err;
  };
  EXPECT_NE(refusal("[]").find("han needs members on several hosts"), std::string::npos);
  EXPECT_NE(refusal("[0,1,2,3]").find("han needs a host with two members or more"),
            std::string::npos);
  EXPECT_NE(refusal("[0,0,0,1]").find("han needs as many members on each host"), std::string::npos);
  EXPECT_NE(refusal("[0,1,0,1]").find("han needs the members of a host one behind another"),
            std::string::npos);
}

/// Such a launcher has options of its own.
TEST_F(MpiHostsTest, AnotherLauncherHasNoHosts) {
  write_script("launch.sh", "exec mpirun \"$@\"\n");
  const tests::Outcome outcome =
      shell("RANKCHECK_MPIEXEC=$PWD/launch.sh " + program_ +
            R"( replay '{"operation":"barrier","backend":"mpi","algorithm":"blocking","ranks":2,)"
            R"("hosts":[0,1]}')");
  EXPECT_EQ(outcome.status, 2) << outcome.out;
  EXPECT_NE(outcome.err.find("hosts: only mpirun and mpiexec start ranks on several hosts"),
            std::string::npos)
      << outcome.err;
}

TEST_F(MpiHostsTest, BadHostsAreOneLine) {
  const tests::Outcome outcome = rankcheck("run smoke --backend mpi --hosts 0,2");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("--hosts: got [0,2], expected two hosts or more"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace rankcheck
