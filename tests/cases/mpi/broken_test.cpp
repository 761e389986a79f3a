#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

using nlohmann::json;

/// An installed MPI library whose launcher fails.
class MpiBrokenTest : public tests::CliTest {
 protected:
  tests::Outcome run(const std::string& arguments) {
    return shell("RANKCHECK_MPIEXEC=/bin/false " + program_ + " run " + arguments + " --report r");
  }
};

TEST_F(MpiBrokenTest, IsErroredInEveryReport) {
  const tests::Outcome outcome = run("smoke --operation barrier --cases 2");
  EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("backend mpi could not be opened: "), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.last_line().find(", 1 errored"), std::string::npos) << outcome.out;
  int errored = 0;
  const json findings = report("r")["findings"];
  for (const json& finding : findings) {
    if (finding["verdict"] != "errored") continue;
    ++errored;
    EXPECT_EQ(finding["unit"]["backend"], "mpi");
    EXPECT_EQ(finding["reason"].get<std::string>().find("the backend could not be opened: "), 0U);
  }
  EXPECT_EQ(errored, 1);
  for (const char* name : {"journal.jsonl", "junit.xml", "summary.md"}) {
    const std::string text = harness::read_file(folder_.path() / "r" / name);
    EXPECT_NE(text.find("the backend could not be opened: "), std::string::npos) << name;
  }
}

TEST_F(MpiBrokenTest, EndsACyclingSuiteWhereNothingIsLeftToCheck) {
  harness::write_file(folder_.path() / "s.json",
                      R"({"name":"s","summary":"s","cycles":true,"time_limit_s":60,"entries":[)"
                      R"({"backends":["mpi"],"operation":"barrier"}]})");
  const tests::Outcome outcome = run("s.json");
  EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
  EXPECT_EQ(report("r")["environment"]["rounds"], 1);
}

TEST_F(MpiBrokenTest, IsOneClearLineWhereItWasNamed) {
  const tests::Outcome outcome = run("smoke --backend mpi --operation barrier");
  EXPECT_EQ(outcome.status, 2) << outcome.out;
  EXPECT_EQ(outcome.err.find("rankcheck: backend mpi: "), 0U) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

/// To the launcher of another MPI library, the ranks are programs that have nothing to do with each
/// other.
TEST_F(MpiBrokenTest, NamesALauncherOfAnotherLibrary) {
  write_script("launch.sh", "shift 2\n\"$@\" &\n\"$@\" &\nwait\n");
  const tests::Outcome outcome =
      shell("RANKCHECK_MPIEXEC=$PWD/launch.sh " + program_ +
            " run smoke --backend mpi --operation barrier --ranks 2..2 --report r");
  EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
  const std::string said = outcome.out + outcome.err;
  EXPECT_NE(said.find("the launcher is that of another MPI library"), std::string::npos) << said;
}

}  // namespace
}  // namespace rankcheck
