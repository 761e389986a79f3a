#include "harness/compare/comparison_text.hpp"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "harness/base/table.hpp"

#include "tests/harness/compare/sample_run.hpp"
#include "tests/harness/schema.hpp"

namespace rankcheck::harness::compare {
namespace {

class ComparisonTextTest : public testing::Test {
 protected:
  ComparisonTextTest() {
    now_.findings.at(ring).verdict = Verdict::falsified;
    now_.findings.at(ring).reason = "differs | from the \x01 reference";
    now_.findings.at(ring).minimal = {{"operation", "all_reduce"}, {"ranks", 3}};
    now_.findings.erase(tree);
    comparison_ = compare(before_, now_);
  }

  [[nodiscard]] ComparedRuns runs() const {
    return {.before = before_,
            .now = now_,
            .comparison = comparison_,
            .matters = matters_,
            .trend = trend_};
  }

  RunReport before_ = sample_run();
  RunReport now_ = sample_run();
  Comparison comparison_;
  std::vector<RunReport> all_{sample_run(), sample_run()};
  Trend trend_ = trend_of(all_);
  std::set<FailOn> matters_ = fail_on_from("broken,coverage");
};

TEST_F(ComparisonTextTest, BeginsWithTheVerdict) {
  const std::string verdict = "Worse: 1 unit is newly broken, 1 loss of coverage.";
  EXPECT_EQ(verdict_of(runs()), verdict);
  const std::string text = to_text(runs(), "rankcheck");
  EXPECT_EQ(text.find(verdict + '\n'), 0U);
  EXPECT_NE(text.find("\n4 units were judged in both runs: 1 unit is newly broken, 1 unit is still "
                      "broken, 1 loss of coverage\n"),
            std::string::npos)
      << text;
}

TEST_F(ComparisonTextTest, OnlyLinesToPasteAreLong) {
  const std::string words = [] {
    std::string all;
    for (int i = 0; i < 25; ++i) all += "word ";
    return all;
  }();
  now_.findings.at(ring).reason = words;
  now_.findings.at(ring).minimal["input"] = words;
  now_.name = words;
  comparison_ = compare(before_, now_);
  std::istringstream lines(to_text(runs(), "rankcheck"));
  bool has_long = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" replay ") == std::string::npos) {
      EXPECT_LE(line.size(), text_columns_max) << line;
    } else {
      has_long = has_long || line.size() > text_columns_max;
    }
  }
  EXPECT_TRUE(has_long);
}

TEST_F(ComparisonTextTest, OnlyTheVerdictIsColoured) {
  const std::string plain = to_text(runs(), "rankcheck");
  const std::string coloured = to_text(runs(), "rankcheck", TextStyle(true));
  const std::string verdict = wrapped(verdict_of(runs()), text_columns_max, 2);
  EXPECT_EQ(coloured,
            TextStyle(true).paint(Verdict::falsified, verdict) + plain.substr(verdict.size()));
}

TEST_F(ComparisonTextTest, SaysHowToRunAFailureAgain) {
  const std::string text = to_text(runs(), "./rankcheck");
  EXPECT_NE(text.find("\nnewly broken\n  all_reduce/ring/sim/agrees_with_reference\n"
                      "    passed -> falsified: differs | from the ? reference\n"
                      "    ./rankcheck replay '{\"operation\":\"all_reduce\",\"ranks\":3}'\n"),
            std::string::npos)
      << text;
}

TEST_F(ComparisonTextTest, WithoutAChangeSaysSo) {
  before_.findings.erase(failing);
  comparison_ = compare(before_, before_);
  EXPECT_EQ(verdict_of(runs()), "Not worse: nothing changed in the 4 units that both runs judged.");
  add_unit(before_, failing, Verdict::falsified);
  comparison_ = compare(before_, before_);
  const std::string text = to_text(runs(), "rankcheck");
  EXPECT_EQ(text.find("Not worse: nothing changed in the 5 units "), 0U);
  EXPECT_NE(text.find(" in both runs: 1 unit is still broken\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    falsified, as before\n"), std::string::npos) << text;
}

TEST_F(ComparisonTextTest, AnOnlyUnitThatIsMendedDidNotGetWorse) {
  RunReport before;
  add_unit(before, ring, Verdict::falsified);
  before.environment = nlohmann::ordered_json::object();
  RunReport now = before;
  now.findings.at(ring).verdict = Verdict::passed;
  comparison_ = compare(before, now);
  EXPECT_EQ(verdict_of(runs()),
            "Not worse: the only unit that both runs judged did not get worse.");
  EXPECT_FALSE(is_worse(runs()));
  EXPECT_NE(
      to_text(runs(), "rankcheck").find("\n1 unit was judged in both runs: 1 unit is mended\n"),
      std::string::npos);
}

TEST_F(ComparisonTextTest, AVersionThatOneRunLacksIsNothingThere) {
  before_.environment["backends"].erase("mpi");
  before_.environment["unavailable_backends"] = {{"mpi", "mpiexec is missing"}};
  now_.environment["unavailable_backends"] = nlohmann::ordered_json::object();
  comparison_ = compare(before_, now_);
  EXPECT_NE(to_text(runs(), "rankcheck")
                .find("\n  backends.mpi\n    nothing -> {\"versions\":{\"mpi\":\"Open MPI\"}}\n"
                      "  unavailable_backends.mpi\n    mpiexec is missing -> nothing\n"),
            std::string::npos)
      << to_text(runs(), "rankcheck");
}

TEST_F(ComparisonTextTest, ALongListNamesHowManyMoreThereAre) {
  for (int i = 0; i < 30; ++i) {
    add_unit(now_, "broadcast/direct/sim/law" + std::to_string(i), Verdict::falsified);
  }
  comparison_ = compare(before_, now_);
  EXPECT_NE(to_text(runs(), "rankcheck").find("  and 11 more, see --format json\n"),
            std::string::npos);
  EXPECT_EQ(to_json(runs())["changes"].size(), comparison_.changes.size());
}

/// A defect that nobody knows must not vanish behind those that are known.
TEST_F(ComparisonTextTest, KnownFailuresComeLastInAList) {
  for (int i = 0; i < 30; ++i) {
    const std::string id = "all_gather/direct/sim/law" + std::to_string(i);
    add_unit(now_, id, Verdict::falsified);
    now_.findings.at(id).is_known = true;
    now_.findings.at(id).known = {{.id = "max", .covered = 1, .failed = 1}};
  }
  comparison_ = compare(before_, now_);
  const std::string text = to_text(runs(), "rankcheck");
  EXPECT_NE(text.find("\nnewly broken\n  " + std::string(ring) + '\n'), std::string::npos) << text;
}

TEST_F(ComparisonTextTest, AFailureOfANewUnitSaysThatItIsNew) {
  before_.findings.erase(ring);
  comparison_ = compare(before_, now_);
  EXPECT_NE(to_text(runs(), "rankcheck").find("    not in the earlier run -> falsified: differs"),
            std::string::npos);
  EXPECT_NE(to_markdown(runs()).find(" | not in the earlier run | falsified: differs"),
            std::string::npos);
}

TEST_F(ComparisonTextTest, WhatDoesNotMatterIsNamedBesideTheVerdict) {
  now_ = sample_run();
  now_.findings.at(ring).ratio_max = 0.9;
  comparison_ = compare(before_, now_);
  EXPECT_EQ(worse_beside(comparison_, matters_), "1 larger error");
  const std::string text = to_text(runs(), "rankcheck");
  EXPECT_EQ(text.find("Not worse in what matters here (broken, coverage), but: 1 larger error.\n"),
            0U);
  matters_ = fail_on_from("accuracy");
  EXPECT_EQ(worse_beside(comparison_, matters_), "");
}

TEST_F(ComparisonTextTest, MarkdownKeepsItsTableWhateverAReasonHolds) {
  const std::string text = to_markdown(runs());
  EXPECT_NE(text.find("| all_reduce/ring/sim/agrees_with_reference | passed | falsified: differs "
                      "\\| from the ? reference |"),
            std::string::npos)
      << text;
}

TEST_F(ComparisonTextTest, OnlyMoreThanTwoRunsHaveATableOfAllRuns) {
  EXPECT_EQ(to_text(runs(), "rankcheck").find("over the runs"), std::string::npos);
  all_.push_back(sample_run());
  all_.front().name = "first";
  trend_ = trend_of(all_);
  const std::string text = to_text(runs(), "rankcheck");
  EXPECT_NE(text.find("\n1       first: 6 units"), std::string::npos) << text;
  EXPECT_NE(text.find("\nover the runs\noperation"), std::string::npos) << text;
  EXPECT_NE(to_markdown(runs()).find("\n## over the runs\n"), std::string::npos);
  EXPECT_EQ(to_json(runs())["runs"].size(), 3U);
  EXPECT_EQ(complaints(to_json(runs()), "comparison.schema.json"), "");
}

TEST_F(ComparisonTextTest, SaysWhichDefectIsKnownAndWhatItMayHide) {
  RunFinding& unit = now_.findings.at(ring);
  unit.is_known = true;
  unit.known = {{.id = "max", .covered = 1, .failed = 1}};
  comparison_ = compare(before_, now_);
  EXPECT_NE(to_text(runs(), "rankcheck").find("\n    known max\n"), std::string::npos);
  EXPECT_NE(to_text(runs(), "rankcheck").find("1 unit is newly broken as known"), std::string::npos)
      << to_text(runs(), "rankcheck");
  unit.may_hide_others = true;
  comparison_ = compare(before_, now_);
  EXPECT_NE(to_text(runs(), "rankcheck").find("\n    known max, where the unit ended: run with"),
            std::string::npos);
  EXPECT_NE(to_markdown(runs()).find("; known max, where"), std::string::npos);
  EXPECT_EQ(to_json(runs())["changes"][0]["known"][0], "max");
  EXPECT_EQ(complaints(to_json(runs()), "comparison.schema.json"), "");
}

TEST_F(ComparisonTextTest, AStaleEntryIsWorseOnlyIfThatWasAskedFor) {
  KnownStatus status;
  status.defect.id = "max";
  status.defect.reason = "compares as signed";
  std::vector<KnownStatus> known{status};
  ComparedRuns asked = runs();
  matters_ = fail_on_from("accuracy");
  asked.known = known;
  EXPECT_FALSE(is_worse(asked));
  EXPECT_NE(
      to_text(asked, "rankcheck")
          .find("\nknown defects\n  stale: max: no failure is as it says: compares as signed\n"),
      std::string::npos)
      << to_text(asked, "rankcheck");
  asked.is_strict = true;
  EXPECT_TRUE(is_worse(asked));
  known.front().state = KnownState::failing;
  EXPECT_FALSE(is_worse(asked));
  known.front().is_expired = true;
  EXPECT_TRUE(is_worse(asked));
  EXPECT_EQ(complaints(to_json(asked), "comparison.schema.json"), "");
}

TEST_F(ComparisonTextTest, JsonHasTheSchemaOfThePage) {
  EXPECT_EQ(complaints(to_json(runs()), "comparison.schema.json"), "");
  nlohmann::json said = to_json(runs());
  said["changes"][0]["colour"] = "red";
  EXPECT_NE(complaints(said, "comparison.schema.json"), "");
}

}  // namespace
}  // namespace rankcheck::harness::compare
