#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"

#include "tests/cases/cli.hpp"
#include "tests/harness/page/page_text.hpp"
#include "tests/harness/schema.hpp"

namespace rankcheck {
namespace {

using tests::Outcome;

/// `rankcheck compare`, with runs of code that is right and of the same code with a planted bug.
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
    const std::string wrong = "run --type int32 " + tests::with_bug;
    std::string right = wrong;
    right.erase(right.find(" --bug last_element"), 19);
    passes(right + "--report " + (folder / "right").string());
    fails(wrong + "--report " + (folder / "wrong").string());
  }

  /// Returns what a comparison says in JSON, which follows the schema.
  nlohmann::json compared(const std::string& runs, int status) {
    const Outcome outcome = rankcheck("compare " + runs + " --format json", status);
    nlohmann::json said = nlohmann::json::parse(outcome.out);
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
  EXPECT_TRUE(has(outcome.out, "    passed -> falsified: "));
  EXPECT_TRUE(has(outcome.out, " replay '{\"operation\":\"all_reduce\""));
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
  const nlohmann::json said = compared("wrong right first", 1);
  EXPECT_EQ(said["runs"][0]["name"], "first");
  EXPECT_EQ(said["now"]["name"], "wrong");
  EXPECT_EQ(said["trend"][0]["verdicts"], (nlohmann::json{"passed", "passed", "falsified"}));
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
  const nlohmann::json said = compared("right wrong", 1);
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
  EXPECT_TRUE(has(outcome.out, "    known last, where the unit ended"));
  EXPECT_TRUE(has(outcome.out, "  last: 1 unit fails as known: the last element is wrong\n"));
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

}  // namespace
}  // namespace rankcheck
