#include "harness/page/page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/base/files.hpp"
#include "harness/page/limits.hpp"
#include "harness/page/sections.hpp"

#include "tests/harness/page/page_text.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::harness::page {
namespace {

Report with(std::vector<Finding> findings) {
  Report report;
  report.run = {{"seed", 1}};
  report.environment = nlohmann::ordered_json::object();
  report.findings = std::move(findings);
  return report;
}

TEST(PageTest, BeginsWithTheVerdictInASentence) {
  EXPECT_TRUE(has(to_html(with({sample_finding("broadcast", Verdict::passed)})),
                  "<h1>Passed: the only unit that was checked passed.</h1>"));
  EXPECT_TRUE(has(to_html(with({sample_failure(), sample_finding("gather", Verdict::passed)})),
                  "<h1>Failed: 1 of 2 units that were checked failed.</h1>"));
  Report cut = with({sample_failure(), sample_finding("gather", Verdict::passed)});
  cut.not_run = 1654;
  EXPECT_TRUE(has(to_html(cut),
                  "<h1>Failed, and not finished: 1 of 2 units that were checked failed, and 1,654 "
                  "units were not run.</h1>"));
  EXPECT_TRUE(has(to_html(with({sample_finding("gather", Verdict::skipped)})),
                  "<h1>Nothing was checked.</h1>"));
}

TEST(PageTest, FailureSaysWhatAndWhyAndHowToRunItAgain) {
  const std::string page = to_html(with({sample_failure()}));
  EXPECT_TRUE(has(page, "all_reduce, algorithm ring, on sim, gave 1 wrong element"));
  EXPECT_TRUE(has(page, "The contribution of rank 2 is missing."));
  EXPECT_TRUE(has(page, "rankcheck replay &#39;{&quot;operation&quot;:&quot;all_reduce&quot;"));
  EXPECT_TRUE(has(page, "made simpler in 4 steps"));
  EXPECT_FALSE(has(page, "Never covered")) << "a unit that failed ended early";
}

TEST(PageTest, TheFirstScreenHasTheCommandOfTheFirstFailure) {
  Finding failure = sample_failure();
  const auto opening = [&] {
    const std::string page = to_html(with({failure, sample_failure()}));
    return page.substr(0, page.find("id=\"verified\""));
  };
  EXPECT_EQ(count(opening(), "rankcheck replay"), 1);
  failure.minimal->algorithm = std::string(400, 'a');
  EXPECT_FALSE(has(opening(), "rankcheck replay")) << "it would fill the screen";
}

TEST(PageTest, ACardOfOneCauseNamesItsOperations) {
  Finding other = sample_failure();
  other.unit.operation = "reduce";
  const std::string page = to_html(with({sample_failure(), other}));
  EXPECT_EQ(count(page, "<details class=\"card"), 1);
  EXPECT_EQ(count(page, "> (2 units of 2 operations: all_reduce, reduce)</span>"), 2)
      << "in the opening and on the card";
}

TEST(PageTest, WhatWasAskedForIsACommand) {
  const nlohmann::ordered_json run = {{"suites", {"ci", "my suite.json"}},
                                      {"operation", "all_*"},
                                      {"backends", {"sim", "command:./w --bug a,b"}},
                                      {"ranks", {1, 3}},
                                      {"hosts", {0, 0, 1}},
                                      {"types", {"int32", "f32"}},
                                      {"cases", 40},
                                      {"ranks_required", 2},
                                      {"seed", 1},
                                      {"devices", 4},
                                      {"strict_known", true}};
  EXPECT_EQ(asked_for(run),
            "rankcheck run ci 'my suite.json' --operation 'all_*' --backend sim "
            "--backend 'command:./w --bug a,b' --ranks 1..3 --hosts 0,0,1 --type int32,f32 "
            "--cases 40 --require-ranks 2 --seed 1; devices 4; strict_known true");
  EXPECT_EQ(asked_for({{"strict_known", false}, {"suites", 3}}), "rankcheck run 3");
}

TEST(PageTest, KnownFailuresStayVisibleAndDoNotFail) {
  Finding known = sample_failure();
  known.is_known = true;
  known.known = {{.id = "late-rank", .covered = 9, .failed = 4}};
  known.known_cells = {"int8/sum"};
  known.missing_cells = {};
  known.replays = 0;
  known.shrinks = 0;
  known.steps = {};
  known.original = {};
  Report report = with({known, sample_finding("gather", Verdict::passed)});
  KnownStatus status;
  status.defect.id = "late-rank";
  status.defect.expires = "2026-01-31";
  status.state = KnownState::failing;
  status.is_expired = true;
  report.known.push_back(status);
  const std::string page = to_html(report);
  EXPECT_TRUE(has(page, "<h1>Passed: of 2 units that were checked, 1 passed and 1 failed only"));
  EXPECT_FALSE(has(page, "id=\"failures\""));
  EXPECT_TRUE(has(page, "id=\"known-1\""));
  EXPECT_TRUE(has(page, "still fails, expired on 2026-01-31"));
  EXPECT_TRUE(has(page, "! falsified as known"));
  EXPECT_TRUE(has(page, "late-rank (4 of 9 cases failed). It was neither made simpler nor"));
  EXPECT_TRUE(has(page, "! known, 1 of 1")) << "the pair of operation and backend";
  EXPECT_TRUE(has(page, "class=\"doubt\">known<")) << "the cell";
}

TEST(PageTest, FailureShowsTheStepsFromTheFirstCaseToTheSmallest) {
  const std::string page = to_html(with({sample_failure()}));
  EXPECT_TRUE(has(page, "The case that failed first, beside the smallest one"));
  EXPECT_TRUE(has(page, ">count</th>\n<td>65535</td>\n<td>1</td>\n</tr>"));
  EXPECT_TRUE(has(page, ">ranks</th>\n<td>5</td>\n<td>3</td>\n</tr>"));
  EXPECT_TRUE(has(page,
                  "<ol><li>count 65535 -&gt; 1</li>\n<li>ranks 5 -&gt; 4</li>\n"
                  "<li>ranks 4 -&gt; 3</li>\n</ol>\n<p>and 1 more step.</p>"));
  Finding whole = sample_failure();
  whole.original = {};
  whole.steps = {};
  whole.shrinks = 0;
  const std::string without = to_html(with({whole}));
  EXPECT_FALSE(has(without, "failed first, beside"));
  EXPECT_FALSE(has(without, "<ol>"));
}

TEST(PageTest, SaysHowItsCountsBelongTogether) {
  Finding other = sample_failure();
  other.unit.property = "splits";
  Finding errored = sample_finding("gather", Verdict::errored);
  EXPECT_TRUE(has(to_html(with({sample_failure(), other})),
                  "The 2 units that failed seem to have 1 cause, which has a card below."));
  EXPECT_TRUE(has(to_html(with({sample_failure()})), "The unit that failed has a card below."));
  EXPECT_TRUE(has(to_html(with({errored})), "The unit that could not be checked has a card"));
  EXPECT_TRUE(has(to_html(with({sample_failure(), errored})),
                  "The 2 units that failed or could not be checked seem to have 2 causes, each of "
                  "which has a card below."));
  EXPECT_FALSE(has(to_html(with({sample_finding("gather", Verdict::passed)})), "has a card"));
}

/// The page has one word for what did not pass. The names of verdicts stand only beside it.
TEST(PageTest, HasOneWordForFailures) {
  Report report = sample_report();
  report.findings.push_back(sample_finding("gather", Verdict::vacuous));
  const std::string page = to_html(report);
  for (const char* each : {"not hold", " holds.", " hold.", "held", "findings"}) {
    EXPECT_FALSE(has(page, each)) << each;
  }
}

TEST(PageTest, ElementOfALaterCallNamesItsRanks) {
  Finding failure = sample_failure();
  failure.wrong[0].stage = 1;
  failure.wrong[0].group = {2, 0};
  const std::string page = to_html(with({failure}));
  EXPECT_TRUE(has(page, "ranks of the call"));
  EXPECT_TRUE(has(page, "<td>2, 0</td>"));
}

TEST(PageTest, PictureTellsWhatIsKnownOfElements) {
  Finding failure = sample_failure();
  failure.marks = {"..", "m x", "u?"};
  const std::string page = to_html(with({failure}));
  EXPECT_TRUE(
      has(page,
          "aria-label=\"Picture of ranks and elements; rank 0: 2 right; rank 1: 1 wrong, 1 a "
          "contribution is missing; rank 2: 1 not written, 1 not known\""));
}

TEST(PageTest, PictureOfAnOperatorShowsExpectedGotAndError) {
  Finding failure = sample_failure();
  failure.values = {.output = "frames",
                    .first = 4,
                    .columns = 2,
                    .expected = {1, 2},
                    .got = {1, 0.5},
                    .error = {0, 1.5}};
  const std::string page = to_html(with({failure}));
  EXPECT_TRUE(has(page, "Values 4 to 5 of frames, 2 in a row."));
  EXPECT_TRUE(has(page, "aria-label=\"error: 2 values, the largest 1.5\""));
}

TEST(PageTest, HostileNamesStayText) {
  Finding failure = sample_failure();
  failure.unit.operation = "<script>alert(1)</script>";
  failure.unit.algorithm = "\"><img src=x>";
  failure.reason = "<b>";
  failure.wrong[0].decoded = "</td><script>";
  Report report = with({failure});
  report.environment = {{"host", "<script>"}, {"unavailable_backends", {{"<script>", "<i>"}}}};
  const std::string page = to_html(report);
  EXPECT_EQ(count(page, "<script"), 1) << "only the page's own script";
  EXPECT_FALSE(has(page, "<img"));
  EXPECT_FALSE(has(page, "<b>"));
}

TEST(PageTest, LoadsNothing) {
  const std::string page = to_html(sample_report());
  EXPECT_TRUE(has(page, "default-src &#39;none&#39;"));
  for (const char* each : {"http:", "https:", "src=", "@import", "url("}) {
    EXPECT_FALSE(has(page, each)) << each;
  }
}

TEST(PageTest, HolesOfTheCoverageAreNamed) {
  Finding vacuous = sample_finding("reduce", Verdict::vacuous);
  vacuous.missing_cells = {"int8/sum"};
  vacuous.refused_cells = {"f16/sum"};
  vacuous.cells["ranks/3"] = 4;
  const std::string page = to_html(with({vacuous}));
  EXPECT_TRUE(has(page, "1 hole: reduce/int8/sum."));
  EXPECT_TRUE(has(page, "class=\"number hole\">hole<"));
  EXPECT_TRUE(has(page, ">not offered<"));
}

TEST(PageTest, AClassOfInputsIsAColumnOfTheCoverage) {
  Finding finding = sample_finding("reduce", Verdict::passed);
  finding.cells = {{"f32/sum", 7}, {"input/f32/wide", 3}};
  const std::string page = to_html(with({finding}));
  EXPECT_TRUE(has(page, "<th scope=\"col\">input wide</th>"));
  EXPECT_FALSE(has(page, "<th scope=\"row\">input</th>"));
}

TEST(PageTest, CoverageSaysWithWhichRanksACellNeverRan) {
  Finding first = sample_finding("reduce", Verdict::passed);
  first.cells = {{"f32/sum", 7}, {"int8/sum", 2}};
  first.cell_members = {{"f32/sum", {{{2, 7}}}}, {"int8/sum", {{{3, 1}, {8, 1}}}}};
  Finding second = first;
  second.unit.algorithm = "tree";
  second.cell_members = {{"f32/sum", {{{4, 3}, {5, 4}}}}, {"int8/sum", {{{3, 2}}}}};
  Finding other = sample_finding("gather", Verdict::passed);
  other.cell_members = {{"f32/sum", {{{1, 10}}}}};
  const std::string page = to_html(with({first, second, other}));
  EXPECT_TRUE(has(page, "<p>6 of 11 combinations of an operation, a type, "));
  EXPECT_TRUE(has(page, "\">14<div class=\"gaps\">not 3, 8</div>"));
  EXPECT_TRUE(has(page, "\">4<div class=\"gaps\">not 2, 4, 5</div>"));
  EXPECT_EQ(count(page, "class=\"gaps\""), 2) << "the only cell of gather has no gap";
  EXPECT_TRUE(has(page, "Cases by type and number of ranks, all operations"));
  other.cell_members = {{"f32/sum", {{{1, 7}, {2, 1}, {3, 1}, {4, 1}}}}, {"int8/sum", {{{9, 1}}}}};
  other.cells["int8/sum"] = 1;
  EXPECT_TRUE(has(to_html(with({other})), ">not 1\u20134</div>"));
  EXPECT_TRUE(has(to_html(with({sample_finding("gather", Verdict::passed)})),
                  "The report does not say with how many ranks the cases of each type ran."));
}

TEST(PageTest, GateShowsLinksDevicesAndTheExposure) {
  Report report = with({sample_finding("broadcast", Verdict::passed)});
  const nlohmann::ordered_json exposure = {{"bytes", 4096},
                                           {"copies", 2},
                                           {"wrong_bytes", 0},
                                           {"error_rate_bound", 7e-4},
                                           {"confidence", 0.95}};
  report.environment["hardware"] = {
      {"devices",
       {{{"device", 0}, {"name", "a GPU"}, {"verdict", "passed"}, {"exposure", exposure}}}},
      {"links",
       {{{"from", 0},
         {"to", 1},
         {"method", "peer"},
         {"verdict", "falsified"},
         {"reason", "2 copies are wrong"},
         {"gigabytes_per_s", 12.5}}}},
      {"exposure", exposure}};
  const std::string page = to_html(report);
  EXPECT_TRUE(has(page, "12.5 GB/s: 2 copies are wrong"));
  EXPECT_TRUE(has(page, "error rate per byte below 0.0007 (confidence 95 %)"));
  EXPECT_TRUE(has(page, "A pass of this gate is about the checks below"));
}

/// What kept the gate from passing is on the first screen.
TEST(PageTest, GateNamesWhatDidNotPass) {
  Report report = with({sample_finding("broadcast", Verdict::passed)});
  report.environment["hardware"] = {
      {"devices",
       {{{"device", 0},
         {"name", "stand-in"},
         {"memory", "host"},
         {"verdict", "skipped"},
         {"reason", "not hardware: host"}}}},
      {"phases",
       {{{"name", "speed"}, {"verdict", "falsified"}, {"reason", "it could not be measured"}},
        {{"name", "cuda"}, {"verdict", "passed"}, {"reason", ""}}}},
      {"links",
       {{{"from", 0},
         {"to", 1},
         {"method", "copy"},
         {"verdict", "errored"},
         {"reason", "no answer"}}}}};
  const std::string page = to_html(report);
  const std::string opening = page.substr(0, page.find("id=\"gate\""));
  EXPECT_TRUE(
      has(opening,
          "href=\"#gate\">The gate&#39;s part speed is falsified: it could not be measured</a>"));
  EXPECT_TRUE(has(opening, "<li>The gate&#39;s device 0 is skipped: not hardware: host.</li>"));
  EXPECT_TRUE(has(opening, "<li>The gate&#39;s link 0 to 1 by copy is errored: no answer.</li>"));
  EXPECT_FALSE(has(opening, "part cuda"));
  EXPECT_TRUE(has(page, "Some devices are stand-ins, so their numbers describe no hardware"));
}

TEST(PageTest, GateHasABoundedNumberOfDevicesInTheirOrder) {
  Report report = with({sample_finding("broadcast", Verdict::passed)});
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  nlohmann::ordered_json links = nlohmann::ordered_json::array();
  for (int i = 0; i < 70; ++i) {
    devices.push_back({{"device", i}, {"verdict", "passed"}});
    links.push_back({{"from", i}, {"to", i}, {"method", "copy"}, {"verdict", "passed"}});
  }
  report.environment["hardware"] = {{"devices", devices}, {"links", links}};
  const std::string page = to_html(report);
  EXPECT_TRUE(has(page, "and 6 more devices, which report.json lists"));
  EXPECT_TRUE(has(page, "and 6 more links, which report.json lists"));
  EXPECT_TRUE(has(page, ">1</th>\n<th scope=\"col\">2</th>\n<th scope=\"col\">3</th>"));
  EXPECT_FALSE(has(page, "stand-ins"));
}

TEST(PageTest, GateOfAnotherShapeIsNoCrash) {
  Report report = with({sample_finding("broadcast", Verdict::passed)});
  report.environment["hardware"] = {{"devices", {1, "two"}}, {"links", 3}, {"exposure", "none"}};
  report.environment["durations_s"] = {{"a", "b"}};
  EXPECT_TRUE(has(to_html(report), "All links together: not known."));
}

TEST(PageTest, HasABoundedNumberOfCards) {
  std::vector<Finding> findings;
  for (int i = 0; i < 500; ++i) {
    findings.push_back(sample_failure());
    findings.back().unit.algorithm = "a" + std::to_string(i);
  }
  const std::string page = to_html(with(findings));
  EXPECT_EQ(count(page, "<details class=\"card"), std::ssize(findings) - 300);
  EXPECT_TRUE(has(page, "300 more causes of failures, which report.json lists"));
}

/// Returns a failure with pictures and texts of the largest size.
Finding largest_failure() {
  Finding failure = sample_failure();
  failure.marks.assign(marked_ranks_max, std::string(marked_elements_max, 'x'));
  const std::vector<double> values(window_values_max, 0.123456789);
  failure.values = {
      .output = "frames", .columns = 16, .expected = values, .got = values, .error = values};
  failure.wrong.assign(wrong_elements_max, failure.wrong[0]);
  failure.reason = std::string(2000, '"');
  failure.steps.assign(steps_max, std::string(step_bytes_max, '>'));
  failure.shrinks = 1000;
  return failure;
}

TEST(PageTest, HasABoundedSizeHoweverLargeTheCardsAre) {
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < cards_max; ++i) {
    findings.push_back(largest_failure());
    findings.back().unit.algorithm = std::to_string(i);
  }
  const std::string page = to_html(with(findings));
  EXPECT_LE(page.size(), page_bytes_max);
  EXPECT_GE(page.size(), cards_bytes_max);
  const std::int64_t cards = count(page, "<details class=\"card");
  EXPECT_TRUE(has(page, fmt::format("{} more causes of failures", 200 - cards)));
}

TEST(PageTest, HasABoundedSizeHoweverManyOperationsThereAre) {
  std::vector<Finding> findings;
  for (int i = 0; i < 4000; ++i) {
    findings.push_back(sample_finding(std::string(200, '&') + std::to_string(i), Verdict::passed));
    for (int cell = 0; cell < 40; ++cell) {
      findings.back().cells[fmt::format("type{}/variant{}", cell % 7, cell)] = 12345;
    }
  }
  const std::string page = to_html(with(findings));
  EXPECT_LE(page.size(), page_bytes_max);
  EXPECT_TRUE(has(page, "and 3800 more operations, which report.json lists"));
}

TEST(PageTest, ALongCommandIsLeftOut) {
  Finding failure = sample_failure();
  failure.minimal->algorithm = std::string(command_bytes_max, 'a');
  const std::string page = to_html(with({failure}));
  EXPECT_FALSE(has(page, "rankcheck replay"));
  EXPECT_TRUE(has(page, "too many for this page: report.json has it"));
}

TEST(PageTest, EqualReportsGiveEqualPages) {
  EXPECT_EQ(to_html(sample_report()), to_html(sample_report()));
}

TEST(PageTest, IsWrittenBesideTheReport) {
  const TemporaryFolder folder;
  write_page(folder.path(), sample_report());
  EXPECT_EQ(read_file(folder.path() / "report.html"), to_html(sample_report()));
}

}  // namespace
}  // namespace rankcheck::harness::page
