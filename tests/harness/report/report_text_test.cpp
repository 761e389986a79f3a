#include "harness/report/report_text.hpp"

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

Finding absent(const std::string& operation, Verdict verdict) {
  Finding finding = sample_finding(operation, verdict);
  finding.unit.backend = verdict == Verdict::skipped ? "cuda" : "mpi";
  if (verdict == Verdict::errored) finding.reason = std::string(backend_not_opened) + "no cable";
  return finding;
}

/// Two operations on a backend that is not there and on one that did not open, and one on sim.
Report with_absent() {
  Report report;
  for (const char* operation : {"all_gather", "barrier"}) {
    report.findings.push_back(absent(operation, Verdict::skipped));
    report.findings.push_back(absent(operation, Verdict::errored));
  }
  report.findings.push_back(passed("broadcast"));
  report.environment["unavailable_backends"]["cuda"] = "no driver";
  return report;
}

TEST(VerdictSentenceTest, SaysWhetherEverythingPassed) {
  Report report = report_of({passed("broadcast")});
  EXPECT_EQ(verdict_sentence(report), "Everything passed: 1 passed, of 1 unit.");
  report.findings.push_back(sample_finding("broadcast", Verdict::skipped));
  EXPECT_EQ(verdict_sentence(report),
            "Everything that was checked passed: 1 skipped, 1 passed, of 2 units.");
  report.not_run = 3;
  EXPECT_EQ(verdict_sentence(report),
            "Not everything was checked: 1 skipped, 3 not run, 1 passed, of 5 units.");
  report.findings.push_back(sample_failure());
  EXPECT_EQ(verdict_sentence(report),
            "Failed: 1 failed (1 falsified), 1 skipped, 3 not run, 1 passed, of 6 units.");
  EXPECT_EQ(verdict_sentence({}), "Not everything was checked: nothing was run, of 0 units.");
}

TEST(VersionLinesTest, NameWhatABackendWasMadeOf) {
  Report report;
  EXPECT_TRUE(version_lines(report).empty());
  report.environment["backends"] = {
      {"mpi", {{"versions", {{"mpi", "Open MPI v4.1.4"}, {"abi", 3}, {"ucx", "1.13"}}}}},
      {"sim", {{"versions", nlohmann::ordered_json::object()}}}};
  EXPECT_EQ(version_lines(report), std::vector<std::string>{"mpi: mpi Open MPI v4.1.4, ucx 1.13"});
  EXPECT_TRUE(has(to_markdown(report), "\n- mpi: mpi Open MPI v4.1.4, ucx 1.13\n\n"));
}

TEST(AbsentBackendsTest, HaveALineEach) {
  const std::vector<AbsentBackend> all = absent_backends(with_absent());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(to_text(all[0]), "cuda did not run (2 units skipped): no driver");
  EXPECT_EQ(to_text(all[1]),
            "mpi did not run (2 units errored): the backend could not be opened: no cable");
  const std::string table = table_text(with_absent(), {});
  EXPECT_FALSE(has(table, "all_gather"));
  EXPECT_TRUE(has(table, "broadcast  sim"));
  EXPECT_TRUE(causes_of(with_absent()).empty());
}

/// A backend that runs some units and did not open for others is not hidden.
TEST(AbsentBackendsTest, KeepTheirOtherFindings) {
  Report report = with_absent();
  report.findings.push_back(sample_failure());
  report.findings.back().unit.backend = "mpi";
  const std::string table = table_text(report, {});
  EXPECT_TRUE(has(table, "all_reduce  mpi"));
  EXPECT_EQ(causes_of(report).size(), 1U);
}

TEST(VerdictAndFailuresTest, ExplainsEachFailure) {
  const std::string text =
      verdict_and_failures(report_of({sample_failure()}), {.program = "./rankcheck"});
  EXPECT_TRUE(begins(text,
                     "Failed: 1 failed (1 falsified), of 1 unit.\n\n"
                     "falsified all_reduce/ring/sim/agrees_with_reference\n"
                     "  agrees_with_reference of all_reduce by ring on sim failed: differs from "
                     "the reference\n"
                     "  1 wrong element, the first:\n"));
  EXPECT_TRUE(has(text,
                  "  the smallest case, which failed in 5 of 5 replays, after 4 shrinks:\n"
                  "  ./rankcheck replay '{\"operation\":\"all_reduce\""));
  EXPECT_LE(widest_line(text), text_columns_max);
}

TEST(VerdictAndFailuresTest, CountsWhatItLeavesOut) {
  Report report = report_of(std::vector<Finding>(14, sample_failure()));
  // Failures of several libraries have several causes.
  for (std::size_t i = 0; i < 14; ++i) report.findings[i].unit.subject = std::to_string(i);
  const std::string text = verdict_and_failures(report, {});
  EXPECT_TRUE(ends(text, "\nand 4 more causes of failures that need attention, see summary.md\n"));
}

TEST(VerdictAndFailuresTest, NamesTheOtherUnitsOfACause) {
  Report report = report_of(std::vector<Finding>(5, sample_failure()));
  for (std::size_t i = 0; i < 5; ++i) report.findings[i].unit.operation = std::to_string(i);
  const std::string text = verdict_and_failures(report, {});
  EXPECT_TRUE(ends(text,
                   "  4 more units, probably with this cause: "
                   "1/ring/sim/agrees_with_reference,\n"
                   "    2/ring/sim/agrees_with_reference, "
                   "3/ring/sim/agrees_with_reference and 1 more\n"));
}

TEST(VerdictAndFailuresTest, PartOfAGateHasNoVerdictAndMayLackCoverage) {
  Report report = report_of({sample_finding("broadcast", Verdict::vacuous)});
  EXPECT_EQ(verdict_and_failures(report, {.is_part_of_gate = true}), "");
  report.findings.push_back(sample_failure());
  EXPECT_TRUE(begins(verdict_and_failures(report, {.is_part_of_gate = true}), "\nfalsified all_"));
}

TEST(TableTextTest, FitsItsWidth) {
  Report report = report_of({passed("poisson_conjugate_gradient_step"), sample_failure()});
  report.findings[0].unit.subject = "a_subject_with_quite_a_long_name";
  report.findings[0].cases = 123456789;
  report.findings[0].refused_cells = {"f32/max"};
  const std::string text = table_text(report, {});
  EXPECT_LE(widest_line(text), text_columns_max) << text;
  EXPECT_TRUE(has(text, "1 cell is not offered by their backends, see summary.md"));
}

TEST(TableTextTest, SaysWhyNothingCouldBeChecked) {
  Report report = report_of({sample_finding("broadcast", Verdict::skipped)});
  report.findings[0].reason = name(SkipReason::not_supported);
  report.findings[0].refusal = "hosts: they share a device";
  EXPECT_TRUE(table_text(report, {}).ends_with("1 unit was skipped: hosts: they share a device\n"));
  // Where something was checked, the reason is in summary.md.
  report.findings.push_back(passed("all_reduce"));
  EXPECT_FALSE(has(table_text(report, {}), "they share"));
}

}  // namespace
}  // namespace rankcheck::harness
