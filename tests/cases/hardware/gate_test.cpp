#include "cases/hardware/gate.hpp"

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cases/hardware/gate_fixture.hpp"

/// The gate's verdicts on links and devices, its soak and its endings.
namespace rankcheck::cases::hardware {
namespace {

using gpu::cuda::Method;
using harness::Finding;
using harness::Verdict;

TEST_F(GateTest, HoldsWhereEverythingWasRunAndHeld) {
  const GateReport gate = passes(3);
  EXPECT_EQ(gate.links.size(), 18U);
  for (const DeviceVerdict& each : gate.devices) EXPECT_EQ(each.verdict, Verdict::passed);
  // The phases that reveal most come first.
  std::string names;
  for (const PhaseRequest& each : phases_) names += folder_of(each) + ' ';
  EXPECT_EQ(names, "cuda nccl-1 nccl-4 speed sanitizer suites device-0 device-1 device-2 soak ");
  std::set<std::string> findings;
  for (const Finding& each : gate.report.findings) findings.insert(each.unit.id());
  EXPECT_EQ(findings.size(), gate.report.findings.size());
  // The suites have the names that their own reports have.
  EXPECT_TRUE(findings.contains("all_reduce/ring/cuda/agrees_with_reference")) << *findings.begin();
}

TEST_F(GateTest, ReachesEveryOrderedPairByBothMethods) {
  run(3);
  std::set<std::tuple<int, int, Method>> seen;
  for (const ProbeRequest& each : requests_) seen.insert({each.from, each.to, each.probe.method});
  EXPECT_EQ(seen.size(), 18U);
  // There are random patterns besides all fixed ones.
  EXPECT_EQ(requests_.front().probe.first, 0);
  EXPECT_GT(requests_.front().probe.patterns, gpu::cuda::Pattern::fixed);
}

TEST_F(GateTest, FindsTheOneLinkThatCorrupts) {
  plant([](const ProbeRequest& request) { return request.from == 2 && request.to == 0; });
  const GateReport gate = fails(3);
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
  EXPECT_TRUE(has(to_markdown(gate), "FAILED"));
}

TEST_F(GateTest, IsNotGreenWithTimesThatCannotBe) {
  change_probes([](const ProbeRequest& request, ProbeOutcome& outcome) {
    if (request.from == 1 && request.to == 0) outcome.result.impossible_time = "no time";
  });
  const GateReport gate = cannot_judge(2);
  for (const Link& each : gate.links) {
    const bool is_it = each.from == 1 && each.to == 0;
    EXPECT_EQ(outcome_of(each.finding), is_it ? "errored: no time" : "passed");
  }
  // Wrong bytes tell more than impossible times, so they decide the verdict.
  change_probes([](const ProbeRequest&, ProbeOutcome& outcome) {
    outcome.result.impossible_time = "no time";
    outcome.result.wrong_copies = 1;
  });
  EXPECT_EQ(run(2).links.front().finding.verdict, Verdict::falsified);
}

TEST_F(GateTest, FindsALinkThatCorruptsInTheSoakAlone) {
  plant([](const ProbeRequest& request) {
    return request.from == 0 && request.to == 1 && request.probe.first > 0;
  });
  const GateReport gate = fails(2);
  EXPECT_EQ(red_links(gate), (std::set<std::pair<int, int>>{{0, 1}}));
}

TEST_F(GateTest, GoesOnToProbeALinkThatCorrupts) {
  plant([](const ProbeRequest&) { return true; });
  run(1);
  EXPECT_GT(requests_.size(), 2U);
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
  EXPECT_EQ(outcome_of(gate.devices[1]),
            "falsified: all 4 wrong links start or end at this device");
  EXPECT_EQ(gate.devices[0].verdict, Verdict::passed);
}

TEST_F(GateTest, BlamesNoDeviceWhereTwoAreSuspects) {
  plant([](const ProbeRequest& request) { return request.from + request.to == 1; });
  const GateReport gate = run(3);
  EXPECT_EQ(red_links(gate).size(), 2U);
  for (const DeviceVerdict& each : gate.devices) EXPECT_EQ(each.verdict, Verdict::passed);
}

TEST_F(GateTest, BlamesNoDeviceForLinksThatCouldNotBeProbed) {
  probe_ = [](const ProbeRequest& request) {
    if (request.from == request.to || request.from + request.to == 2) return good_probe(request);
    return ProbeOutcome{.verdict = Verdict::errored, .reason = "no answer"};
  };
  for (const DeviceVerdict& each : run(3).devices) EXPECT_EQ(each.verdict, Verdict::passed);
}

/// The copy equals the source, but the source lost what was written to it.
TEST_F(GateTest, BlamesTheDeviceThatLosesWhatWasWrittenToIt) {
  change_probes([](const ProbeRequest& request, ProbeOutcome& outcome) {
    outcome.result.lost_sources = request.from == 1 && request.to == 0 ? 1 : 0;
  });
  soaks_s_ = {20};
  const GateReport gate = fails(2);
  EXPECT_EQ(gate.devices[0].verdict, Verdict::passed);
  EXPECT_EQ(outcome_of(gate.devices[1]), "falsified: lost data that was written to it 2 times");
}

TEST_F(GateTest, BlamesADeviceForItsOwnMemory) {
  plant([](const ProbeRequest& request) { return request.from == 1 && request.to == 1; });
  const GateReport gate = run(2);
  EXPECT_EQ(gate.devices[1].verdict, Verdict::falsified);
  EXPECT_EQ(gate.devices[0].verdict, Verdict::passed);
  for (const DeviceVerdict& each : gate.devices) {
    EXPECT_TRUE(has(to_markdown(gate), ": " + to_text(each.volume)));
  }
}

TEST_F(GateTest, BlamesADeviceOnWhichSuitesFailAlone) {
  change(Phase::device,
         [](PhaseOutcome& outcome) { outcome.report.findings.front().verdict = Verdict::crashed; });
  const GateReport gate = fails(2);
  EXPECT_EQ(gate.devices[1].verdict, Verdict::crashed);
  EXPECT_EQ(gate.devices[0].verdict, Verdict::passed);
}

/// With several devices, the part does not say which of them is to blame.
TEST_F(GateTest, BlamesTheOnlyDeviceForWhatIsRedInAnyPart) {
  change(Phase::suites, [](PhaseOutcome& outcome) {
    outcome.report.findings.front().verdict = Verdict::falsified;
  });
  const GateReport alone = fails(1);
  EXPECT_EQ(alone.devices[0].verdict, Verdict::falsified);
  EXPECT_EQ(alone.failures, 1);
  EXPECT_TRUE(to_json(alone).at("case_failure_rate_bound").is_null());
  EXPECT_TRUE(has(to_markdown(alone), "600 cases judged, 1 findings are red"));
  const GateReport several = fails(2);
  for (const DeviceVerdict& each : several.devices) EXPECT_EQ(each.verdict, Verdict::passed);
}

TEST_F(GateTest, DeviceThatCannotBeOpenedAloneIsNotGreen) {
  change(Phase::device, [](PhaseOutcome& outcome) { outcome = {.broken = "the worker ended"}; });
  const GateReport gate = cannot_judge(2);
  EXPECT_EQ(outcome_of(gate.devices[1]), "errored: the worker ended");
}

/// It may be absent, but what is there has to work.
TEST_F(GateTest, SanitizerThatCannotBeRunIsNotGreen) {
  change(Phase::sanitizer, [](PhaseOutcome& outcome) { outcome = {.broken = "gone"}; });
  cannot_judge(1);
}

TEST_F(GateTest, LeavesALinkThatHangsAlone) {
  probe_ = [](const ProbeRequest& request) {
    if (request.from == request.to) return good_probe(request);
    return ProbeOutcome{.verdict = Verdict::hung, .reason = "no answer within 1 s"};
  };
  const GateReport gate = fails(2);
  EXPECT_EQ(red_links(gate).size(), 2U);
  int asked = 0;
  for (const ProbeRequest& each : requests_) asked += each.from != each.to ? 1 : 0;
  EXPECT_EQ(asked, 4);
}

TEST_F(GateTest, LinkThatIsClosedIsNotSupported) {
  probe_ = [](const ProbeRequest& request) {
    if (request.from == request.to) return good_probe(request);
    return ProbeOutcome{.verdict = Verdict::skipped, .reason = "no way from 0 to 1"};
  };
  const GateReport gate = passes(2);
  for (const Link& each : gate.links) {
    EXPECT_EQ(each.finding.reason, each.from == each.to ? "" : "not_supported");
  }
}

/// In the soak, further probes run at the same time as nothing else does, but on warm devices.
TEST_F(GateTest, SpeedAndWayOfALinkAreThoseOfItsFirstProbe) {
  change_probes([](const ProbeRequest& request, ProbeOutcome& outcome) {
    outcome.result.way = gpu::cuda::Way::peer;
    // One copy was disturbed.
    outcome.result.seconds.front() = 1;
    if (request.probe.first > 0) outcome = {.verdict = Verdict::crashed, .reason = "died"};
  });
  const GateReport gate = run(1);
  for (const Link& each : gate.links) {
    EXPECT_DOUBLE_EQ(each.gigabytes_per_s(), 1.024);
    EXPECT_EQ(each.way, gpu::cuda::Way::peer);
  }
  EXPECT_EQ(to_json(gate).at("links")[0].at("copy_s"), gate.links[0].spread_s());
  change_probes([](const ProbeRequest& request, ProbeOutcome& outcome) {
    if (request.probe.first > 0) outcome.result.seconds.assign(4, 1);
  });
  EXPECT_DOUBLE_EQ(run(1).links.front().gigabytes_per_s(), 1.024);
}

TEST_F(GateTest, ProbeThatComparesNothingIsVacuous) {
  probe_ = [](const ProbeRequest&) { return ProbeOutcome{}; };
  const GateReport gate = fails(1);
  EXPECT_EQ(gate.links.front().finding.verdict, Verdict::vacuous);
  EXPECT_EQ(gate.volume.patterns, 0);
  change_probes(
      [](const ProbeRequest&, ProbeOutcome& outcome) { outcome.result.bytes_of_copy = 0; });
  EXPECT_EQ(run(1).links.front().finding.verdict, Verdict::vacuous);
}

TEST_F(GateTest, SuitesThatRunNothingAreVacuous) {
  change(Phase::suites, [](PhaseOutcome& outcome) { outcome = {}; });
  fails(1);
  // No device is blamed here.
  fails(2);
}

TEST_F(GateTest, SoakThatEndsWithoutACaseIsVacuous) {
  change(Phase::soak, [](PhaseOutcome& outcome) { outcome.report.findings.clear(); });
  fails(1);
}

TEST_F(GateTest, AddsUpWhatItWasExposedTo) {
  const GateReport gate = run(1);
  std::int64_t bytes = 0;
  std::int64_t patterns = 0;
  for (const ProbeRequest& each : requests_) {
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
  change_probes([](const ProbeRequest& request, ProbeOutcome& outcome) {
    if (request.probe.first > 0) outcome = {.verdict = Verdict::crashed, .reason = "died"};
  });
  const GateReport gate = fails(1);
  EXPECT_EQ(requests_.size(), 4U);
}

TEST_F(GateTest, SoaksOfTwoSeedsReachLinksForWhichOneHasNoTime) {
  std::set<std::tuple<int, int, Method>> reached;
  for (const std::uint64_t each : {1U, 5U}) {
    seed_ = each;
    run(2);
    EXPECT_TRUE(has(said_, "soak: each of 8 links was probed 0 to 1 times"));
    for (const ProbeRequest& request : requests_) {
      if (request.probe.first > 0) reached.insert({request.from, request.to, request.probe.method});
    }
  }
  EXPECT_EQ(reached.size(), 8U);
}

TEST_F(GateTest, SoakThatIsToTakeLongerGoesOnAtTheNextLink) {
  soaks_s_ = {10, 10};
  const GateReport gate = run(2);
  std::vector<std::tuple<int, int, Method>> probed;
  for (const ProbeRequest& each : requests_) {
    if (each.probe.first > 0) probed.emplace_back(each.from, each.to, each.probe.method);
  }
  ASSERT_EQ(probed.size(), 10U);
  EXPECT_EQ(std::set(probed.begin(), probed.begin() + 8).size(), 8U);
  EXPECT_EQ(probed[8], probed[0]);
  EXPECT_TRUE(has(said_, "soak: each of 8 links was probed 1 to 2 times"));
  // The soak's suites are one run, which is resumed. The phases are six parts, two devices and the
  // soak twice.
  ASSERT_EQ(phases_.size(), 10U);
  EXPECT_EQ(phases_[8].budget_s, 5);
  EXPECT_EQ(phases_[9].budget_s, 10);
  EXPECT_EQ(gate.cases, 800);
}

TEST_F(GateTest, NoTwoProbesShareTheirRandomPatterns) {
  run(1);
  std::set<std::tuple<Method, std::uint64_t>> seeds;
  for (const ProbeRequest& each : requests_) seeds.insert({each.probe.method, each.probe.seed});
  EXPECT_EQ(seeds.size(), requests_.size());
  EXPECT_GT(requests_.size(), 2U);
}

TEST_F(GateTest, SaysNothingOfHardwareWhereThereIsNone) {
  std::vector<Device> devices = made_up_devices(2);
  devices.back().memory = "host";
  const GateReport gate = run(devices);
  EXPECT_EQ(gate.devices.front().verdict, Verdict::passed);
  EXPECT_EQ(outcome_of(gate.devices.back()), "skipped: not hardware: host");
  EXPECT_EQ(gate.status, 2);
  EXPECT_TRUE(to_json(gate).at("exposure").at("error_rate_bound").is_null());
  EXPECT_TRUE(to_json(gate).at("case_failure_rate_bound").is_null());
  EXPECT_TRUE(to_json(gate).at("speeds")[0].at("met").is_null());
  EXPECT_TRUE(has(to_markdown(gate), "| 30 | at least 20 | - |"));
  EXPECT_EQ(to_markdown(gate).find("rule of three"), std::string::npos);
}

TEST_F(GateTest, EndsWhenItIsInterrupted) {
  why_end_ = "interrupted";
  const GateReport gate = cannot_judge(2);
  EXPECT_EQ(gate.report.ending, "interrupted");
  EXPECT_TRUE(requests_.empty());
  EXPECT_TRUE(phases_.empty());
}

TEST_F(GateTest, WithoutASoakIsNotWhole) {
  soaks_s_ = {0};
  const GateReport gate = cannot_judge(1);
  EXPECT_EQ(gate.report.ending, "time_over");
}

/// Probes take a second each. Five probes use up the soak's time, so its suites get none.
TEST_F(GateTest, SoakWhoseLinksTakeAllItsTimeHasNoSuites) {
  soaks_s_ = {1, 10};
  passes(2);
  EXPECT_EQ(phases_.back().budget_s, 5);
  soaks_s_ = {1};
  const GateReport gate = cannot_judge(2);
  EXPECT_EQ(phase_of(gate, "soak").reason, "no case was run: no time was left");
  // A further call resumes the soak.
  EXPECT_EQ(gate.report.ending, "time_over");
}

TEST_F(GateTest, SpeedIsToldAndNotJudged) {
  change(Phase::speed, [](PhaseOutcome& outcome) { outcome.speeds.front().value = 10; });
  const GateReport gate = passes(1);
  ASSERT_EQ(gate.speeds.size(), 1U);
  EXPECT_EQ(to_json(gate).at("speeds")[0].at("met"), false);
  EXPECT_EQ(to_json(gate).at("speeds")[0].at("at_least"), 20);
  EXPECT_TRUE(has(to_markdown(gate), "| cases/cuda | cases_per_second | 10 | at least 20 | no |"));
}

TEST_F(GateTest, SpeedThatCouldNotBeMeasuredIsNotGreen) {
  change(Phase::speed, [](PhaseOutcome& outcome) { outcome.speeds.front().failure = "no memory"; });
  const GateReport gate = cannot_judge(1);
  EXPECT_EQ(outcome_of(phase_of(gate, "speed")), "errored: cases/cuda: no memory");
  EXPECT_TRUE(to_json(gate).at("speeds")[0].at("value").is_null());
}

TEST_F(GateTest, SaysPassedOfNothingThatAnInterruptLeftOut) {
  probe_ = [this](const ProbeRequest& request) {
    why_end_ = "interrupted";
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

}  // namespace
}  // namespace rankcheck::cases::hardware
