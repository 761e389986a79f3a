#include "harness/report/report_text.hpp"

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"

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
  report.findings.push_back(sample_finding("broadcast", Verdict::passed));
  report.environment["unavailable_backends"]["cuda"] = "no driver";
  return report;
}

TEST(VerdictSentenceTest, SaysWhetherEverythingPassed) {
  Report report;
  report.findings = {sample_finding("broadcast", Verdict::passed)};
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
  EXPECT_NE(to_markdown(report).find("\n- mpi: mpi Open MPI v4.1.4, ucx 1.13\n\n"),
            std::string::npos);
}

TEST(AbsentBackendsTest, HaveALineEach) {
  const std::vector<AbsentBackend> all = absent_backends(with_absent());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(to_text(all[0]), "cuda did not run (2 units skipped): no driver");
  EXPECT_EQ(to_text(all[1]),
            "mpi did not run (2 units errored): the backend could not be opened: no cable");
  const std::string table = table_text(with_absent(), {});
  EXPECT_EQ(table.find("all_gather"), std::string::npos) << table;
  EXPECT_NE(table.find("broadcast  sim"), std::string::npos) << table;
  EXPECT_TRUE(causes_of(with_absent()).empty());
}

/// A backend that runs some units and did not open for others is not hidden.
TEST(AbsentBackendsTest, KeepTheirOtherFindings) {
  Report report = with_absent();
  report.findings.push_back(sample_failure());
  report.findings.back().unit.backend = "mpi";
  const std::string table = table_text(report, {});
  EXPECT_NE(table.find("all_reduce  mpi"), std::string::npos) << table;
  EXPECT_EQ(causes_of(report).size(), 1U);
}

TEST(VerdictAndFailuresTest, ExplainsEachFailure) {
  Report report;
  report.findings = {sample_failure()};
  const std::string text = verdict_and_failures(report, {.program = "./rankcheck"});
  EXPECT_EQ(text.find("Failed: 1 failed (1 falsified), of 1 unit.\n\n"
                      "falsified all_reduce/ring/sim/agrees_with_reference\n"
                      "  agrees_with_reference of all_reduce by ring on sim failed: differs from "
                      "the reference\n"
                      "  1 wrong element, the first:\n"),
            0U)
      << text;
  EXPECT_NE(text.find("  the smallest case, which failed in 5 of 5 replays, after 4 shrinks:\n"
                      "  ./rankcheck replay '{\"operation\":\"all_reduce\""),
            std::string::npos)
      << text;
  EXPECT_LE(widest_line(text), text_columns_max);
}

TEST(VerdictAndFailuresTest, CountsWhatItLeavesOut) {
  Report report;
  report.findings.assign(14, sample_failure());
  // Failures of several libraries have several causes.
  for (std::size_t i = 0; i < 14; ++i) report.findings[i].unit.subject = std::to_string(i);
  const std::string text = verdict_and_failures(report, {});
  EXPECT_TRUE(
      text.ends_with("\nand 4 more causes of failures that need attention, see summary.md\n"))
      << text;
}

TEST(VerdictAndFailuresTest, NamesTheOtherUnitsOfACause) {
  Report report;
  report.findings.assign(5, sample_failure());
  for (std::size_t i = 0; i < 5; ++i) report.findings[i].unit.operation = std::to_string(i);
  const std::string text = verdict_and_failures(report, {});
  EXPECT_TRUE(
      text.ends_with("  4 more units, probably with this cause: "
                     "1/ring/sim/agrees_with_reference,\n"
                     "    2/ring/sim/agrees_with_reference, "
                     "3/ring/sim/agrees_with_reference and 1 more\n"))
      << text;
}

TEST(VerdictAndFailuresTest, PartOfAGateHasNoVerdictAndMayLackCoverage) {
  Report report;
  report.findings = {sample_finding("broadcast", Verdict::vacuous)};
  EXPECT_EQ(verdict_and_failures(report, {.is_part_of_gate = true}), "");
  report.findings.push_back(sample_failure());
  EXPECT_EQ(verdict_and_failures(report, {.is_part_of_gate = true}).find("\nfalsified all_"), 0U);
}

TEST(TableTextTest, FitsItsWidth) {
  Report report;
  report.findings = {sample_finding("poisson_conjugate_gradient_step", Verdict::passed),
                     sample_failure()};
  report.findings[0].unit.subject = "a_subject_with_quite_a_long_name";
  report.findings[0].cases = 123456789;
  report.findings[0].refused_cells = {"f32/max"};
  const std::string text = table_text(report, {});
  EXPECT_LE(widest_line(text), text_columns_max) << text;
  EXPECT_NE(text.find("1 cell is not offered by their backends, see summary.md"), std::string::npos)
      << text;
}

TEST(TableTextTest, SaysWhyNothingCouldBeChecked) {
  Report report;
  report.findings = {sample_finding("broadcast", Verdict::skipped)};
  report.findings[0].reason = name(SkipReason::not_supported);
  report.findings[0].refusal = "hosts: they share a device";
  EXPECT_TRUE(table_text(report, {}).ends_with("1 unit was skipped: hosts: they share a device\n"));
  // Where something was checked, the reason is in summary.md.
  report.findings.push_back(sample_finding("all_reduce", Verdict::passed));
  EXPECT_EQ(table_text(report, {}).find("they share"), std::string::npos);
}

}  // namespace
}  // namespace rankcheck::harness
