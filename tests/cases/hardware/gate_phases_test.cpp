#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cases/hardware/gate.hpp"
#include "tests/cases/hardware/gate_fixture.hpp"

/// What the gate makes of phases that have gaps.
namespace rankcheck::cases::hardware {
namespace {

using harness::Finding;
using harness::Verdict;

/// Returns the finding of a unit whose time was over before its first case.
Finding finding_without_a_case() {
  Finding finding = passing_phase({}).report.findings.front();
  finding.verdict = Verdict::vacuous;
  finding.reason = "nothing was compared in 0 cases";
  finding.missing_cells = {"f32/sum"};
  finding.cases = finding.compared_bytes = 0;
  return finding;
}

TEST_F(GateTest, SoakWithoutTimeForACaseIsNeitherRedNorGreen) {
  change(Phase::soak, [](PhaseOutcome& outcome) {
    outcome.report.findings = {finding_without_a_case()};
    outcome.report.ending = "time_over";
  });
  const GateReport gate = cannot_judge(1);
  EXPECT_EQ(outcome_of(phase_of(gate, "soak")), "skipped: no case was run: no time was left");
  EXPECT_EQ(gate.report.ending, "time_over");
  EXPECT_EQ(gate.failures, 0);
}

TEST_F(GateTest, CasesThatComparedNothingAddNoTestedVolume) {
  change(Phase::soak, [](PhaseOutcome& outcome) {
    outcome.report.findings.push_back(finding_without_a_case());
    outcome.report.findings.back().cases = 1'000'000;
  });
  const GateReport gate = passes(1);
  EXPECT_EQ(gate.cases, 600);
}

TEST_F(GateTest, SoakCountsTheCasesOfUnitsThatItDidNotCover) {
  change(Phase::soak, [](PhaseOutcome& outcome) {
    Finding& finding = outcome.report.findings.front();
    finding.verdict = Verdict::vacuous;
    finding.reason = "1 of 2 cells were not covered";
    finding.cells = {{"f32/sum", 100}};
    finding.missing_cells = {"f64/sum"};
  });
  const GateReport gate = passes(1);
  EXPECT_EQ(phase_of(gate, "soak").verdict, Verdict::passed);
  EXPECT_EQ(phase_of(gate, "soak").cases, 100);
  // Two links and the six parts that run suites.
  EXPECT_EQ(gate.report.findings.size(), 8U);
}

TEST_F(GateTest, CaseWithoutPowerIsRedInTheSoakToo) {
  change(Phase::soak, [](PhaseOutcome& outcome) {
    Finding& finding = outcome.report.findings.front();
    finding.verdict = Verdict::vacuous;
    finding.minimal = harness::Case();
  });
  fails(1);
}

TEST_F(GateTest, UncoveredSuitesAreRed) {
  change(Phase::suites, [](PhaseOutcome& outcome) {
    outcome.report.findings.push_back(finding_without_a_case());
  });
  const GateReport gate = fails(1);
  EXPECT_EQ(phase_of(gate, "suites").verdict, Verdict::vacuous);
}

/// A device's part runs smoke, which has its own time limit. A slow device may exceed the limit.
TEST_F(GateTest, PartThatItsSuiteCutOffIsNeitherRedNorGreen) {
  for (const bool is_last_cut_short : {false, true}) {
    change(Phase::device, [=](PhaseOutcome& outcome) {
      outcome.report.ending = "time_over";
      outcome.report.not_run = is_last_cut_short ? 0 : 3;
    });
    const GateReport gate = cannot_judge(2);
    EXPECT_EQ(gate.report.not_run, is_last_cut_short ? 0 : 3);
    EXPECT_EQ(outcome_of(phase_of(gate, "device 1")),
              "skipped: incomplete: its time limit was reached");
    EXPECT_EQ(gate.devices[1].verdict, Verdict::skipped);
  }
}

TEST_F(GateTest, UnitsOfAFurtherPartThatWereCutShortMakeNothingRed) {
  change(Phase::sanitizer, [](PhaseOutcome& outcome) {
    Finding& finding = outcome.report.findings.front();
    finding.verdict = Verdict::skipped;
    finding.reason = "time_over";
    finding.cells = {{"f64/sum", 3}};
    finding.missing_cells = {"f32/sum"};
    outcome.report.not_run = 3;
  });
  const GateReport gate = passes(1);
  EXPECT_EQ(gate.report.not_run, 0);
}

TEST_F(GateTest, PartWhoseUnitsAreAllSkippedHasJudgedNothing) {
  change(Phase::cuda, [](PhaseOutcome& outcome) {
    outcome.report.findings.front().verdict = Verdict::skipped;
    outcome.report.findings.front().reason = "over_budget";
  });
  cannot_judge(1);
}

TEST_F(GateTest, PhaseThatIsEndedBeforeItsFirstCaseIsNotRed) {
  std::vector<PhaseRequest> parts = made_up_parts(2);
  parts.push_back({.phase = Phase::soak});
  for (const PhaseRequest& part : parts) {
    for (const std::string ending : {"interrupted", "time_over"}) {
      SCOPED_TRACE(folder_of(part));
      phases_.clear();
      suites_ = [&](const PhaseRequest& request) {
        if (folder_of(request) != folder_of(part)) return passing_phase(request);
        return PhaseOutcome{.ended_early = ending};
      };
      const GateReport gate = cannot_judge(2);
      EXPECT_EQ(gate.report.ending, ending);
      // No later part is begun, but the report lists the remaining parts.
      EXPECT_EQ(folder_of(phases_.back()), folder_of(part));
      EXPECT_EQ(gate.phases.size(), 1 + parts.size());
      for (const DeviceVerdict& each : gate.devices) {
        if (part.phase == Phase::cuda) {
          EXPECT_EQ(each.reason, "not measured: the run ended before it");
        }
      }
    }
  }
}

TEST_F(GateTest, InterruptOfASoakThatJudgedSomethingIsNotGreen) {
  change(Phase::soak, [](PhaseOutcome& outcome) { outcome.ended_early = "interrupted"; });
  cannot_judge(1);
}

/// The second device's part ends after some of its units, which all passed.
TEST_F(GateTest, DeviceWhosePartIsInterruptedIsNotPassed) {
  change(Phase::device, [](PhaseOutcome& outcome) { outcome.ended_early = "interrupted"; });
  const GateReport gate = run(2);
  EXPECT_EQ(gate.devices[0].verdict, Verdict::passed);
  EXPECT_EQ(outcome_of(gate.devices[1]), "skipped: incomplete: the run ended before its end");
  EXPECT_EQ(phase_of(gate, "device 1").verdict, Verdict::skipped);
}

TEST_F(GateTest, PathThatAMachineLacksSaysNothingOfThoseThatItHas) {
  bool has_others = true;
  suites_ = [&has_others](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    if (request.phase == Phase::speed) return outcome;
    Finding lacking = outcome.report.findings.front();
    lacking.unit.algorithm = "ll128";
    lacking.verdict = Verdict::skipped;
    lacking.reason = "not_supported";
    lacking.cases = 0;
    if (!has_others && request.phase == Phase::suites) outcome.report.findings.clear();
    outcome.report.findings.insert(outcome.report.findings.begin(), lacking);
    return outcome;
  };
  passes(1);
  EXPECT_EQ(phase_of(run(1), "suites").verdict, Verdict::passed);
  has_others = false;
  const GateReport gate = cannot_judge(1);
  EXPECT_EQ(outcome_of(phase_of(gate, "suites")), "skipped: cuda: not_supported");
}

/// Returns a passing part with a further finding on nccl, which is skipped for `reason`.
PhaseOutcome phase_without_nccl(const PhaseRequest& request, const std::string& reason) {
  PhaseOutcome outcome = passing_phase(request);
  if (outcome.report.findings.empty()) return outcome;
  Finding& other = outcome.report.findings.emplace_back(outcome.report.findings.front());
  other.unit.backend = "nccl";
  other.verdict = Verdict::skipped;
  other.reason = reason;
  return outcome;
}

TEST_F(GateTest, BackendThatIsMissingBesideOneThatRunsIsNotGreen) {
  for (const char* why : {"backend_unavailable", "not_supported"}) {
    SCOPED_TRACE(why);
    suites_ = [=](const PhaseRequest& request) { return phase_without_nccl(request, why); };
    cannot_judge(1);
  }
}

TEST_F(GateTest, BackendThatIsMissingInOnePartIsNotGreen) {
  suites_ = [](const PhaseRequest& request) {
    PhaseOutcome outcome = phase_without_nccl(request, "backend_unavailable");
    if (request.phase != Phase::device && !outcome.report.findings.empty()) {
      outcome.report.findings.back().verdict = Verdict::passed;
    }
    return outcome;
  };
  cannot_judge(2);
}

/// Links are no cases of the backend cuda.
TEST_F(GateTest, BackendThatHasNothingButItsLinksIsNotGreen) {
  suites_ = [](const PhaseRequest& request) {
    PhaseOutcome outcome = phase_without_nccl(request, "not_supported");
    for (Finding& each : outcome.report.findings) {
      each.unit.backend = each.unit.backend == "cuda" ? "nccl" : "cuda";
    }
    return outcome;
  };
  cannot_judge(1);
}

/// Returns a passing part, or for the sanitizer's part that it is not installed.
PhaseOutcome phase_without_sanitizer(const PhaseRequest& request) {
  PhaseOutcome outcome;
  if (request.phase != Phase::sanitizer) return passing_phase(request);
  outcome.skipped = "compute-sanitizer is not installed";
  return outcome;
}

TEST_F(GateTest, HoldsOfTheBackendsThatWereAskedFor) {
  suites_ = [](const PhaseRequest& request) {
    PhaseOutcome outcome = phase_without_sanitizer(request);
    for (Finding& each : outcome.report.findings) each.unit.backend = "nccl";
    return outcome;
  };
  passes(1);
}

TEST_F(GateTest, KnownFailuresAreSaidAndDoNotCount) {
  bool is_known = true;
  change(Phase::nccl, [&](PhaseOutcome& outcome) {
    Finding& finding = outcome.report.findings.front();
    finding.verdict = Verdict::falsified;
    finding.reason = "wrong";
    finding.is_known = is_known;
  });
  const GateReport gate = passes(1);
  EXPECT_EQ(gate.failures, 0);
  EXPECT_EQ(outcome_of(phase_of(gate, "nccl 1 rank")), "passed: 1 check failed only as known");
  const std::string text = to_markdown(gate);
  EXPECT_TRUE(
      begins(text, "# rankcheck: the gate for hardware passed, but for what is known to fail"));
  EXPECT_TRUE(has(text, "600 cases judged, 2 checks failed only as known"));
  EXPECT_TRUE(to_json(gate)["case_failure_rate_bound"].is_null());
  is_known = false;
  fails(1);
}

TEST_F(GateTest, MissingSanitizerIsSaidAndNoFailure) {
  suites_ = phase_without_sanitizer;
  const GateReport gate = passes(1);
  EXPECT_TRUE(has(to_markdown(gate), "compute-sanitizer is not installed"));
}

}  // namespace
}  // namespace rankcheck::cases::hardware
