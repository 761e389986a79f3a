#include "harness/compare/comparison_page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/page/limits.hpp"

#include "tests/harness/compare/sample_run.hpp"
#include "tests/harness/page/page_text.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::harness::compare {
namespace {

using page::count;
using page::has;

const std::set<FailOn> defaults{FailOn::broken, FailOn::coverage};

std::string page_of(const RunReport& before, const RunReport& now) {
  const Comparison comparison = compare(before, now);
  const std::vector<RunReport> all{before, now};
  return to_html({before, now, comparison, defaults, trend_of(all)});
}

/// Lets a unit of the run fail, with the finding of a report.
void break_unit(RunReport& run, const std::string& id) {
  const std::size_t slash = id.find('/');
  Finding failure = sample_failure();
  failure.unit.operation = id.substr(0, slash);
  failure.unit.algorithm = id.substr(slash + 1, id.find('/', slash + 1) - slash - 1);
  ASSERT_EQ(failure.unit.id(), id);
  RunFinding& finding = run.findings.at(id);
  finding.verdict = Verdict::falsified;
  finding.reason = failure.reason;
  finding.whole = to_json(failure);
  finding.minimal = finding.whole["minimal"];
}

TEST(ComparisonPageTest, BeginsWithTheVerdictInASentence) {
  RunReport now = sample_run();
  EXPECT_TRUE(has(page_of(sample_run(), now),
                  "<h1>Not worse: nothing changed in the 5 units that both runs judged.</h1>"));
  break_unit(now, ring);
  EXPECT_TRUE(has(page_of(sample_run(), now), "<h1>Worse: 1 unit is newly broken.</h1>"));
  EXPECT_TRUE(has(page_of(now, sample_run()),
                  "<h1>Not worse: none of the 5 units that both runs judged got worse.</h1>"));
}

TEST(ComparisonPageTest, NewlyBrokenUnitsHaveCardsWithTheirCaseAndTheirPast) {
  RunReport now = sample_run();
  break_unit(now, ring);
  const std::string page = page_of(sample_run(), now);
  EXPECT_TRUE(has(page, "href=\"#newly_broken-1\""));
  EXPECT_TRUE(has(page, "id=\"newly_broken-1\""));
  EXPECT_TRUE(has(page, "The contribution of rank 2 is missing."));
  EXPECT_TRUE(has(page, "In the earlier run: passed."));
  EXPECT_TRUE(has(page, "did not fail before. Of them, 1 passed before."));
  RunReport before = sample_run();
  before.findings.erase(ring);
  break_unit(now, tree);
  EXPECT_TRUE(has(page_of(before, now), "Of them, 1 passed before, 1 was not in the earlier run."));
  EXPECT_TRUE(has(page, "rankcheck replay &#39;{&quot;operation&quot;:&quot;all_reduce&quot;"));
}

TEST(ComparisonPageTest, CausesThatTheFirstScreenLeavesOutAreCounted) {
  RunReport before = sample_run();
  RunReport now = sample_run();
  for (int i = 0; i < 6; ++i) {
    const std::string id = fmt::format("all_reduce/a{}/sim/agrees_with_reference", i);
    add_unit(before, id, Verdict::passed);
    add_unit(now, id, Verdict::passed);
    break_unit(now, id);
    // The reason is the cause of a failure without wrong elements.
    auto& whole = now.findings.at(id).whole;
    whole["reason"] = std::string(1, static_cast<char>('a' + i));
    whole.erase("wrong");
    whole.erase("wrong_count");
  }
  const std::string page = page_of(before, now);
  EXPECT_TRUE(has(page, "href=\"#newly_broken-6\">and 1 more cause</a>"));
  EXPECT_TRUE(has(page, "id=\"newly_broken-6\""));
}

TEST(ComparisonPageTest, CausesOfUnitsThatPassedBeforeComeFirst) {
  RunReport before = sample_run();
  RunReport now = sample_run();
  for (const char* algorithm : {"a", "b", "c"}) {
    const std::string id = fmt::format("all_reduce/{}/sim/agrees_with_reference", algorithm);
    add_unit(now, id, Verdict::passed);
    break_unit(now, id);
    auto& whole = now.findings.at(id).whole;
    whole["reason"] = fmt::format("cause {}", algorithm);
    whole.erase("wrong");
    whole.erase("wrong_count");
    if (*algorithm == 'c') add_unit(before, id, Verdict::passed);
  }
  const std::string page = page_of(before, now);
  EXPECT_LT(page.find("cause c"), page.find("cause a"));
  EXPECT_LT(page.find("cause a"), page.find("cause b"));
}

TEST(ComparisonPageTest, KnownFailuresHaveCardsOfTheirOwn) {
  RunReport now = sample_run();
  break_unit(now, ring);
  break_unit(now, tree);
  now.findings.at(tree).is_known = true;
  now.findings.at(tree).known = {{.id = "max", .covered = 1, .failed = 1}};
  const std::string page = page_of(sample_run(), now);
  EXPECT_TRUE(has(page, "<h1>Worse: 1 unit is newly broken.</h1>"));
  EXPECT_TRUE(has(page, "1 unit is newly broken (1 more as known)</a>"));
  EXPECT_TRUE(has(page, "<h3>Newly broken, as known</h3>"));
  EXPECT_TRUE(
      has(page, "These known defects explain the failures, so they do not count: max (1 unit)."));
  const std::string first_screen = page.substr(0, page.find("</header>"));
  EXPECT_TRUE(has(first_screen, "rankcheck replay")) << "of the failure that counts";
  EXPECT_TRUE(has(page, "id=\"newly_broken-1\""));
  EXPECT_TRUE(has(page, "id=\"newly_broken-known-1\""));
  EXPECT_FALSE(has(page, "href=\"#newly_broken-2\"")) << "the first screen has what counts";
}

TEST(ComparisonPageTest, SaysWhatGotWorseBesideWhatMatters) {
  RunReport now = sample_run();
  now.findings.at(ring).ratio_max = 0.9;
  EXPECT_TRUE(
      has(page_of(sample_run(), now),
          "<h1>Not worse in what matters here (broken, coverage), but: 1 larger error.</h1>"));
}

TEST(ComparisonPageTest, AFindingOfAnotherVersionIsARow) {
  RunReport now = sample_run();
  break_unit(now, ring);
  RunFinding& finding = now.findings.at(ring);
  finding.whole["minimal"]["a_field_of_tomorrow"] = 1;
  finding.minimal = finding.whole["minimal"];
  const std::string page = page_of(sample_run(), now);
  EXPECT_FALSE(has(page, "class=\"card"));
  EXPECT_TRUE(has(page, ring));
  EXPECT_TRUE(has(page, "a_field_of_tomorrow"));
}

TEST(ComparisonPageTest, ShowsWhatEachRunChecked) {
  RunReport now = sample_run();
  now.findings.erase(other);
  now.findings.at(ring).ranks_max = 8;
  const std::string page = page_of(sample_run(), now);
  const auto row = [](const char* what, const char* before, const char* after) {
    return fmt::format(
        "<th scope=\"row\">{}</th>\n<td class=\"said\">{}</td>\n<td class=\"said\">{}</td>",
        what,
        before,
        after);
  };
  EXPECT_TRUE(has(page, row("operations", "2: all_reduce, broadcast", "1: all_reduce")));
  EXPECT_TRUE(has(page, row("algorithms", "4", "3")));
  EXPECT_TRUE(has(page, row("backends", "2: mpi, sim", "2: mpi, sim")))
      << "nothing was judged on cuda";
  EXPECT_TRUE(has(page, row("ranks", "not known", "up to 8")));
  EXPECT_TRUE(has(page, row("cases", "50", "40")));
  EXPECT_TRUE(has(page, row("covered cells", "6", "4")));
}

TEST(ComparisonPageTest, TheMatrixHasVerdictsAndErrorsOfBothRuns) {
  RunReport now = sample_run();
  break_unit(now, ring);
  now.findings.at(tree).ratio_max = 0.5;
  const std::string page = page_of(sample_run(), now);
  EXPECT_TRUE(has(page,
                  ">\u2713 passed</span> \u2192 <span class=\"badge bad\">\u2717 falsified, 1 of 3"
                  "</span><div class=\"faint\">0.25 \u2192 0.5</div>"))
      << page.substr(page.find("id=\"matrix\""));
  EXPECT_TRUE(has(page, ">\u2713 passed</span><span class=\"faint\"> as before</span>"));
  EXPECT_TRUE(has(page, ">\u2013 skipped</span><span class=\"faint\"> as before</span>"));
  EXPECT_TRUE(has(page, "href=\"#matrix\""));
  now.findings.at(ring).is_known = true;
  now.findings.erase(other);
  const std::string known = page_of(sample_run(), now);
  EXPECT_TRUE(has(known, "! known, 1 of 3"));
  now.findings.at(law).verdict = Verdict::vacuous;
  const std::string vacuous = page_of(sample_run(), now);
  EXPECT_TRUE(has(vacuous, "vacuous, and 1 known")) << "known failures hide nothing";
  EXPECT_TRUE(has(known, "\u2192 <span class=\"badge quiet\">\u2013 not in the run</span>"));
}

TEST(ComparisonPageTest, CoverageNamesTheCellsThatDiffer) {
  RunReport now = sample_run();
  now.findings.at(other).cells = {"f32/sum", "ranks/3"};
  const std::string page = page_of(sample_run(), now);
  EXPECT_TRUE(has(page,
                  "<td>sim</td>\n<td class=\"number\">2</td>\n<td class=\"number\">2</td>\n"
                  "<td class=\"said\">lost int8/sum; gained ranks/3</td>"));
  EXPECT_TRUE(has(page, ">same cells</td>"));
}

TEST(ComparisonPageTest, WhatWasAskedForIsACommand) {
  RunReport now = sample_run();
  now.run = {{"suites", {"smoke"}}, {"ranks", {1, 3}}, {"types", {"int32", "f32"}}};
  EXPECT_TRUE(has(page_of(sample_run(), now),
                  "<td class=\"said\">rankcheck run --seed 1</td>\n"
                  "<td class=\"said\">rankcheck run smoke --ranks 1..3 --type int32,f32</td>"));
}

TEST(ComparisonPageTest, ShowsTheVersionsOfBothSides) {
  RunReport now = sample_run();
  now.environment["backends"]["mpi"]["versions"]["mpi"] = "MPICH";
  const std::string page = page_of(sample_run(), now);
  EXPECT_TRUE(has(page, "<td class=\"said\">mpi Open MPI</td>\n<td class=\"said\">mpi MPICH</td>"));
  EXPECT_TRUE(has(page, "id=\"version\""));
  EXPECT_TRUE(has(page, "mpi: Open MPI before, MPICH now</a>")) << "the first screen names it, too";
  EXPECT_TRUE(has(page, "backends.mpi.versions.mpi"));
}

TEST(ComparisonPageTest, ManyRunsAreLines) {
  std::vector<RunReport> all{sample_run(), sample_run(), sample_run()};
  all[1].findings.at(other).verdict = Verdict::crashed;
  all[2].findings.at(other).ratio_max = 0.5;
  const Comparison comparison = compare(all[1], all[2]);
  const std::string page = to_html({all[1], all[2], comparison, defaults, trend_of(all)});
  EXPECT_TRUE(has(page, "aria-label=\"run 1 passed, run 2 crashed, run 3 passed\""));
  EXPECT_TRUE(has(page, "aria-label=\"Worst error/bound: 0, nothing, 0.5\""));
  EXPECT_FALSE(has(page_of(all[1], all[2]), "id=\"trend\"")) << "two runs are no trend";
}

TEST(ComparisonPageTest, HostileTextStaysText) {
  RunReport now = sample_run();
  now.name = "<script>alert(1)</script>";
  now.environment["host"] = "<img src=x>";
  now.findings.at(other).verdict = Verdict::crashed;
  now.findings.at(other).reason = "<b>";
  const std::string page = page_of(sample_run(), now);
  EXPECT_EQ(count(page, "<script"), 1) << "only the page's own script";
  EXPECT_FALSE(has(page, "<img"));
  EXPECT_FALSE(has(page, "<b>"));
}

TEST(ComparisonPageTest, IsBounded) {
  RunReport before = sample_run();
  RunReport now = sample_run();
  for (int i = 0; i < 600; ++i) {
    const std::string id = fmt::format("all_reduce/a{}/sim/agrees_with_reference", i);
    add_unit(before, id, Verdict::passed);
    add_unit(now, id, Verdict::passed);
    break_unit(i % 2 == 0 ? now : before, id);
  }
  const std::string page = page_of(before, now);
  EXPECT_LE(count(page, "<details class=\"card"), 200);
  EXPECT_TRUE(
      has(page, "100 more causes of failures, which rankcheck compare --format json lists"));
  EXPECT_TRUE(has(page, "and 100 more, which rankcheck compare --format json lists"));
  EXPECT_LE(page.size(), page::page_bytes_max);
}

}  // namespace
}  // namespace rankcheck::harness::compare
