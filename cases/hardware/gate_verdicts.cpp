#include "cases/hardware/gate_verdicts.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

namespace rankcheck::cases::hardware {

namespace {

using gpu::cuda::LinkResult;
using harness::Finding;
using harness::Verdict;

/// Returns the rank of a verdict. The worst verdict of the parts is the verdict of the whole.
int severity(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return 0;
    case Verdict::skipped:
      return 1;
    case Verdict::errored:
      return 2;
    default:
      return 3;
  }
}

/// Returns the first wrong word as an element of a finding.
harness::WrongElement element_of(const Link& link, const LinkResult& result) {
  return {.rank = link.to,
          .index = result.first_wrong->index,
          .expected = fmt::format("{:#018x}", result.first_wrong->expected),
          .got = fmt::format("{:#018x}", result.first_wrong->got),
          .error = 1,
          .bound = 0,
          .decoded = fmt::format("pattern {}", result.first_wrong_pattern)};
}

/// Blames the device that all wrong links have in common, if there are several pairs of devices
/// and exactly one such device.
void blame(const std::vector<const Link*>& wrong, std::vector<DeviceVerdict>& devices) {
  std::set<std::pair<int, int>> pairs;
  for (const Link* each : wrong) pairs.insert({each->from, each->to});
  if (pairs.size() < 2) return;
  std::vector<int> common;
  for (int d = 0; d < static_cast<int>(devices.size()); ++d) {
    const bool touches_all = std::all_of(pairs.begin(), pairs.end(), [d](const auto& pair) {
      return pair.first == d || pair.second == d;
    });
    if (touches_all) common.push_back(d);
  }
  if (common.size() != 1) return;
  DeviceVerdict& suspect = devices[spec::to_size(common.front())];
  worsen(suspect.verdict,
         suspect.reason,
         Verdict::falsified,
         fmt::format("all {} wrong links start or end at this device", pairs.size()));
}

}  // namespace

void worsen(Verdict& verdict, std::string& reason, Verdict other, const std::string& why) {
  if (severity(other) <= severity(verdict)) return;
  verdict = other;
  reason = why;
}

void judge(Link& link, const ProbeOutcome& outcome) {
  Finding& finding = link.finding;
  const LinkResult& result = outcome.result;
  const auto find = [&](Verdict verdict, const std::string& why) {
    worsen(finding.verdict, finding.reason, verdict, why);
  };
  if (outcome.verdict == Verdict::skipped) {
    find(outcome.verdict, std::string(harness::name(harness::SkipReason::not_supported)));
  } else if (outcome.verdict != Verdict::passed) {
    find(outcome.verdict, outcome.reason);
  } else if (result.copies == 0 || result.bytes_of_copy == 0) {
    find(Verdict::vacuous, "nothing was compared");
  } else if (result.wrong_copies > 0) {
    find(Verdict::falsified,
         fmt::format("{} of {} copies are wrong, {} bytes{}",
                     result.wrong_copies,
                     result.copies,
                     result.wrong_bytes,
                     result.lost_sources > 0 ? "; the source itself changed" : ""));
    finding.wrong_count += result.wrong_bytes;
    if (result.first_wrong && finding.wrong.size() < harness::wrong_elements_max) {
      finding.wrong.push_back(element_of(link, result));
    }
  } else if (!result.impossible_time.empty()) {
    // The data is right, but its speed is unknown.
    find(Verdict::errored, result.impossible_time);
  }
}

void judge_devices(GateReport& gate) {
  std::vector<const Link*> wrong;
  for (const Link& link : gate.links) {
    gate.volume += link.volume;
    const auto verdict = link.finding.verdict;
    if (link.from == link.to) {
      DeviceVerdict& own = gate.devices[spec::to_size(link.from)];
      own.volume += link.volume;
      worsen(own.verdict, own.reason, verdict, "its memory: " + link.finding.reason);
    } else if (harness::is_red(verdict)) {
      wrong.push_back(&link);
    }
    if (link.lost_sources > 0) {
      DeviceVerdict& source = gate.devices[spec::to_size(link.from)];
      worsen(source.verdict,
             source.reason,
             Verdict::falsified,
             fmt::format("lost data that was written to it {} times", link.lost_sources));
    }
  }
  blame(wrong, gate.devices);
  for (DeviceVerdict& each : gate.devices) {
    if (each.device.is_hardware()) continue;
    worsen(each.verdict, each.reason, Verdict::skipped, "not hardware: " + each.device.memory);
  }
}

}  // namespace rankcheck::cases::hardware
