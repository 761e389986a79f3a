#include <string>

#include <gtest/gtest.h>

#include "tests/cases/cli.hpp"

/// Subjects that are written with the headers for C++.
namespace rankcheck {
namespace {

const std::string folder = RANKCHECK_BINARY_DIR "/subjects/";
const std::string every = folder + "every_operation";
const std::string in_processes = folder + "in_processes";

class CliSubjectTest : public tests::CliTest {
 protected:
  tests::Outcome run(const std::string& options, const std::string& command) {
    return rankcheck("run --report r --overwrite " + options + " --backend " +
                     harness::shell_quoted("command:" + command));
  }

  /// Runs one operation with a planted bug. Expects the verdict and the beginning of its reason.
  nlohmann::json expect_found(const std::string& bug,
                              const std::string& operation,
                              const std::string& verdict,
                              const std::string& reason,
                              const std::string& property = "agrees_with_reference") {
    const std::string program = operation == "broadcast" ? in_processes : every;
    const tests::Outcome outcome =
        run("--cases 60 --ranks 1..4 --type int32 --timeout 5 --property " + property +
                " --operation " + operation,
            program + " --bug " + bug);
    EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
    const nlohmann::json finding = report("r")["findings"][0];
    EXPECT_EQ(finding["verdict"], verdict) << bug;
    EXPECT_NE(finding["reason"].get<std::string>().find(reason), std::string::npos) << finding;
    return finding["minimal"];
  }
};

TEST_F(CliSubjectTest, EveryOperationAgreesWithTheReference) {
  const tests::Outcome outcome = run(
      "--cases 40 --ranks 1..4 --type uint8,int32,f32,f64 --property agrees_with_reference", every);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  int passed = 0;
  const nlohmann::json said = report("r");
  for (const nlohmann::json& each : said["findings"]) passed += each["verdict"] == "passed";
  EXPECT_EQ(passed, 20) << "all but barrier, which has no such property";
}

TEST_F(CliSubjectTest, TheExampleHoldsInEveryProperty) {
  for (const char* operation : {"broadcast", "barrier"}) {
    const tests::Outcome outcome =
        run("--cases 30 --operation " + std::string(operation), folder + "threads");
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  }
}

TEST_F(CliSubjectTest, BuffersMayLiveInAnotherMemory) {
  for (const char* operation : {"all_reduce", "gather_v", "reduce_list"}) {
    const tests::Outcome outcome =
        run("--cases 40 --type int32,f64 --property agrees_with_reference --operation " +
                std::string(operation),
            every + " --device");
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  }
}

TEST_F(CliSubjectTest, RanksMayBeProcesses) {
  for (const char* operation : {"broadcast", "barrier"}) {
    const tests::Outcome outcome =
        run("--cases 20 --ranks 3..3 --operation " + std::string(operation), in_processes);
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  }
}

TEST_F(CliSubjectTest, WrongRootIsFound) {
  const auto smallest = expect_found(
      "wrong_root", "gather", "falsified", "which is no part of the output, was written");
  EXPECT_EQ(smallest["ranks"], 2);
  EXPECT_EQ(smallest["root"], 1);
  EXPECT_EQ(smallest["count"], 1);
}

TEST_F(CliSubjectTest, IgnoredGroupIsFound) {
  const auto smallest =
      expect_found("group_ignored", "all_gather", "falsified", "differs from the reference");
  EXPECT_EQ(smallest["group"], nlohmann::json({1, 0}));
}

TEST_F(CliSubjectTest, MissingLastElementIsFound) {
  const auto smallest =
      expect_found("last_element", "all_reduce", "falsified", "differs from the reference");
  EXPECT_EQ(smallest["ranks"], 1);
  EXPECT_EQ(smallest["count"], 1);
}

TEST_F(CliSubjectTest, StaleBufferIsFound) {
  expect_found("stale_buffer", "all_reduce", "falsified", "", "repeats_with_other_data");
}

TEST_F(CliSubjectTest, ExceptionsAreTheReason) {
  expect_found("raises", "all_reduce", "falsified", "rank 1: no route to rank 0");
  expect_found("raises", "broadcast", "falsified", "rank 1: no route to the root");
}

TEST_F(CliSubjectTest, HangsAreExplained) {
  expect_found("hangs --deadline", "all_reduce", "hung", "still in the call: rank 0, 1");
  expect_found("hangs", "broadcast", "hung", "deadline of 0.3 s: still in the call: rank");
}

TEST_F(CliSubjectTest, ProgramsThatEndAreCrashes) {
  expect_found("exits", "all_reduce", "crashed", "the worker ended with status 3");
  expect_found("exits", "broadcast", "crashed", "status 7");
  expect_found("crashes", "all_reduce", "crashed", "killed by signal 6");
}

TEST_F(CliSubjectTest, PrintingIsPassedOn) {
  const tests::Outcome outcome =
      run("--cases 5 --type int32 --property agrees_with_reference --operation all_reduce",
          every + " --bug prints");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("hello from rank 0"), std::string::npos);
}

TEST_F(CliSubjectTest, MistakesInTheCommandAreOneLine) {
  expect_unable("run --operation broadcast --backend 'command:" + every + " --ranks none'",
                "every: --ranks: expected a number up to 4096, got none");
}

}  // namespace
}  // namespace rankcheck
