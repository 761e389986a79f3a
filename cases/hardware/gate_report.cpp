#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/report/text_style.hpp"

#include "cases/hardware/gate.hpp"

/// The gate's report as JSON and Markdown.
namespace rankcheck::cases::hardware {

namespace {

using harness::Align;
using harness::Table;
using nlohmann::ordered_json;

ordered_json to_json(const TestedVolume& volume, bool is_of_hardware) {
  ordered_json out{{"bytes_of_copy", volume.bytes_of_copy},
                   {"patterns", volume.patterns},
                   {"copies", volume.copies},
                   {"bytes", volume.bytes},
                   {"wrong_bytes", volume.wrong_bytes},
                   {"error_rate_bound", nullptr},
                   {"confidence", confidence}};
  if (is_of_hardware) {
    out["error_rate_bound"] = error_rate_bound(volume.wrong_bytes, volume.bytes);
  }
  return out;
}

ordered_json to_json(const DeviceVerdict& each, std::size_t number) {
  ordered_json out{{"device", number}};
  out.update(hardware::to_json(each.device));
  out["verdict"] = harness::name(each.verdict);
  out["reason"] = each.reason;
  out["exposure"] = to_json(each.volume, each.device.is_hardware());
  return out;
}

ordered_json to_json(const Speed& speed, bool is_of_hardware) {
  ordered_json out{{"measurement", speed.measurement},
                   {"counter", speed.counter},
                   {"value", nullptr},
                   {speed.is_upper ? "at_most" : "at_least", speed.target},
                   {"met", nullptr},
                   {"failure", speed.failure}};
  if (!speed.failure.empty()) return out;
  out["value"] = speed.value;
  if (is_of_hardware) out["met"] = speed.is_met();
  return out;
}

/// Returns the speeds with their targets. For stand-ins, no target is met or missed.
std::string table_of_speeds(const GateReport& gate) {
  Table speeds({{"measurement"}, {"counter"}, {"value", Align::right}, {"target"}, {"met"}});
  for (const Speed& each : gate.speeds) {
    const bool was_measured = each.failure.empty();
    const bool is_judged = was_measured && gate.is_of_hardware();
    speeds.add({each.measurement,
                each.counter,
                was_measured ? fmt::format("{:.3g}", each.value) : harness::printable(each.failure),
                fmt::format("{} {}", each.is_upper ? "at most" : "at least", each.target),
                is_judged ? each.is_met() ? "yes" : "no" : "-"});
  }
  return speeds.markdown();
}

ordered_json to_json(const Link& link, bool is_of_hardware) {
  ordered_json out{{"from", link.from},
                   {"to", link.to},
                   {"method", gpu::cuda::name(link.method)},
                   {"way", gpu::cuda::name(link.way)},
                   {"verdict", harness::name(link.finding.verdict)},
                   {"reason", link.finding.reason},
                   {"gigabytes_per_s", link.gigabytes_per_s()},
                   {"exposure", to_json(link.volume, is_of_hardware)}};
  // `rankcheck compare` reads the spread, and the times of a stand-in mean nothing.
  if (is_of_hardware && link.gigabytes_per_s() > 0) out["copy_s"] = link.spread_s();
  return out;
}

/// Returns the number of cases and the bound on the failure rate as text.
std::string words_of_cases(const GateReport& gate) {
  if (gate.cases == 0) return "no case was run";
  if (gate.failures > 0) {
    return fmt::format(
        "{} cases judged, {} findings are red", harness::grouped(gate.cases), gate.failures);
  }
  if (gate.known_failures > 0) {
    return fmt::format("{} cases judged, {} failed only as known",
                       harness::grouped(gate.cases),
                       harness::counted(gate.known_failures, "check", "checks"));
  }
  return fmt::format(
      "{} cases judged, none failed; failure rate per case below {:.2g} ({:.0f} %, "
      "rule of three)",
      harness::grouped(gate.cases),
      error_rate_bound(0, gate.cases),
      100 * confidence);
}

/// What the verdict has to do with known defects.
std::string why_known(const GateReport& gate) {
  if (gate.status == 0 && gate.known_failures > 0) return ", but for what is known to fail";
  const std::string stale = stale_text(gate.report.known);
  const auto& findings = gate.report.findings;
  const bool has_failed =
      gate.report.status_beyond_findings == 1 ||
      std::any_of(findings.begin(), findings.end(), [](const harness::Finding& each) {
        return harness::is_red(each);
      });
  if (gate.status != 1 || !gate.report.is_strict || stale.empty() || has_failed) return {};
  return ", because " + stale;
}

/// "the gate for hardware passed"
std::string verdict_of(const GateReport& gate) {
  const char* const words[] = {"passed", "FAILED", "could not be judged"};
  return fmt::format("the {}gate for hardware {}{}",
                     gate.is_quick ? "quick " : "",
                     words[std::clamp(gate.status, 0, 2)],
                     why_known(gate));
}

constexpr const char* not_checked_by_quick =
    "Not checked: collectives and operators on the devices (parts cuda, nccl, suites, device), "
    "speeds against their targets (speed), accesses of kernels (sanitizer), and errors that need "
    "time to show (soak). `rankcheck run hardware` without --quick checks them.";

/// "8 devices, 64 links"
std::string extent_of(const GateReport& gate) {
  std::set<std::pair<int, int>> pairs;
  for (const Link& each : gate.links) pairs.insert({each.from, each.to});
  return fmt::format("{}, {}",
                     harness::counted(std::ssize(gate.devices), "device", "devices"),
                     harness::counted(std::ssize(pairs), "link", "links"));
}

/// Calls add(what, verdict, reason) for each device, link and phase that did not pass. Leaves out
/// the phases that a quick gate does not have.
template <class Add>
void each_not_passed(const GateReport& gate, const Add& add) {
  for (std::size_t d = 0; d < gate.devices.size(); ++d) {
    const DeviceVerdict& each = gate.devices[d];
    if (each.verdict == harness::Verdict::passed) continue;
    add(fmt::format("device {} ({}, {})", d, each.device.name, each.device.bus),
        each.verdict,
        each.reason);
  }
  for (const Link& each : gate.links) {
    if (each.finding.verdict == harness::Verdict::passed) continue;
    add(fmt::format("link {} to {} by {}", each.from, each.to, gpu::cuda::name(each.method)),
        each.finding.verdict,
        each.finding.reason);
  }
  for (const PhaseSummary& each : gate.phases) {
    const bool is_said = each.verdict == harness::Verdict::passed || each.is_left_out;
    if (!is_said) add("part " + each.name, each.verdict, each.reason);
  }
}

}  // namespace

ordered_json to_json(const GateReport& gate) {
  ordered_json out{{"status", gate.status},
                   {"quick", gate.is_quick},
                   {"devices", ordered_json::array()},
                   {"links", ordered_json::array()},
                   {"phases", ordered_json::array()},
                   {"speeds", ordered_json::array()},
                   {"exposure", to_json(gate.volume, gate.is_of_hardware())},
                   {"cases", gate.cases},
                   {"case_failure_rate_bound", nullptr}};
  const bool has_failed = gate.failures + gate.known_failures > 0;
  if (!has_failed && gate.cases > 0 && gate.is_of_hardware()) {
    out["case_failure_rate_bound"] = error_rate_bound(0, gate.cases);
  }
  for (std::size_t d = 0; d < gate.devices.size(); ++d) {
    out["devices"].push_back(to_json(gate.devices[d], d));
  }
  for (const Link& each : gate.links) {
    out["links"].push_back(to_json(each, gate.is_of_hardware()));
  }
  for (const PhaseSummary& each : gate.phases) {
    out["phases"].push_back({{"name", each.name},
                             {"verdict", harness::name(each.verdict)},
                             {"reason", each.reason},
                             {"cases", each.cases},
                             {"compared_bytes", each.compared_bytes}});
  }
  for (const Speed& each : gate.speeds) {
    out["speeds"].push_back(to_json(each, gate.is_of_hardware()));
  }
  return out;
}

std::string to_markdown(const GateReport& gate) {
  std::string text =
      fmt::format("# rankcheck: {} (exit status {})\n\n", verdict_of(gate), gate.status);
  if (gate.is_quick)
    text += fmt::format(
        "Every link and every device once: {}. {}\n\n", extent_of(gate), not_checked_by_quick);
  Table phases(
      {{"part"}, {"verdict"}, {"cases", Align::right}, {"bytes", Align::right}, {"reason"}});
  for (const PhaseSummary& each : gate.phases) {
    phases.add({each.name,
                std::string(harness::name(each.verdict)),
                harness::grouped(each.cases),
                harness::grouped(each.compared_bytes),
                harness::printable(each.reason)});
  }
  text += phases.markdown();
  Table devices({{"device", Align::right}, {"name"}, {"bus"}, {"verdict"}, {"reason"}});
  for (std::size_t d = 0; d < gate.devices.size(); ++d) {
    const DeviceVerdict& each = gate.devices[d];
    devices.add({std::to_string(d),
                 harness::printable(each.device.name),
                 each.device.bus,
                 std::string(harness::name(each.verdict)),
                 harness::printable(each.reason)});
  }
  Table links({{"from", Align::right},
               {"to", Align::right},
               {"method"},
               {"way"},
               {"GB/s copied", Align::right},
               {"verdict"},
               {"reason"}});
  for (const Link& each : gate.links) {
    links.add({std::to_string(each.from),
               std::to_string(each.to),
               std::string(gpu::cuda::name(each.method)),
               std::string(gpu::cuda::name(each.way)),
               fmt::format("{:.1f}", each.gigabytes_per_s()),
               std::string(harness::name(each.finding.verdict)),
               harness::printable(each.finding.reason)});
  }
  text += "\n## Devices\n\n" + devices.markdown() + "\n## Links\n\n" + links.markdown();
  if (!gate.speeds.empty()) text += "\n## Speeds\n\n" + table_of_speeds(gate);
  text += "\n## Exposure\n\n";
  if (!gate.is_of_hardware()) {
    return text + "None: the devices are stand-ins, so nothing here describes hardware.\n";
  }
  text += fmt::format("Links: {}.\n\n", to_text(gate.volume));
  for (std::size_t d = 0; d < gate.devices.size(); ++d) {
    text += fmt::format("Device {}: {}.\n\n", d, to_text(gate.devices[d].volume));
  }
  text += fmt::format("Suites: {}.\n\n", words_of_cases(gate));
  text += "The bounds assume that errors are independent of one another and of the data.\n";
  return text;
}

harness::SummaryNotes notes_of(const GateReport& gate) {
  harness::SummaryNotes notes{.title = "rankcheck: " + verdict_of(gate)};
  notes.remarks.push_back(extent_of(gate));
  if (gate.is_quick) notes.remarks.emplace_back(not_checked_by_quick);
  each_not_passed(
      gate, [&](const std::string& what, harness::Verdict verdict, const std::string& reason) {
        notes.remarks.push_back(fmt::format("{}: {}: {}", what, harness::name(verdict), reason));
      });
  return notes;
}

std::string short_text(const GateReport& gate) {
  constexpr std::size_t listed_max = 40;
  std::string text = fmt::format("rankcheck: {} (exit status {}):\n  {}, {} bytes compared\n",
                                 verdict_of(gate),
                                 gate.status,
                                 extent_of(gate),
                                 harness::grouped(gate.volume.bytes));
  std::size_t count = 0;
  each_not_passed(
      gate, [&](const std::string& what, harness::Verdict verdict, const std::string& reason) {
        if (count++ >= listed_max) return;
        const std::string line =
            fmt::format("{}: {}: {}", what, harness::name(verdict), harness::printable(reason));
        text += harness::wrapped(line, harness::text_columns_max, 2) + '\n';
      });
  if (count > listed_max) text += fmt::format("and {} more, see summary.md\n", count - listed_max);
  for (const harness::KnownStatus& each : gate.report.known) {
    text += harness::wrapped(to_text(each), harness::text_columns_max, 2) + '\n';
  }
  if (gate.is_quick) {
    text += harness::wrapped(not_checked_by_quick, harness::text_columns_max, 2) + '\n';
  }
  return text;
}

}  // namespace rankcheck::cases::hardware
