#include "harness/compare/comparison_text.hpp"

#include <string>

#include <gtest/gtest.h>

#include "harness/base/table.hpp"

#include "tests/harness/compare/sample_run.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/schema.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness::compare {
namespace {

class ComparisonTextTest : public testing::Test {
 protected:
  ComparisonTextTest() {
    now_.findings.at(ring).verdict = Verdict::falsified;
    now_.findings.at(ring).reason = "differs | from the \x01 reference";
    now_.findings.at(ring).minimal = {{"operation", "all_reduce"}, {"ranks", 3}};
    now_.findings.erase(tree);
  }

  [[nodiscard]] ComparedRuns runs() {
    comparison_ = compare(before_, now_);
    return {before_, now_, comparison_, matters_, trend_};
  }
  [[nodiscard]] std::string said() { return to_text(runs(), "rankcheck"); }

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
  const std::string text = said();
  EXPECT_TRUE(begins(text, verdict + '\n'));
  EXPECT_TRUE(has(text,
                  "\n4 units were judged in both runs: 1 unit is newly broken, 1 unit is still "
                  "broken, 1 loss of coverage\n"));
}

TEST_F(ComparisonTextTest, OnlyLinesToPasteAreLong) {
  std::string words;
  for (int i = 0; i < 25; ++i) words += "word ";
  now_.findings.at(ring).reason = words;
  now_.findings.at(ring).minimal["input"] = words;
  now_.name = words;
  EXPECT_LE(widest_line(said()), text_columns_max) << said();
  EXPECT_TRUE(has(said(), "rankcheck replay '", words));
}

TEST_F(ComparisonTextTest, OnlyTheVerdictIsColoured) {
  const std::string plain = said();
  const std::string coloured = to_text(runs(), "rankcheck", TextStyle(true));
  const std::string verdict = wrapped(verdict_of(runs()), text_columns_max, 2);
  EXPECT_EQ(coloured,
            TextStyle(true).paint(Verdict::falsified, verdict) + plain.substr(verdict.size()));
}

TEST_F(ComparisonTextTest, SaysHowToRunAFailureAgain) {
  EXPECT_TRUE(has(to_text(runs(), "./rankcheck"),
                  "\nnewly broken\n  all_reduce/ring/sim/agrees_with_reference  passed -> "
                  "falsified: differs | from the ? reference\n"
                  "    ./rankcheck replay '{\"operation\":\"all_reduce\",\"ranks\":3}'\n"));
}

TEST_F(ComparisonTextTest, WithoutAChangeSaysSo) {
  before_.findings.erase(failing);
  now_ = before_;
  EXPECT_EQ(verdict_of(runs()), "Not worse: nothing changed in the 4 units that both runs judged.");
  add_unit(before_, failing, Verdict::falsified);
  now_ = before_;
  EXPECT_TRUE(begins(said(), "Not worse: nothing changed in the 5 units "));
  EXPECT_TRUE(has(said(), " in both runs: 1 unit is still broken\n", "  falsified, as before\n"));
}

TEST_F(ComparisonTextTest, AnOnlyUnitThatIsMendedDidNotGetWorse) {
  before_ = {};
  add_unit(before_, ring, Verdict::falsified);
  before_.environment = nlohmann::ordered_json::object();
  now_ = before_;
  now_.findings.at(ring).verdict = Verdict::passed;
  EXPECT_EQ(verdict_of(runs()),
            "Not worse: the only unit that both runs judged did not get worse.");
  EXPECT_FALSE(is_worse(runs()));
  EXPECT_TRUE(has(said(), "\n1 unit was judged in both runs: 1 unit is mended\n"));
}

TEST_F(ComparisonTextTest, AVersionThatOneRunLacksIsNothingThere) {
  before_.environment["backends"].erase("mpi");
  before_.environment["unavailable_backends"] = {{"mpi", "mpiexec is missing"}};
  now_.environment["unavailable_backends"] = nlohmann::ordered_json::object();
  EXPECT_TRUE(has(said(),
                  "\n  backends.mpi  nothing -> {\"versions\":{\"mpi\":\"Open MPI\"}}\n"
                  "  unavailable_backends.mpi  mpiexec is missing -> nothing\n"));
}

TEST_F(ComparisonTextTest, ALongListNamesHowManyMoreThereAre) {
  for (int i = 0; i < 30; ++i) {
    add_unit(now_, "broadcast/direct/sim/law" + std::to_string(i), Verdict::falsified);
  }
  EXPECT_TRUE(has(said(), "  and 11 more, see --format json\n"));
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
  EXPECT_TRUE(has(said(), "\nnewly broken\n  " + std::string(ring) + "  "));
}

TEST_F(ComparisonTextTest, AFailureOfANewUnitSaysThatItIsNew) {
  before_.findings.erase(ring);
  EXPECT_TRUE(has(said(), "    not in the earlier run -> falsified: differs"));
  EXPECT_TRUE(has(to_markdown(runs()), " | not in the earlier run | falsified: differs"));
}

TEST_F(ComparisonTextTest, WhatDoesNotMatterIsNamedBesideTheVerdict) {
  now_ = sample_run();
  now_.findings.at(ring).ratio_max = 0.9;
  EXPECT_TRUE(
      begins(said(), "Not worse in what matters here (broken, coverage), but: 1 larger error.\n"));
  EXPECT_EQ(worse_beside(comparison_, matters_), "1 larger error");
  matters_ = fail_on_from("accuracy");
  EXPECT_EQ(worse_beside(comparison_, matters_), "");
}

TEST_F(ComparisonTextTest, MarkdownKeepsItsTableWhateverAReasonHolds) {
  EXPECT_TRUE(has(to_markdown(runs()),
                  "| all_reduce/ring/sim/agrees_with_reference | passed | falsified: differs "
                  "\\| from the ? reference |"));
}

TEST_F(ComparisonTextTest, OnlyMoreThanTwoRunsHaveATableOfAllRuns) {
  EXPECT_FALSE(has(said(), "over the runs"));
  all_.push_back(sample_run());
  all_.front().name = "first";
  trend_ = trend_of(all_);
  EXPECT_TRUE(has(said(), "\n1       first: 6 units", "\nover the runs\noperation"));
  EXPECT_TRUE(has(to_markdown(runs()), "\n## over the runs\n"));
  EXPECT_EQ(to_json(runs())["runs"].size(), 3U);
  EXPECT_EQ(complaints(to_json(runs()), "comparison.schema.json"), "");
}

TEST_F(ComparisonTextTest, SaysWhichDefectIsKnownAndWhatItMayHide) {
  RunFinding& unit = now_.findings.at(ring);
  unit.is_known = true;
  unit.known = {{.id = "max", .covered = 1, .failed = 1}};
  EXPECT_TRUE(has(said(), "1 unit is newly broken as known", "\n    known max\n"));
  unit.may_hide_others = true;
  EXPECT_TRUE(has(said(), "\n    known max, where the unit ended: run with"));
  EXPECT_TRUE(has(to_markdown(runs()), "; known max, where"));
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
  EXPECT_TRUE(has(to_text(asked, "rankcheck"),
                  "\nknown defects\n  stale: max: no failure is as it says: compares as signed\n"));
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
