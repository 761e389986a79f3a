#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"

#include "tests/cases/cli.hpp"
#include "tests/harness/schema.hpp"

namespace rankcheck {
namespace {

using nlohmann::json;
using tests::Outcome;

/// `--known`, with code that has a planted bug: the last element is wrong.
class CliKnownTest : public tests::CliTest {
 protected:
  /// Writes a file of one entry with these fields besides id and reason.
  void know(const std::string& fields) {
    const std::string entry = fields.empty() ? "" : "," + fields;
    harness::write_file(
        path_to("k.json"),
        R"({"known_version":1,"defects":[{"id":"one","reason":"why")" + entry + "}]}");
  }

  /// Runs the code with the bug.
  Outcome run(const std::string& options) {
    return rankcheck("run --type int32,f32 --overwrite --report r " + tests::with_bug + options);
  }
};

TEST_F(CliKnownTest, AKnownFailureIsHeldAndStaysVisible) {
  ASSERT_EQ(run("").status, 1);
  know(R"("operation":"all_reduce","cases":{"count":{"min":1}})");
  const Outcome outcome = run("--known k.json --strict-known");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json written = report("r");
  EXPECT_EQ(harness::complaints(written), "");
  EXPECT_EQ(written["known"][0]["state"], "failing");
  EXPECT_EQ(written["findings"][0]["verdict"], "falsified");
  EXPECT_EQ(written["findings"][0]["is_known"], true);
  EXPECT_TRUE(
      has(outcome.out, "\nEverything passed that is not known to fail: 1 failed only as known"));
}

TEST_F(CliKnownTest, StaleEntriesMatterOnlyWithStrictKnown) {
  write_suite(R"("operation":"broadcast","require_all_cells":false,"cases":20)");
  know(R"("operation":"broadcast","cases":{"ranks":{"min":2}},"expires":"2020-01-01")");
  passes("run s.json --known k.json --report a");
  EXPECT_EQ(report("a")["known"][0]["state"], "passing");
  EXPECT_EQ(report("a")["known"][0]["is_expired"], true);
  fails("run s.json --known k.json --strict-known --report b");
  EXPECT_EQ(report("b")["exit_status"], 1);
  fails("report b");
}

TEST_F(CliKnownTest, AResumedRunKeepsItsKnownDefects) {
  write_suite(R"("operation":"b*","require_all_cells":false,"cases":20)");
  know(R"("operation":"broadcast")");
  passes("run s.json --known k.json --report r");
  const json before = report("r");
  // Leaves out the end and some of the findings.
  forget_lines("r", 5);
  std::filesystem::remove(path_to("k.json"));
  passes("run --resume r");
  EXPECT_EQ(report("r")["known"], before["known"]);
  EXPECT_EQ(report("r")["findings"], before["findings"]);
  forget_lines("r", 5);
  know(R"("operation":"b*")");
  expect_unable("run --resume r --known k.json",
                "--resume: r: --known: got other known defects, expected those with which the run "
                "began");
  know(R"("operation":"broadcast")");
  passes("run --resume r --known k.json");
}

TEST_F(CliKnownTest, BadInputIsOneLineAndWritesNothing) {
  know(R"("cases":{"opp":"max"})");
  expect_unable("run smoke --known k.json --report r",
                "--known: k.json: one: cases: opp: unknown field of a case");
  know("");
  expect_unable("run smoke --known k.json --report r",
                "--known: k.json: one: covers every failure");
  EXPECT_FALSE(exists("r"));
}

/// The files that come with rankcheck are read, and follow their schema.
TEST_F(CliKnownTest, TheReadyFilesAreValid) {
  std::string options;
  for (const auto& each :
       std::filesystem::directory_iterator(RANKCHECK_SOURCE_DIR "/cases/known")) {
    const std::string ready = each.path().string();
    EXPECT_EQ(harness::complaints(json::parse(harness::read_file(ready)), "known.schema.json"), "")
        << ready;
    options += " --known " + ready;
  }
  passes(tests::quick + "--report r" + options);
}

}  // namespace
}  // namespace rankcheck
