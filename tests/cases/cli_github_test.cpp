#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

using tests::Outcome;

/// What runs tell GitHub Actions.
class CliGithubTest : public tests::CliTest {
 protected:
  /// Runs the program as a step of GitHub Actions.
  Outcome in_step(const std::string& arguments,
                  std::optional<int> status = {},
                  const std::string& summary = "summary") {
    return with("GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=" + summary, arguments, status);
  }
  /// A run of a subject with a planted bug.
  const std::string wrong_ = "run --type int32 " + tests::with_bug;
  /// The number of times that a line of the text begins with `beginning`.
  static int lines_with(const std::string& text, const std::string& beginning) {
    std::istringstream in(text);
    int count = 0;
    for (std::string line; std::getline(in, line);) count += line.starts_with(beginning) ? 1 : 0;
    return count;
  }
};

TEST_F(CliGithubTest, FailuresAreAnnotatedAndSummarised) {
  const Outcome outcome = in_step(wrong_ + "--report r", 1);
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
  EXPECT_EQ(lines_with(rankcheck(wrong_ + "--report r").out, "::"), 0);
  EXPECT_EQ(lines_with(with("GITHUB_ACTIONS=false", wrong_ + "--report s").out, "::"), 0);
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
    in_step(wrong_ + "--overwrite --report r", 1, path);
  }
}

TEST_F(CliGithubTest, ComparisonsAreToldToo) {
  std::string right = wrong_;
  right.erase(right.find(" --bug last_element"), 19);
  passes(right + "--report before");
  fails(wrong_ + "--report now");
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

}  // namespace
}  // namespace rankcheck
