#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

using tests::Outcome;

/// What runs tell GitHub Actions.
class CliGithubTest : public tests::CliTest {
 protected:
  /// Runs the program as a step of GitHub Actions.
  Outcome in_step(const std::string& arguments, const std::string& summary = "summary") {
    return shell("GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=" + summary + ' ' + program_ + ' ' +
                 arguments);
  }
  /// Options that select a subject with a planted bug.
  static std::string wrong() {
    return "run --operation all_reduce --property agrees_with_reference --type int32 --ranks 1..4 "
           "--cases 60 --backend 'command:" RANKCHECK_BINARY_DIR
           "/subjects/every_operation --bug last_element' ";
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
  const Outcome outcome = in_step(wrong() + "--report r");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_EQ(lines_with(outcome.out, "::error title=rankcheck%3A falsified%3A all_reduce/"), 1)
      << outcome.out;
  EXPECT_NE(outcome.out.find("%0Arankcheck replay '{\"operation\":\"all_reduce\""),
            std::string::npos)
      << outcome.out;
  const std::string summary = text_of("summary");
  EXPECT_EQ(summary.find("## rankcheck\n\n**Failed: 1 failed (1 falsified), of 1 unit.**\n"), 0U)
      << summary;
  EXPECT_EQ(rankcheck("report r --format github").out, summary);
  // A second step of the same job comes behind the first.
  in_step(tests::quick + "--quiet --report s");
  EXPECT_EQ(lines_with(text_of("summary"), "## rankcheck"), 2);
  EXPECT_TRUE(text_of("summary").starts_with(summary));
}

TEST_F(CliGithubTest, NothingIsSaidElsewhere) {
  EXPECT_EQ(lines_with(rankcheck(wrong() + "--report r").out, "::"), 0);
  EXPECT_EQ(lines_with(shell("GITHUB_ACTIONS=false " + program_ + ' ' + wrong() + "--report s").out,
                       "::"),
            0);
  EXPECT_EQ(lines_with(in_step(tests::quick + "--report t").out, "::"), 0);
}

TEST_F(CliGithubTest, WhatCouldNotBeJudgedIsAnnotatedToo) {
  const auto expect_told = [&](const std::string& arguments) {
    std::filesystem::remove(path_to("summary"));
    const Outcome outcome = in_step(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
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
    const Outcome right = in_step(tests::quick + "--overwrite --report r", path);
    EXPECT_EQ(right.status, 0) << path;
    EXPECT_EQ(right.err.find("rankcheck: GITHUB_STEP_SUMMARY: cannot write: " + path + ": "), 0U)
        << right.err;
    EXPECT_EQ(std::count(right.err.begin(), right.err.end(), '\n'), 1) << right.err;
    EXPECT_EQ(in_step(wrong() + "--overwrite --report r", path).status, 1) << path;
  }
}

TEST_F(CliGithubTest, ComparisonsAreToldToo) {
  const std::string broken = wrong();
  std::string right = broken;
  right.erase(right.find(" --bug last_element"), 19);
  ASSERT_EQ(rankcheck(right + "--report before").status, 0);
  ASSERT_EQ(rankcheck(broken + "--report now").status, 1);
  const Outcome worse = in_step("compare before now");
  EXPECT_EQ(worse.status, 1) << worse.err;
  EXPECT_EQ(lines_with(worse.out, "::error title=rankcheck%3A newly broken%3A all_reduce/"), 1)
      << worse.out;
  EXPECT_EQ(text_of("summary"), rankcheck("compare before now --format markdown").out);
  // JSON stays JSON.
  EXPECT_EQ(lines_with(in_step("compare before now --format json").out, "::"), 0);
  EXPECT_EQ(lines_with(in_step("compare before now --format json --output said").out, "::"), 1);
  EXPECT_EQ(lines_with(in_step("compare now now").out, "::"), 0);
}

TEST_F(CliGithubTest, ReportsArePrintedInEachFormat) {
  ASSERT_EQ(rankcheck(tests::quick + "--report r").status, 0);
  EXPECT_EQ(rankcheck("report r").out, text_of("r/summary.md"));
  EXPECT_EQ(rankcheck("report r --format markdown").out, text_of("r/summary.md"));
  EXPECT_EQ(rankcheck("report r --format html").out, text_of("r/report.html"));
  EXPECT_EQ(rankcheck("report r --format github").first_line(), "## rankcheck");
  expect_unable("report r --format yaml", "--format: yaml: expected html, markdown or github");
}

}  // namespace
}  // namespace rankcheck
