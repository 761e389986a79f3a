#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"

#include "tests/cases/cli.hpp"
#include "tests/harness/page/page_text.hpp"
#include "tests/harness/schema.hpp"

/// What the program says of code with a planted bug: in comparisons, to GitHub Actions, and with a
/// file of known defects.
namespace rankcheck {
namespace {

using nlohmann::json;
using tests::Outcome;

/// A run of code whose last element is wrong, and of the same code without the bug.
const std::string wrong = "run --type int32 " + tests::with_bug;
const std::string right = std::string(wrong).erase(wrong.find(" --bug last_element"), 19);

/// `rankcheck compare`.
class CliCompareTest : public tests::CliTest {
 protected:
  /// Puts both runs into the test's folder. They are made once for all tests.
  CliCompareTest() {
    static const harness::TemporaryFolder made;
    if (!std::filesystem::exists(made.path() / "wrong")) make_runs_in(made.path());
    for (const char* each : {"right", "wrong"}) {
      std::filesystem::copy(
          made.path() / each, path_to(each), std::filesystem::copy_options::recursive);
    }
  }

  void make_runs_in(const std::filesystem::path& folder) {
    passes(right + "--report " + (folder / "right").string());
    fails(wrong + "--report " + (folder / "wrong").string());
  }

  /// Returns what a comparison says in JSON, which follows the schema.
  json compared(const std::string& runs, int status) {
    const Outcome outcome = rankcheck("compare " + runs + " --format json", status);
    json said = json::parse(outcome.out);
    EXPECT_EQ(harness::complaints(said, "comparison.schema.json"), "");
    return said;
  }

  /// Changes the time when a run began.
  void set_start(const std::string& folder, const std::string& time) {
    const std::filesystem::path file = path_to(folder) / "report.json";
    auto report = nlohmann::ordered_json::parse(harness::read_file(file));
    report["environment"]["started"] = time;
    harness::write_file(file, report.dump());
  }

  void expect_unable(const std::string& arguments, const std::string& complaint) {
    const Outcome outcome = rankcheck("compare " + arguments, 2);
    EXPECT_TRUE(has(outcome.err, complaint));
    EXPECT_EQ(outcome.out, "");
  }
};

TEST_F(CliCompareTest, NamesWhatBrokeAndHowToRunItAgain) {
  const Outcome outcome = fails("compare right wrong");
  EXPECT_EQ(outcome.first_line().substr(0, 29), "Worse: 1 unit is newly broken");
  EXPECT_TRUE(has(outcome.out, "  passed -> falsified: ", R"( replay '{"operation":"all_reduce")"));
  passes("compare right wrong --fail-on accuracy");
}

TEST_F(CliCompareTest, AMendedRunIsNotWorse) {
  EXPECT_EQ(compared("wrong right/report.json", 0)["counts"]["mended"], 1);
}

TEST_F(CliCompareTest, ARunAgainstItselfHasNoChange) {
  const Outcome outcome = passes("compare right right --format markdown --output said.md");
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(has(harness::read_file(path_to("said.md")), "**Not worse: nothing changed in "));
}

TEST_F(CliCompareTest, ManyRunsAreInTheOrderOfTime) {
  std::filesystem::copy(path_to("right"), path_to("first"));
  set_start("first", "2020-01-01T00:00:00Z");
  set_start("wrong", "2099-01-01T00:00:00Z");
  // The last run is the one with the bug, wherever it stands.
  const json said = compared("wrong right first", 1);
  EXPECT_EQ(said["runs"][0]["name"], "first");
  EXPECT_EQ(said["now"]["name"], "wrong");
  EXPECT_EQ(said["trend"][0]["verdicts"], (json{"passed", "passed", "falsified"}));
  EXPECT_TRUE(has(rankcheck("compare wrong right first").out, "  ppF  "));
}

/// The same program on the same machine is as fast as itself, unless the machine is busy: only that
/// both are compared can be tested. `tests/harness/compare` tests the rule.
TEST_F(CliCompareTest, ComparesTheMeasurementsBesideTheReports) {
  for (const char* each : {"right", "wrong"}) {
    const std::string bench =
        "bench --backend sim --filter 'large/sim/all_reduce/*' --bytes 65536 ";
    passes(bench + "--min-time 0.01 --repetitions 3 --json " + each + "/bench.json");
  }
  const json said = compared("right wrong", 1);
  EXPECT_GE(said["compared_speeds"], 2);
  EXPECT_EQ(said["unknown_speeds"], 0);
  passes("compare right right --fail-on speed");
}

TEST_F(CliCompareTest, AKnownDefectIsShownAndDoesNotCount) {
  const auto write_known = [&](const std::string& type) {
    harness::write_file(path_to("known.json"),
                        R"({"known_version": 1, "defects": [{"id": "last", "operation":
                           "all_reduce", "cases": {"type": ")" +
                            type + R"("}, "reason": "the last element is wrong"}]})");
  };
  // The shrunk case has the simplest type, whatever the run drew.
  write_known("f32");
  const Outcome outcome = passes("compare right wrong --known known.json --strict-known");
  EXPECT_EQ(outcome.first_line(), "Not worse, but for 1 unit that fails now only as known.");
  EXPECT_TRUE(has(outcome.out,
                  "    known last, where the unit ended",
                  "  last: 1 unit fails as known: the last element is wrong\n"));
  passes("compare wrong right --known known.json");
  fails("compare wrong right --known known.json --strict-known");
  write_known("f64");
  fails("compare right wrong --known known.json");
}

TEST_F(CliCompareTest, MakesAPageWithACardForWhatBroke) {
  const Outcome outcome = fails("compare right wrong --format html --output said.html");
  EXPECT_EQ(outcome.out, "");
  const std::string page = harness::read_file(path_to("said.html"));
  EXPECT_EQ(page.substr(0, 15), "<!DOCTYPE html>");
  EXPECT_TRUE(has(page, ">Worse: 1 unit is newly broken"));
  EXPECT_EQ(harness::page::data_of(page)["causes"][0]["kind"], "newly_broken");
}

TEST_F(CliCompareTest, BadInputGetsOneLine) {
  expect_unable("right", "REPORT: got one report, expected two or more");
  expect_unable("right nowhere", "nowhere");
  expect_unable("right right --fail-on luck",
                "--fail-on: got luck, expected some of broken, coverage, accuracy, speed");
  expect_unable("right right --format yaml",
                "--format: yaml: expected text, markdown, json or html");
  expect_unable("right right --strict-known", "--strict-known: expected --known FILE");
  expect_unable("right right --known right/report.json", "--known: right/report.json: ");
  expect_unable("right right --accuracy-factor 0.5",
                "--accuracy-factor: 0.5: expected a factor of at least 1");
  expect_unable("right right --fail-on speed", "no speed was compared");
  const std::string report = text_of("right/report.json");
  for (const char* input : {"right", "right/report.json"}) {
    expect_unable(std::string("wrong ") + input + " --output right/report.json",
                  "--output: right/report.json: got a report that is compared");
  }
  EXPECT_EQ(text_of("right/report.json"), report);
  auto skipped = nlohmann::ordered_json::parse(harness::read_file(path_to("right/report.json")));
  for (auto& each : skipped["findings"]) {
    each["verdict"] = "skipped";
    each["reason"] = "no_device";
  }
  harness::make_folder(path_to("none"));
  harness::write_file(path_to("none/report.json"), skipped.dump());
  expect_unable("none none",
                "none and none: no unit was judged in both runs, so that nothing can be said");
}

/// What runs tell GitHub Actions.
class CliGithubTest : public tests::CliTest {
 protected:
  /// Runs the program as a step of GitHub Actions.
  Outcome in_step(const std::string& arguments,
                  std::optional<int> status = {},
                  const std::string& summary = "summary") {
    return with("GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=" + summary, arguments, status);
  }
  /// The number of times that a line of the text begins with `beginning`.
  static int lines_with(const std::string& text, const std::string& beginning) {
    std::istringstream in(text);
    int count = 0;
    for (std::string line; std::getline(in, line);) count += line.starts_with(beginning) ? 1 : 0;
    return count;
  }
};

TEST_F(CliGithubTest, FailuresAreAnnotatedAndSummarised) {
  const Outcome outcome = in_step(wrong + "--report r", 1);
  EXPECT_EQ(lines_with(outcome.out, "::error title=rankcheck%3A falsified%3A all_reduce/"), 1)
      << outcome.out;
  EXPECT_TRUE(has(outcome.out, "%0Arankcheck replay '{\"operation\":\"all_reduce\""));
  const std::string summary = text_of("summary");
  EXPECT_TRUE(begins(summary, "# rankcheck\n\n**Failed: 1 failed (1 falsified), of 1 unit.**\n"));
  EXPECT_EQ(rankcheck("report r --format github").out, summary);
  // A second step of the same job comes behind the first.
  in_step(tests::quick + "--quiet --report s");
  EXPECT_EQ(lines_with(text_of("summary"), "# rankcheck"), 2);
  EXPECT_TRUE(text_of("summary").starts_with(summary));
}

TEST_F(CliGithubTest, NothingIsSaidElsewhere) {
  EXPECT_EQ(lines_with(rankcheck(wrong + "--report r").out, "::"), 0);
  EXPECT_EQ(lines_with(with("GITHUB_ACTIONS=false", wrong + "--report s").out, "::"), 0);
  EXPECT_EQ(lines_with(in_step(tests::quick + "--report t").out, "::"), 0);
}

TEST_F(CliGithubTest, WhatCouldNotBeJudgedIsAnnotatedToo) {
  const auto expect_told = [&](const std::string& arguments) {
    std::filesystem::remove(path_to("summary"));
    const Outcome outcome = in_step(arguments, 2);
    EXPECT_EQ(lines_with(outcome.out, "::error title=rankcheck "), 1) << outcome.out;
    EXPECT_EQ(lines_with(text_of("summary"), "**Nothing could be judged:** "), 1) << arguments;
  };
  expect_told("run smoke --operation nope");
  expect_told("run --nope");
  expect_told("compare nothere other");
  EXPECT_EQ(lines_with(in_step("list --operation nope").out, "::"), 0);
}

/// A summary that cannot be written is no reason to lose the verdict.
TEST_F(CliGithubTest, AnUnwritableSummaryIsOneLine) {
  std::filesystem::create_directory(path_to("folder"));
  for (const std::string path : {"/proc/none/summary", "folder", "/dev/null"}) {
    expect_one_line(in_step(tests::quick + "--overwrite --report r", 0, path),
                    "rankcheck: GITHUB_STEP_SUMMARY: cannot write: " + path + ": ");
    in_step(wrong + "--overwrite --report r", 1, path);
  }
}

TEST_F(CliGithubTest, ComparisonsAreToldToo) {
  passes(right + "--report before");
  fails(wrong + "--report now");
  const Outcome worse = in_step("compare before now", 1);
  EXPECT_EQ(lines_with(worse.out, "::error title=rankcheck%3A newly broken%3A all_reduce/"), 1)
      << worse.out;
  EXPECT_EQ(text_of("summary"), rankcheck("compare before now --format markdown").out);
  // JSON stays JSON.
  EXPECT_EQ(lines_with(in_step("compare before now --format json").out, "::"), 0);
  EXPECT_EQ(lines_with(in_step("compare before now --format json --output said").out, "::"), 1);
  EXPECT_EQ(lines_with(in_step("compare now now").out, "::"), 0);
}

TEST_F(CliGithubTest, ReportsArePrintedInEachFormat) {
  passes(tests::quick + "--report r");
  EXPECT_EQ(rankcheck("report r").out, text_of("r/summary.md"));
  EXPECT_EQ(rankcheck("report r --format markdown").out, text_of("r/summary.md"));
  EXPECT_EQ(rankcheck("report r --format html").out, text_of("r/report.html"));
  EXPECT_EQ(rankcheck("report r --format github").first_line(), "# rankcheck");
}

/// `--known`.
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
