#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/page/html.hpp"
#include "harness/report/report.hpp"
#include "harness/report/summary.hpp"

namespace rankcheck::harness::page {

/// How a verdict looks: the class of its colour, a sign, and the verdict in a word or two.
struct Look {
  std::string css;
  std::string text;
};

[[nodiscard]] Look look_of(Verdict verdict);
/// The same, or that the failure is known.
[[nodiscard]] Look look_of(const Finding& finding);
/// The worst verdict of a tally, with the number of findings that have it.
[[nodiscard]] Look look_of(const Tally& tally);
/// What a verdict that is not green means, in a sentence. Empty for the others.
[[nodiscard]] std::string_view meaning_of(Verdict verdict);

/// What a run was asked for, as the command that asks for it: "rankcheck run smoke --seed 1".
/// Fields that are no option stand behind the command. `run` is the field of a report.
[[nodiscard]] std::string asked_for(const nlohmann::ordered_json& run);

/// The verdict in a sentence, what was verified, and what could not be.
void write_opening(Html& html, const Report& report, const Summary& summary);
/// The cards of all failures. Returns the number of cards.
std::size_t write_failures(Html& html, const Report& report);
/// The known defects that the run was given, and the cards of what failed as they say. Nothing if
/// there are none.
void write_known(Html& html, const Report& report, std::size_t cards_left);
/// The matrix of operations and backends, and for each pair the algorithms and properties.
void write_matrix(Html& html, const Report& report, const Summary& summary);
/// What cases covered, by type, variant and number of ranks.
void write_coverage(Html& html, const Report& report);
/// The distribution of error/bound, and the units that took longest.
void write_charts(Html& html, const Report& report);
/// A part, device or link of the gate for hardware that did not pass.
struct GateItem {
  /// "part speed", "device 0" or "link 0 to 1 by copy".
  std::string what;
  Verdict verdict;
  std::string reason;
};

/// Parts first, then devices, then links. Empty if the run was no gate.
[[nodiscard]] std::vector<GateItem> gate_items_not_passed(const Report& report);
/// Devices, links and speeds of the gate for hardware. Nothing if the run was none.
void write_gate(Html& html, const Report& report);

}  // namespace rankcheck::harness::page
