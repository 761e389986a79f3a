#include "cases/hardware/gate.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cases/hardware/made_up.hpp"

/// The gate over made-up devices, links and suites.
namespace rankcheck::cases::hardware {
namespace {

using gpu::cuda::Method;
using harness::Finding;
using harness::Verdict;

/// A machine whose links work correctly, except for the faults that a test plants.
class GateTest : public testing::Test {
 protected:
  GateReport run(int devices) { return run(made_up_devices(devices)); }

  GateReport run(const std::vector<Device>& devices) {
    const int count = static_cast<int>(devices.size());
    std::size_t soaks = 0;
    GateReport gate =
        run_gate({.seed = seed, .parts = made_up_parts(count), .bytes = 1024},
                 devices,
                 {.probe =
                      [this](const ProbeRequest& request) {
                        clock_ += 1;
                        requests.push_back(request);
                        return probe(request);
                      },
                  .run =
                      [this](const PhaseRequest& request) {
                        phases.push_back(request);
                        return suites(request);
                      },
                  .soak_s = [&] { return soaks < soaks_s.size() ? soaks_s[soaks++] : 0; },
                  .now_s = [this] { return clock_; },
                  .why_end = [this] { return why_end; },
                  .say = [this](const std::string& line) { said += line + '\n'; }});
    // The report's exit status and the process's exit status must agree.
    EXPECT_EQ(harness::to_json(gate.report).at("exit_status"), gate.status);
    return gate;
  }

  /// Makes one bit wrong in one copy over every link for which `chooses` holds.
  template <class Chooses>
  void plant(const Chooses& chooses) {
    probe = [chooses](const ProbeRequest& request) {
      ProbeOutcome outcome = good_probe(request);
      if (!chooses(request)) return outcome;
      outcome.result.wrong_copies = 1;
      outcome.result.wrong_bytes = 1;
      outcome.result.first_wrong = gpu::cuda::WrongWord{.index = 5, .expected = 1, .got = 3};
      return outcome;
    };
  }

  static std::set<std::pair<int, int>> red_links(const GateReport& gate) {
    std::set<std::pair<int, int>> red;
    for (const Link& each : gate.links) {
      if (harness::is_red(each.finding.verdict)) red.insert({each.from, each.to});
    }
    return red;
  }

  std::function<ProbeOutcome(const ProbeRequest&)> probe = good_probe;
  std::function<PhaseOutcome(const PhaseRequest&)> suites = passing_phase;
  std::string why_end;
  std::uint64_t seed = 1;
  std::vector<double> soaks_s{10};
  std::string said;
  std::vector<ProbeRequest> requests;
  std::vector<PhaseRequest> phases;

 private:
  double clock_ = 0;
};

TEST_F(GateTest, HoldsWhereEverythingWasRunAndHeld) {
  const GateReport gate = run(3);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  EXPECT_EQ(gate.links.size(), 18U);
  for (const DeviceVerdict& each : gate.devices) EXPECT_EQ(each.verdict, Verdict::passed);
  // The phases that reveal most come first.
  std::vector<std::string> names;
  for (const PhaseRequest& each : phases) names.push_back(folder_of(each));
  EXPECT_EQ(names,
            (std::vector<std::string>{"cuda",
                                      "nccl-1",
                                      "nccl-4",
                                      "speed",
                                      "sanitizer",
                                      "suites",
                                      "device-0",
                                      "device-1",
                                      "device-2",
                                      "soak"}));
  std::set<std::string> findings;
  for (const Finding& each : gate.report.findings) findings.insert(each.unit.id());
  EXPECT_EQ(findings.size(), gate.report.findings.size());
  // The suites have the names that their own reports have.
  EXPECT_TRUE(findings.contains("all_reduce/ring/cuda/agrees_with_reference")) << *findings.begin();
}

TEST_F(GateTest, ReachesEveryOrderedPairByBothMethods) {
  run(3);
  std::set<std::tuple<int, int, Method>> seen;
  for (const ProbeRequest& each : requests) seen.insert({each.from, each.to, each.probe.method});
  EXPECT_EQ(seen.size(), 18U);
  // There are random patterns besides all fixed ones.
  EXPECT_EQ(requests.front().probe.first, 0);
  EXPECT_GT(requests.front().probe.patterns, gpu::cuda::Pattern::fixed);
}

TEST_F(GateTest, FindsTheOneLinkThatCorrupts) {
  plant([](const ProbeRequest& request) { return request.from == 2 && request.to == 0; });
  const GateReport gate = run(3);
  EXPECT_EQ(gate.status, 1);
  EXPECT_EQ(red_links(gate), (std::set<std::pair<int, int>>{{2, 0}}));
  for (const Link& each : gate.links) {
    if (each.finding.verdict == Verdict::passed) continue;
    ASSERT_FALSE(each.finding.wrong.empty());
    EXPECT_EQ(each.finding.wrong[0].rank, 0);
    EXPECT_EQ(each.finding.wrong[0].index, 5);
    EXPECT_GT(each.volume.wrong_bytes, 0);
  }
  EXPECT_GT(gate.volume.wrong_bytes, 0);
  // One link is not enough to blame a device.
  for (const DeviceVerdict& each : gate.devices) EXPECT_EQ(each.verdict, Verdict::passed);
  EXPECT_NE(to_markdown(gate).find("does NOT hold"), std::string::npos);
}

TEST_F(GateTest, IsNotGreenWithTimesThatCannotBe) {
  probe = [](const ProbeRequest& request) {
    ProbeOutcome outcome = good_probe(request);
    if (request.from == 1 && request.to == 0) outcome.result.impossible_time = "no time";
    return outcome;
  };
  const GateReport gate = run(2);
  EXPECT_EQ(gate.status, 2);
  for (const Link& each : gate.links) {
    const bool is_it = each.from == 1 && each.to == 0;
    EXPECT_EQ(each.finding.verdict, is_it ? Verdict::errored : Verdict::passed);
    EXPECT_EQ(each.finding.reason, is_it ? "no time" : "");
  }
  // Wrong bytes tell more than impossible times, so they decide the verdict.
  probe = [](const ProbeRequest& request) {
    ProbeOutcome outcome = good_probe(request);
    outcome.result.impossible_time = "no time";
    outcome.result.wrong_copies = 1;
    return outcome;
  };
  EXPECT_EQ(run(2).links.front().finding.verdict, Verdict::falsified);
}

TEST_F(GateTest, FindsALinkThatCorruptsInTheSoakAlone) {
  plant([](const ProbeRequest& request) {
    return request.from == 0 && request.to == 1 && request.probe.first > 0;
  });
  const GateReport gate = run(2);
  EXPECT_EQ(gate.status, 1);
  EXPECT_EQ(red_links(gate), (std::set<std::pair<int, int>>{{0, 1}}));
}

TEST_F(GateTest, GoesOnToProbeALinkThatCorrupts) {
  plant([](const ProbeRequest&) { return true; });
  run(1);
  EXPECT_GT(requests.size(), 2U);
}

TEST_F(GateTest, GivesTheReasonOfTheFirstOfSeveralWrongLinks) {
  plant([](const ProbeRequest& request) { return request.from == 1; });
  EXPECT_EQ(run(2).phases.front().reason, "1 to 0: 1 of 40 copies are wrong, 1 bytes");
}

TEST_F(GateTest, BlamesTheDeviceThatAllWrongLinksShare) {
  plant([](const ProbeRequest& request) {
    return request.from != request.to && (request.from == 1 || request.to == 1);
  });
  const GateReport gate = run(3);
  EXPECT_EQ(gate.devices[1].verdict, Verdict::falsified);
  EXPECT_EQ(gate.devices[1].reason, "all 4 wrong links start or end at this device");
  EXPECT_EQ(gate.devices[0].verdict, Verdict::passed);
}

TEST_F(GateTest, BlamesNoDeviceWhereTwoAreSuspects) {
  plant([](const ProbeRequest& request) { return request.from + request.to == 1; });
  const GateReport gate = run(3);
  EXPECT_EQ(red_links(gate).size(), 2U);
  for (const DeviceVerdict& each : gate.devices) EXPECT_EQ(each.verdict, Verdict::passed);
}

TEST_F(GateTest, BlamesNoDeviceForLinksThatCouldNotBeProbed) {
  probe = [](const ProbeRequest& request) {
    if (request.from == request.to || request.from + request.to == 2) return good_probe(request);
    return ProbeOutcome{.verdict = Verdict::errored, .reason = "no answer"};
  };
  for (const DeviceVerdict& each : run(3).devices) EXPECT_EQ(each.verdict, Verdict::passed);
}

/// The copy equals the source, but the source lost what was written to it.
TEST_F(GateTest, BlamesTheDeviceThatLosesWhatWasWrittenToIt) {
  probe = [](const ProbeRequest& request) {
    ProbeOutcome outcome = good_probe(request);
    outcome.result.lost_sources = request.from == 1 && request.to == 0 ? 1 : 0;
    return outcome;
  };
  soaks_s = {20};
  const GateReport gate = run(2);
  EXPECT_EQ(gate.status, 1);
  EXPECT_EQ(gate.devices[0].verdict, Verdict::passed);
  EXPECT_EQ(gate.devices[1].verdict, Verdict::falsified);
  EXPECT_EQ(gate.devices[1].reason, "lost data that was written to it 2 times");
}

TEST_F(GateTest, BlamesADeviceForItsOwnMemory) {
  plant([](const ProbeRequest& request) { return request.from == 1 && request.to == 1; });
  const GateReport gate = run(2);
  EXPECT_EQ(gate.devices[1].verdict, Verdict::falsified);
  EXPECT_EQ(gate.devices[0].verdict, Verdict::passed);
  const std::string page = to_markdown(gate);
  for (const DeviceVerdict& each : gate.devices) {
    EXPECT_NE(page.find(": " + to_text(each.volume)), std::string::npos) << page;
  }
}

TEST_F(GateTest, BlamesADeviceOnWhichSuitesFailAlone) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    if (request.phase == Phase::device && request.device == 1) {
      outcome.report.findings.front().verdict = Verdict::crashed;
    }
    return outcome;
  };
  const GateReport gate = run(2);
  EXPECT_EQ(gate.status, 1);
  EXPECT_EQ(gate.devices[1].verdict, Verdict::crashed);
  EXPECT_EQ(gate.devices[0].verdict, Verdict::passed);
}

/// With several devices, the part does not say which of them is to blame.
TEST_F(GateTest, BlamesTheOnlyDeviceForWhatIsRedInAnyPart) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    if (request.phase == Phase::suites) {
      outcome.report.findings.front().verdict = Verdict::falsified;
    }
    return outcome;
  };
  const GateReport alone = run(1);
  EXPECT_EQ(alone.status, 1);
  EXPECT_EQ(alone.devices[0].verdict, Verdict::falsified);
  EXPECT_EQ(alone.failures, 1);
  EXPECT_TRUE(to_json(alone).at("case_failure_rate_bound").is_null());
  EXPECT_NE(to_markdown(alone).find("600 cases judged, 1 findings are red"), std::string::npos);
  const GateReport several = run(2);
  EXPECT_EQ(several.status, 1);
  for (const DeviceVerdict& each : several.devices) EXPECT_EQ(each.verdict, Verdict::passed);
}

TEST_F(GateTest, DeviceThatCannotBeOpenedAloneIsNotGreen) {
  suites = [](const PhaseRequest& request) {
    if (request.phase != Phase::device || request.device != 1) return passing_phase(request);
    PhaseOutcome outcome;
    outcome.broken = "the worker ended";
    return outcome;
  };
  const GateReport gate = run(2);
  EXPECT_EQ(gate.status, 2);
  EXPECT_EQ(gate.devices[1].verdict, Verdict::errored);
  EXPECT_EQ(gate.devices[1].reason, "the worker ended");
}

/// It may be absent, but what is there has to work.
TEST_F(GateTest, SanitizerThatCannotBeRunIsNotGreen) {
  suites = [](const PhaseRequest& request) {
    return request.phase == Phase::sanitizer ? PhaseOutcome{.broken = "the worker ended"}
                                             : passing_phase(request);
  };
  EXPECT_EQ(run(1).status, 2);
}

TEST_F(GateTest, LeavesALinkThatHangsAlone) {
  probe = [](const ProbeRequest& request) {
    if (request.from == request.to) return good_probe(request);
    return ProbeOutcome{.verdict = Verdict::hung, .reason = "no answer within 1 s"};
  };
  const GateReport gate = run(2);
  EXPECT_EQ(gate.status, 1);
  EXPECT_EQ(red_links(gate).size(), 2U);
  int asked = 0;
  for (const ProbeRequest& each : requests) asked += each.from != each.to ? 1 : 0;
  EXPECT_EQ(asked, 4);
}

TEST_F(GateTest, LinkThatIsClosedIsNotSupported) {
  probe = [](const ProbeRequest& request) {
    if (request.from == request.to) return good_probe(request);
    return ProbeOutcome{.verdict = Verdict::skipped, .reason = "no way from 0 to 1"};
  };
  const GateReport gate = run(2);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  for (const Link& each : gate.links) {
    EXPECT_EQ(each.finding.reason, each.from == each.to ? "" : "not_supported");
  }
}

/// In the soak, further probes run at the same time as nothing else does, but on warm devices.
TEST_F(GateTest, SpeedAndWayOfALinkAreThoseOfItsFirstProbe) {
  probe = [](const ProbeRequest& request) {
    if (request.probe.first > 0) return ProbeOutcome{.verdict = Verdict::crashed, .reason = "died"};
    ProbeOutcome outcome = good_probe(request);
    outcome.result.way = gpu::cuda::Way::peer;
    // One copy was disturbed.
    outcome.result.seconds.front() = 1;
    return outcome;
  };
  for (const Link& each : run(1).links) {
    EXPECT_DOUBLE_EQ(each.gigabytes_per_s(), 1.024);
    EXPECT_EQ(each.way, gpu::cuda::Way::peer);
  }
  probe = [](const ProbeRequest& request) {
    ProbeOutcome outcome = good_probe(request);
    if (request.probe.first > 0) outcome.result.seconds.assign(4, 1);
    return outcome;
  };
  EXPECT_DOUBLE_EQ(run(1).links.front().gigabytes_per_s(), 1.024);
}

TEST_F(GateTest, ProbeThatComparesNothingIsVacuous) {
  probe = [](const ProbeRequest&) { return ProbeOutcome{}; };
  const GateReport gate = run(1);
  EXPECT_EQ(gate.status, 1);
  EXPECT_EQ(gate.links.front().finding.verdict, Verdict::vacuous);
  EXPECT_EQ(gate.volume.patterns, 0);
  probe = [](const ProbeRequest& request) {
    ProbeOutcome outcome = good_probe(request);
    outcome.result.bytes_of_copy = 0;
    return outcome;
  };
  EXPECT_EQ(run(1).links.front().finding.verdict, Verdict::vacuous);
}

TEST_F(GateTest, SuitesThatRunNothingAreVacuous) {
  suites = [](const PhaseRequest& request) {
    return request.phase == Phase::suites ? PhaseOutcome{} : passing_phase(request);
  };
  EXPECT_EQ(run(1).status, 1);
  // No device is blamed here.
  EXPECT_EQ(run(2).status, 1);
}

TEST_F(GateTest, SoakThatEndsWithoutACaseIsVacuous) {
  suites = [](const PhaseRequest& request) {
    if (request.phase != Phase::soak) return passing_phase(request);
    PhaseOutcome outcome;
    outcome.report.ending = "completed";
    return outcome;
  };
  EXPECT_EQ(run(1).status, 1);
}

/// Returns the finding of a unit whose time was over before its first case.
Finding finding_without_a_case(const PhaseRequest& request) {
  Finding finding = passing_phase(request).report.findings.front();
  finding.verdict = Verdict::vacuous;
  finding.reason = "nothing was compared in 0 cases";
  finding.missing_cells = {"f32/sum"};
  finding.cases = finding.compared_bytes = 0;
  return finding;
}

PhaseSummary phase_of(const GateReport& gate, const std::string& name) {
  for (const PhaseSummary& each : gate.phases) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << "no phase " << name;
  return {};
}

TEST_F(GateTest, SoakWithoutTimeForACaseIsNeitherRedNorGreen) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    if (request.phase != Phase::soak) return outcome;
    outcome.report.findings = {finding_without_a_case(request)};
    outcome.report.ending = "time_over";
    return outcome;
  };
  const GateReport gate = run(1);
  EXPECT_EQ(gate.status, 2);
  EXPECT_EQ(phase_of(gate, "soak").verdict, Verdict::skipped);
  EXPECT_EQ(phase_of(gate, "soak").reason, "no case was run: no time was left");
  EXPECT_EQ(gate.report.ending, "time_over");
  EXPECT_EQ(gate.failures, 0);
}

TEST_F(GateTest, CasesThatComparedNothingAreNoExposure) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    if (request.phase != Phase::soak) return outcome;
    outcome.report.findings.push_back(finding_without_a_case(request));
    outcome.report.findings.back().cases = 1'000'000;
    return outcome;
  };
  const GateReport gate = run(1);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  EXPECT_EQ(gate.cases, 600);
}

TEST_F(GateTest, SoakCountsTheCasesOfUnitsThatItDidNotCover) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    if (request.phase != Phase::soak) return outcome;
    Finding& finding = outcome.report.findings.front();
    finding.verdict = Verdict::vacuous;
    finding.reason = "1 of 2 cells were not covered";
    finding.cells = {{"f32/sum", 100}};
    finding.missing_cells = {"f64/sum"};
    return outcome;
  };
  const GateReport gate = run(1);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  EXPECT_EQ(phase_of(gate, "soak").verdict, Verdict::passed);
  EXPECT_EQ(phase_of(gate, "soak").cases, 100);
  // Two links and the six parts that run suites.
  EXPECT_EQ(gate.report.findings.size(), 8U);
}

TEST_F(GateTest, CaseWithoutPowerIsRedInTheSoakToo) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    if (request.phase != Phase::soak) return outcome;
    Finding& finding = outcome.report.findings.front();
    finding.verdict = Verdict::vacuous;
    finding.minimal = harness::Case();
    return outcome;
  };
  EXPECT_EQ(run(1).status, 1);
}

TEST_F(GateTest, UncoveredSuitesAreRed) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    if (request.phase == Phase::suites) {
      outcome.report.findings.push_back(finding_without_a_case(request));
    }
    return outcome;
  };
  const GateReport gate = run(1);
  EXPECT_EQ(gate.status, 1);
  EXPECT_EQ(phase_of(gate, "suites").verdict, Verdict::vacuous);
}

/// A device's part runs smoke, which has its own time limit. A slow device may exceed the limit.
TEST_F(GateTest, PartThatItsSuiteCutOffIsNeitherRedNorGreen) {
  for (const bool is_last_cut_short : {false, true}) {
    suites = [=](const PhaseRequest& request) {
      PhaseOutcome outcome = passing_phase(request);
      if (request.phase != Phase::device || request.device != 1) return outcome;
      outcome.report.ending = "time_over";
      outcome.report.not_run = is_last_cut_short ? 0 : 3;
      return outcome;
    };
    const GateReport gate = run(2);
    EXPECT_EQ(gate.status, 2);
    EXPECT_EQ(gate.report.not_run, is_last_cut_short ? 0 : 3);
    EXPECT_EQ(phase_of(gate, "device 1").verdict, Verdict::skipped);
    EXPECT_EQ(phase_of(gate, "device 1").reason, "incomplete: its time limit was reached");
    EXPECT_EQ(gate.devices[1].verdict, Verdict::skipped);
  }
}

TEST_F(GateTest, UnitsOfAFurtherPartThatWereCutShortMakeNothingRed) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    if (request.phase != Phase::sanitizer) return outcome;
    Finding& finding = outcome.report.findings.front();
    finding.verdict = Verdict::skipped;
    finding.reason = "time_over";
    finding.cells = {{"f64/sum", 3}};
    finding.missing_cells = {"f32/sum"};
    outcome.report.not_run = 3;
    return outcome;
  };
  const GateReport gate = run(1);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  EXPECT_EQ(gate.report.not_run, 0);
}

TEST_F(GateTest, PartWhoseUnitsAreAllSkippedHasJudgedNothing) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    if (request.phase != Phase::cuda) return outcome;
    outcome.report.findings.front().verdict = Verdict::skipped;
    outcome.report.findings.front().reason = "over_budget";
    return outcome;
  };
  EXPECT_EQ(run(1).status, 2);
}

TEST_F(GateTest, PhaseThatIsEndedBeforeItsFirstCaseIsNotRed) {
  std::vector<PhaseRequest> parts = made_up_parts(2);
  parts.push_back({.phase = Phase::soak});
  for (const PhaseRequest& part : parts) {
    for (const std::string ending : {"interrupted", "time_over"}) {
      phases.clear();
      suites = [&](const PhaseRequest& request) {
        if (folder_of(request) != folder_of(part)) return passing_phase(request);
        return PhaseOutcome{.ended_early = ending};
      };
      const GateReport gate = run(2);
      EXPECT_EQ(gate.status, 2) << folder_of(part);
      EXPECT_EQ(gate.report.ending, ending) << folder_of(part);
      // No later part is begun, but the report lists the remaining parts.
      EXPECT_EQ(folder_of(phases.back()), folder_of(part));
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
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    if (request.phase == Phase::soak) outcome.ended_early = "interrupted";
    return outcome;
  };
  EXPECT_EQ(run(1).status, 2);
}

/// The second device's part ends after some of its units, which all passed.
TEST_F(GateTest, DeviceWhosePartIsInterruptedIsNotPassed) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    if (request.phase == Phase::device && request.device == 1) outcome.ended_early = "interrupted";
    return outcome;
  };
  const GateReport gate = run(2);
  EXPECT_EQ(gate.devices[0].verdict, Verdict::passed);
  EXPECT_EQ(gate.devices[1].verdict, Verdict::skipped);
  EXPECT_EQ(gate.devices[1].reason, "incomplete: the run ended before its end");
  EXPECT_EQ(phase_of(gate, "device 1").verdict, Verdict::skipped);
}

TEST_F(GateTest, PathThatAMachineLacksSaysNothingOfThoseThatItHas) {
  bool has_others = true;
  suites = [&has_others](const PhaseRequest& request) {
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
  EXPECT_EQ(run(1).status, 0);
  EXPECT_EQ(phase_of(run(1), "suites").verdict, Verdict::passed);
  has_others = false;
  const GateReport gate = run(1);
  EXPECT_EQ(gate.status, 2);
  EXPECT_EQ(phase_of(gate, "suites").verdict, Verdict::skipped);
  EXPECT_EQ(phase_of(gate, "suites").reason, "cuda: not_supported");
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
  suites = [](const PhaseRequest& request) {
    return phase_without_nccl(request, "backend_unavailable");
  };
  EXPECT_EQ(run(1).status, 2);
}

TEST_F(GateTest, BackendOnWhichNothingCouldBeRunIsNotGreen) {
  suites = [](const PhaseRequest& request) { return phase_without_nccl(request, "not_supported"); };
  EXPECT_EQ(run(1).status, 2);
}

TEST_F(GateTest, BackendThatIsMissingInOnePartIsNotGreen) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = phase_without_nccl(request, "backend_unavailable");
    if (request.phase != Phase::device && !outcome.report.findings.empty()) {
      outcome.report.findings.back().verdict = Verdict::passed;
    }
    return outcome;
  };
  EXPECT_EQ(run(2).status, 2);
}

/// Links are no cases of the backend cuda.
TEST_F(GateTest, BackendThatHasNothingButItsLinksIsNotGreen) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = phase_without_nccl(request, "not_supported");
    for (Finding& each : outcome.report.findings) {
      each.unit.backend = each.unit.backend == "cuda" ? "nccl" : "cuda";
    }
    return outcome;
  };
  EXPECT_EQ(run(1).status, 2);
}

/// Returns a passing part, or for the sanitizer's part that it is not installed.
PhaseOutcome phase_without_sanitizer(const PhaseRequest& request) {
  PhaseOutcome outcome;
  if (request.phase != Phase::sanitizer) return passing_phase(request);
  outcome.skipped = "compute-sanitizer is not installed";
  return outcome;
}

TEST_F(GateTest, HoldsOfTheBackendsThatWereAskedFor) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = phase_without_sanitizer(request);
    for (Finding& each : outcome.report.findings) each.unit.backend = "nccl";
    return outcome;
  };
  EXPECT_EQ(run(1).status, 0);
}

TEST_F(GateTest, MissingSanitizerIsSaidAndNoFailure) {
  suites = phase_without_sanitizer;
  const GateReport gate = run(1);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  EXPECT_NE(to_markdown(gate).find("compute-sanitizer is not installed"), std::string::npos);
}

TEST_F(GateTest, AddsUpWhatItWasExposedTo) {
  const GateReport gate = run(1);
  std::int64_t bytes = 0;
  std::int64_t patterns = 0;
  for (const ProbeRequest& each : requests) {
    bytes += each.bytes * each.probe.patterns * each.probe.repeats;
    patterns += each.probe.patterns;
  }
  EXPECT_EQ(gate.volume.bytes, bytes);
  EXPECT_EQ(gate.volume.patterns, patterns);
  EXPECT_EQ(gate.volume.copies, 4 * patterns);
  EXPECT_EQ(phase_of(gate, "links").cases, 4 * patterns);
  EXPECT_EQ(gate.devices[0].volume.bytes, bytes);
  EXPECT_EQ(gate.cases, 600);
  EXPECT_DOUBLE_EQ(to_json(gate).at("case_failure_rate_bound"), error_rate_bound(0, 600));
  EXPECT_DOUBLE_EQ(gate.links[0].gigabytes_per_s(), 1.024);
}

TEST_F(GateTest, SoakEndsWhereNoLinkAnswersAnyMore) {
  probe = [](const ProbeRequest& request) {
    if (request.probe.first == 0) return good_probe(request);
    return ProbeOutcome{.verdict = Verdict::crashed, .reason = "died"};
  };
  const GateReport gate = run(1);
  EXPECT_EQ(gate.status, 1);
  EXPECT_EQ(requests.size(), 4U);
}

TEST_F(GateTest, SoaksOfTwoSeedsReachLinksForWhichOneHasNoTime) {
  std::set<std::tuple<int, int, Method>> reached;
  for (const std::uint64_t each : {1U, 5U}) {
    seed = each;
    run(2);
    EXPECT_NE(said.find("soak: each of 8 links was probed 0 to 1 times"), std::string::npos)
        << said;
    for (const ProbeRequest& request : requests) {
      if (request.probe.first > 0) reached.insert({request.from, request.to, request.probe.method});
    }
  }
  EXPECT_EQ(reached.size(), 8U);
}

TEST_F(GateTest, SoakThatIsToTakeLongerGoesOnAtTheNextLink) {
  soaks_s = {10, 10};
  const GateReport gate = run(2);
  std::vector<std::tuple<int, int, Method>> probed;
  for (const ProbeRequest& each : requests) {
    if (each.probe.first > 0) probed.emplace_back(each.from, each.to, each.probe.method);
  }
  ASSERT_EQ(probed.size(), 10U);
  EXPECT_EQ(std::set(probed.begin(), probed.begin() + 8).size(), 8U);
  EXPECT_EQ(probed[8], probed[0]);
  EXPECT_NE(said.find("soak: each of 8 links was probed 1 to 2 times"), std::string::npos) << said;
  // The soak's suites are one run, which is resumed. The phases are six parts, two devices and the
  // soak twice.
  ASSERT_EQ(phases.size(), 10U);
  EXPECT_EQ(phases[8].budget_s, 5);
  EXPECT_EQ(phases[9].budget_s, 10);
  EXPECT_EQ(gate.cases, 800);
}

TEST_F(GateTest, NoTwoProbesShareTheirRandomPatterns) {
  run(1);
  std::set<std::tuple<Method, std::uint64_t>> seeds;
  for (const ProbeRequest& each : requests) seeds.insert({each.probe.method, each.probe.seed});
  EXPECT_EQ(seeds.size(), requests.size());
  EXPECT_GT(requests.size(), 2U);
}

TEST_F(GateTest, SaysNothingOfHardwareWhereThereIsNone) {
  std::vector<Device> devices = made_up_devices(2);
  devices.back().memory = "host";
  const GateReport gate = run(devices);
  EXPECT_EQ(gate.devices.front().verdict, Verdict::passed);
  EXPECT_EQ(gate.devices.back().verdict, Verdict::skipped);
  EXPECT_EQ(gate.devices.back().reason, "not hardware: host");
  EXPECT_EQ(gate.status, 2);
  EXPECT_TRUE(to_json(gate).at("exposure").at("error_rate_bound").is_null());
  EXPECT_TRUE(to_json(gate).at("case_failure_rate_bound").is_null());
  EXPECT_TRUE(to_json(gate).at("speeds")[0].at("met").is_null());
  EXPECT_NE(to_markdown(gate).find("| 30 | at least 20 | - |"), std::string::npos);
  EXPECT_EQ(to_markdown(gate).find("rule of three"), std::string::npos);
}

TEST_F(GateTest, EndsWhenItIsInterrupted) {
  why_end = "interrupted";
  const GateReport gate = run(2);
  EXPECT_EQ(gate.status, 2);
  EXPECT_EQ(gate.report.ending, "interrupted");
  EXPECT_TRUE(requests.empty());
  EXPECT_TRUE(phases.empty());
}

TEST_F(GateTest, WithoutASoakIsNotWhole) {
  soaks_s.clear();
  const GateReport gate = run(1);
  EXPECT_EQ(gate.status, 2);
  EXPECT_EQ(gate.report.ending, "time_over");
}

/// Probes take a second each. Five probes use up the soak's time, so its suites get none.
TEST_F(GateTest, SoakWhoseLinksTakeAllItsTimeHasNoSuites) {
  soaks_s = {1, 10};
  EXPECT_EQ(run(2).status, 0);
  EXPECT_EQ(phases.back().budget_s, 5);
  soaks_s = {1};
  const GateReport gate = run(2);
  EXPECT_EQ(gate.status, 2);
  EXPECT_EQ(phase_of(gate, "soak").reason, "no case was run: no time was left");
  // A further call resumes the soak.
  EXPECT_EQ(gate.report.ending, "time_over");
}

TEST_F(GateTest, SpeedIsToldAndNotJudged) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    for (Speed& each : outcome.speeds) each.value = 10;
    return outcome;
  };
  const GateReport gate = run(1);
  EXPECT_EQ(gate.status, 0);
  ASSERT_EQ(gate.speeds.size(), 1U);
  EXPECT_EQ(to_json(gate).at("speeds")[0].at("met"), false);
  EXPECT_EQ(to_json(gate).at("speeds")[0].at("at_least"), 20);
  EXPECT_NE(to_markdown(gate).find("| cases/cuda | cases_per_second | 10 | at least 20 | no |"),
            std::string::npos)
      << to_markdown(gate);
}

TEST_F(GateTest, SpeedThatCouldNotBeMeasuredIsNotGreen) {
  suites = [](const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    for (Speed& each : outcome.speeds) each.failure = "no memory";
    return outcome;
  };
  const GateReport gate = run(1);
  EXPECT_EQ(gate.status, 2);
  EXPECT_EQ(phase_of(gate, "speed").verdict, Verdict::errored);
  EXPECT_EQ(phase_of(gate, "speed").reason, "cases/cuda: no memory");
  EXPECT_TRUE(to_json(gate).at("speeds")[0].at("value").is_null());
}

TEST_F(GateTest, SaysPassedOfNothingThatAnInterruptLeftOut) {
  probe = [this](const ProbeRequest& request) {
    why_end = "interrupted";
    return good_probe(request);
  };
  const GateReport gate = run(2);
  EXPECT_EQ(gate.links.front().finding.verdict, Verdict::passed);
  for (std::size_t i = 1; i < gate.links.size(); ++i) {
    EXPECT_EQ(gate.links[i].finding.verdict, Verdict::skipped) << i;
  }
  for (const DeviceVerdict& each : gate.devices) EXPECT_EQ(each.verdict, Verdict::skipped);
  EXPECT_EQ(gate.phases.front().verdict, Verdict::skipped);
  EXPECT_EQ(gate.report.not_run, 7);
  EXPECT_EQ(gate.report.findings.size(), 1U);
}

TEST(ProbeTest, RequestsAndResultsSurviveTheirJson) {
  const ProbeRequest request{
      .from = 1,
      .to = 2,
      .bytes = 64,
      .probe = {.method = Method::load, .seed = 3, .first = 4, .patterns = 5, .repeats = 6}};
  EXPECT_EQ(to_json(request_from_json(to_json(request))), to_json(request));
  nlohmann::json changed = to_json(request);
  changed["more"] = 1;
  EXPECT_THROW((void)request_from_json(changed), harness::BadInput);
  changed = to_json(request);
  changed["to"] = -1;
  EXPECT_THROW((void)request_from_json(changed), harness::BadInput);
  gpu::cuda::LinkResult result{.way = gpu::cuda::Way::peer,
                               .bytes_of_copy = 8,
                               .copies = 2,
                               .wrong_copies = 1,
                               .wrong_bytes = 3,
                               .first_wrong = gpu::cuda::WrongWord{7, ~std::uint64_t{0}, 1},
                               .first_wrong_pattern = 2,
                               .lost_sources = 1,
                               .seconds = {0.25, 0.5},
                               .impossible_time = "no time"};
  EXPECT_EQ(to_json(result_from_json(to_json(result))), to_json(result));
  result.first_wrong.reset();
  EXPECT_EQ(to_json(result_from_json(to_json(result))), to_json(result));
}

TEST(ProbeTest, DevicesSurviveTheirJson) {
  for (const std::string memory : {"", "host"}) {
    const Device device{
        .name = "n", .bus = "b", .capability = "9.0", .memory_bytes = 7, .memory = memory};
    EXPECT_EQ(device_from_json(to_json(device)).memory, memory);
    EXPECT_EQ(to_json(device_from_json(to_json(device))), to_json(device));
  }
}

/// Returns the verdict of a probe whose worker is this program.
Verdict verdict_of(const std::string& program, double timeout_s) {
  return run_probe({.arguments = {program}, .environment = {}}, timeout_s).verdict;
}

TEST(ProbeTest, WorkerMaySkipIt) {
  const ProbeOutcome outcome =
      run_probe({.arguments = {"/bin/echo", R"({"skipped":"no way"})"}, .environment = {}}, 5);
  EXPECT_EQ(outcome.verdict, Verdict::skipped);
  EXPECT_EQ(outcome.reason, "no way");
}

TEST(ProbeTest, TellsHowAProbeEnded) {
  const std::string path = testing::TempDir() + "rankcheck-probe-that-hangs";
  std::ofstream(path) << "#!/bin/sh\nexec sleep 60\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  EXPECT_EQ(verdict_of(path, 0.05), Verdict::hung);
  std::filesystem::remove(path);
  EXPECT_EQ(verdict_of("/bin/false", 5), Verdict::crashed);
  EXPECT_EQ(verdict_of("/bin/true", 5), Verdict::errored);
  EXPECT_EQ(verdict_of("/does/not/exist", 5), Verdict::errored);
}

}  // namespace
}  // namespace rankcheck::cases::hardware
