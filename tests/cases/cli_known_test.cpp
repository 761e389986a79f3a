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
    const std::string command = RANKCHECK_BINARY_DIR "/subjects/every_operation";
    return rankcheck(
        "run --operation all_reduce --property agrees_with_reference --type int32,f32 "
        "--ranks 1..4 --cases 60 --backend 'command:" +
        command + " --bug last_element' --overwrite --report r " + options);
  }
};

TEST_F(CliKnownTest, AKnownFailureIsHeldAndStaysVisible) {
  ASSERT_EQ(run("").status, 1);
  know(R"("operation":"all_reduce","cases":{"count":{"min":1}})");
  const Outcome outcome = run("--known k.json --strict-known");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json written = report("r");
  EXPECT_EQ(harness::complaints(written), "");
  EXPECT_EQ(written["known"][0]["state"], "failing");
  EXPECT_EQ(written["findings"][0]["verdict"], "falsified");
  EXPECT_EQ(written["findings"][0]["is_known"], true);
  EXPECT_NE(
      outcome.out.find("\nEverything passed that is not known to fail: 1 failed only as known"),
      std::string::npos)
      << outcome.out;
}

TEST_F(CliKnownTest, AnEntryForOneTypeHidesNotTheOther) {
  know(R"("cases":{"type":"int32"})");
  const Outcome outcome = run("--known k.json");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_EQ(report("r")["findings"][0]["minimal"]["type"], "f32");
  EXPECT_NE(outcome.out.find("known one: failed in "), std::string::npos) << outcome.out;
}

TEST_F(CliKnownTest, StaleEntriesMatterOnlyWithStrictKnown) {
  write_suite(R"("operation":"broadcast","require_all_cells":false,"cases":20)");
  know(R"("operation":"broadcast","cases":{"ranks":{"min":2}},"expires":"2020-01-01")");
  const Outcome outcome = rankcheck("run s.json --known k.json --report a");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(report("a")["known"][0]["state"], "passing");
  EXPECT_EQ(report("a")["known"][0]["is_expired"], true);
  EXPECT_EQ(rankcheck("run s.json --known k.json --strict-known --report b").status, 1);
  EXPECT_EQ(report("b")["exit_status"], 1);
  EXPECT_EQ(rankcheck("report b").status, 1);
}

TEST_F(CliKnownTest, AResumedRunKeepsItsKnownDefects) {
  write_suite(R"("operation":"b*","require_all_cells":false,"cases":20)");
  know(R"("operation":"broadcast")");
  ASSERT_EQ(rankcheck("run s.json --known k.json --report r").status, 0);
  const json before = report("r");
  const std::string journal = text_of("r/journal.jsonl");
  const std::size_t half = journal.find('\n', journal.size() / 2);
  const auto cut = [&] {
    harness::write_file(path_to("r/journal.jsonl"), journal.substr(0, half + 1));
  };
  cut();
  std::filesystem::remove(path_to("k.json"));
  ASSERT_EQ(rankcheck("run --resume r").status, 0);
  EXPECT_EQ(report("r")["known"], before["known"]);
  EXPECT_EQ(report("r")["findings"], before["findings"]);
  cut();
  know(R"("operation":"b*")");
  expect_unable("run --resume r --known k.json",
                "--resume: r: --known: got other known defects, expected those with which the run "
                "began");
  know(R"("operation":"broadcast")");
  EXPECT_EQ(rankcheck("run --resume r --known k.json").status, 0);
}

TEST_F(CliKnownTest, BadInputIsOneLineAndWritesNothing) {
  expect_unable("run smoke --known absent.json --report r", "absent.json");
  know(R"("cases":{"opp":"max"})");
  expect_unable("run smoke --known k.json --report r",
                "--known: k.json: one: cases: opp: unknown field of a case");
  expect_unable("run smoke --strict-known --report r", "--strict-known: expected --known FILE");
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
  const Outcome outcome = rankcheck(tests::quick + "--report r" + options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

}  // namespace
}  // namespace rankcheck
