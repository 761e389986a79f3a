#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/case.hpp"
#include "harness/verdict.hpp"

namespace rankcheck::harness {

/// One (operation, algorithm, backend, property) to check, and how hard.
struct Unit {
  std::string operation;
  std::string algorithm;
  std::string backend;
  std::string property;
  int cases = 100;
  int ranks_min = 1;
  int ranks_max = 8;
  /// The only types to use; empty: every type that the operation and the backend take.
  std::vector<spec::Type> types;
  /// Every cell must be covered by at least one case that was run and compared: "<type>/<op>",
  /// "site/<class>", "ranks/<number>" and "input/<type>/<class>".
  bool require_all_cells = true;
  /// Patterns of "<operation>/<cell>": cells that must be covered even where the backend refuses
  /// them.
  std::vector<std::string> require = {};
  /// A judged case must have had so many members at least, or the unit is vacuous.
  int ranks_required = 1;
  /// The file's name where the unit is one pinned case; empty where cases are generated.
  std::string pinned;
  /// What sets it apart from other units of the same four; usually empty.
  std::string variant = {};

  /// "operation/algorithm/backend/property", "@variant" behind it where there is one, and ":file"
  /// for a pinned case: the unit's name in journals and reports.
  [[nodiscard]] std::string id() const;
};

/// What a suite reports for one unit. A value without times: two runs of one seed are equal.
struct Finding {
  Unit unit;
  Verdict verdict = Verdict::passed;
  /// One line: why it is not green. For skipped: from the closed list of reasons.
  std::string reason;
  /// Cases that were run and judged.
  std::int64_t cases = 0;
  /// Cases that the backend took at first and refused when they were run.
  std::int64_t refused_cases = 0;
  /// The most members that a judged case had.
  int ranks_max = 0;
  std::int64_t compared_bytes = 0;
  double ratio_max = 0;
  /// What the bounds of all cases could see, the smallest change in the worst of them; and the
  /// cases that say nothing, because an output had no useful bound at all.
  Power power = {};
  std::int64_t powerless_cases = 0;
  /// Cell -> cases that covered it, the required cells that none did, and the cells that the
  /// operation has and the backend refuses. A required cell that is refused is in both lists.
  std::map<std::string, std::int64_t> cells;
  std::vector<std::string> missing_cells;
  std::vector<std::string> refused_cells = {};
  /// The minimal case of a failure, what is wrong there, and how often it replayed.
  std::optional<Case> minimal;
  std::vector<WrongElement> wrong;
  std::int64_t wrong_count = 0;
  int shrinks = 0;
  int replays = 0;
  int replays_failed = 0;
};

[[nodiscard]] nlohmann::ordered_json to_json(const Power& power);
/// Leaves out what is empty; numbers that JSON lacks are the strings "inf", "-inf", "nan".
[[nodiscard]] nlohmann::ordered_json to_json(const Finding& finding);
/// Throws BadInput that names the field.
[[nodiscard]] Finding finding_from_json(const nlohmann::json& json);

/// Judges what was covered, where nothing else is wrong: passed, or vacuous with the reason.
void judge_coverage(Finding& finding);

/// Whether all that is wrong is that something was not covered: further cases may mend it.
[[nodiscard]] bool lacks_coverage(const Finding& finding);

/// Adds a further round of the same unit to `total`: counts add up, the first failure stays, and a
/// cell is missing where no round covered it.
void merge(Finding& total, const Finding& round);

}  // namespace rankcheck::harness
