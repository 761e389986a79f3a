#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cases/hardware/gate.hpp"
#include "tests/cases/hardware/made_up.hpp"
#include "tests/harness/text.hpp"

/// The gate over made-up devices, links and suites.
namespace rankcheck::cases::hardware {

using harness::begins;
using harness::has;
using harness::outcome_of;

/// A machine whose links work correctly, except for the faults that a test plants.
class GateTest : public testing::Test {
 protected:
  GateReport run(int devices) { return run(made_up_devices(devices)); }

  /// Runs the gate. Expects this exit status.
  GateReport run_to(int status, int devices) {
    GateReport gate = run(devices);
    EXPECT_EQ(gate.status, status) << to_markdown(gate);
    return gate;
  }
  GateReport passes(int devices) { return run_to(0, devices); }
  GateReport fails(int devices) { return run_to(1, devices); }
  GateReport cannot_judge(int devices) { return run_to(2, devices); }

  GateReport run(const std::vector<Device>& devices) {
    const int count = static_cast<int>(devices.size());
    Options options{.seed = seed_, .bytes = 1024, .is_quick = is_quick_};
    if (!is_quick_) options.parts = made_up_parts(count);
    double soak_s = 0;
    const Hooks hooks{.probe =
                          [this](const ProbeRequest& request) {
                            clock_ += 1;
                            requests_.push_back(request);
                            return probe_(request);
                          },
                      .keep = [](const ProbeAnswer&) {},
                      .run =
                          [this](const PhaseRequest& request) {
                            phases_.push_back(request);
                            PhaseOutcome outcome = suites_(request);
                            outcome.spent_s = request.budget_s;
                            return outcome;
                          },
                      .soak_s = [&] { return soak_s; },
                      .now_s = [this] { return clock_; },
                      .why_end = [this] { return why_end_; },
                      .say = [this](const std::string& line) { said_ += line + '\n'; }};
    Gate gate(options, devices);
    std::string ended_early;
    for (const double each : soaks_s_) {
      soak_s = each;
      ended_early = gate.run(hooks);
    }
    GateReport report = gate.report(ended_early);
    // The report's exit status and the process's exit status must agree.
    EXPECT_EQ(harness::to_json(report.report).at("exit_status"), report.status);
    return report;
  }

  /// Lets all probes find nothing wrong, except that `edit` changes what comes of them.
  void change_probes(const std::function<void(const ProbeRequest&, ProbeOutcome&)>& edit) {
    probe_ = [edit](const ProbeRequest& request) {
      ProbeOutcome outcome = good_probe(request);
      edit(request, outcome);
      return outcome;
    };
  }

  /// Makes one bit wrong in one copy over every link for which `chooses` holds.
  template <class Chooses>
  void plant(const Chooses& chooses) {
    change_probes([chooses](const ProbeRequest& request, ProbeOutcome& outcome) {
      if (!chooses(request)) return;
      outcome.result.wrong_copies = 1;
      outcome.result.wrong_bytes = 1;
      outcome.result.first_wrong = gpu::cuda::WrongWord{.index = 5, .expected = 1, .got = 3};
    });
  }

  /// Lets the gate's phases pass, except that `edit` changes what comes of those of one kind. Of
  /// Phase::device, only the phase of device 1 changes.
  void change(Phase phase, const std::function<void(PhaseOutcome&)>& edit) {
    suites_ = [=](const PhaseRequest& request) {
      PhaseOutcome outcome = passing_phase(request);
      const bool is_other_device = phase == Phase::device && request.number != 1;
      if (request.phase == phase && !is_other_device) edit(outcome);
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

  std::function<ProbeOutcome(const ProbeRequest&)> probe_ = good_probe;
  std::function<PhaseOutcome(const PhaseRequest&)> suites_ = passing_phase;
  std::string why_end_;
  std::uint64_t seed_ = 1;
  bool is_quick_ = false;
  /// The seconds of the soak in each session.
  std::vector<double> soaks_s_{10};
  std::string said_;
  std::vector<ProbeRequest> requests_;
  std::vector<PhaseRequest> phases_;

 private:
  double clock_ = 0;
};

inline PhaseSummary phase_of(const GateReport& gate, const std::string& name) {
  for (const PhaseSummary& each : gate.phases) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << "no phase " << name;
  return {};
}

}  // namespace rankcheck::cases::hardware
