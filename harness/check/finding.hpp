#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "harness/case/case.hpp"
#include "harness/case/verdict.hpp"

namespace rankcheck::harness {

/// One (operation, algorithm, backend, property) to check, and how thoroughly.
struct Unit {
  std::string operation;
  std::string algorithm;
  std::string backend;
  std::string property;
  int cases = 100;
  int ranks_min = 1;
  int ranks_max = 8;
  /// The only types to use. Empty: every type that the operation and the backend take.
  std::vector<spec::Type> types;
  /// Every cell must be covered by at least one case that was run and compared. Cells are
  /// "<type>/<variant>", "site/<class>", "ranks/<number>" and "input/<type>/<class>".
  bool require_all_cells = true;
  /// Patterns of "<operation>/<cell>". Matching cells must be covered even if the backend refuses
  /// them.
  std::vector<std::string> require = {};
  /// At least one judged case must have this many members; otherwise the unit is vacuous.
  int ranks_required = 1;
  /// The file's name if the unit is one pinned case. Empty if cases are generated.
  std::string pinned;
  /// Distinguishes this unit from others with the same operation, algorithm, backend and property.
  /// Usually empty.
  std::string variant = {};
  /// The name that a command which is the backend gave itself. Otherwise empty.
  std::string subject = {};
  /// If above 0: every case has this count, and else is as plain as it can be.
  std::int64_t count = 0;
  /// Sizes in bytes: a block of each size is a cell of its own, see CallClass::bytes.
  std::vector<std::int64_t> blocks = {};
  /// The hosts of every case, see Case::hosts. Empty: the backend says whether some cases have any.
  std::vector<int> hosts = {};
  /// Fields that have one value in every case, as a JSON object, for example {"repeat":1}.
  std::string fixed = "{}";

  /// The subject, or else the backend: what reports call the code under test.
  [[nodiscard]] const std::string& tested() const { return subject.empty() ? backend : subject; }
  /// The unit's name in journals and reports: "operation/algorithm/tested/property", then
  /// "@variant" if there is one, then ":file" for a pinned case.
  [[nodiscard]] std::string id() const;
};

/// The reason of a finding whose backend should work here but did not open begins with this.
inline constexpr std::string_view backend_not_opened = "the backend could not be opened: ";

/// What a known defect did in one unit; see known_defects.hpp.
struct KnownCount {
  std::string id;
  /// Number of cases that were judged and that the defect covers, and how many of them failed as
  /// the defect says.
  std::int64_t covered = 0;
  std::int64_t failed = 0;
  /// Number of cases that were not run, because such cases had often stopped the backend.
  std::int64_t left_out = 0;
  /// The simplest of the failed cases, and how it failed. It is not shrunk and not replayed.
  Verdict verdict = Verdict::passed;
  std::string reason = {};
  std::optional<Case> minimal = {};
  std::vector<WrongElement> wrong = {};
  std::int64_t wrong_count = 0;

  friend bool operator==(const KnownCount&, const KnownCount&) = default;
};

/// Numbers of cases, by the number of members that the cases have.
struct MemberCounts {
  std::map<int, std::int64_t> cases;

  friend bool operator==(const MemberCounts&, const MemberCounts&) = default;
};

/// A finding lists at most this many steps of shrinking, and a step has at most this many bytes.
inline constexpr std::size_t steps_max = 40;
inline constexpr std::size_t step_bytes_max = 300;

/// What a suite reports for one unit. It contains no times, so two runs with one seed give equal
/// findings.
struct Finding {
  Unit unit;
  Verdict verdict = Verdict::passed;
  /// How the minimal case failed. None if it hung or crashed, or if nothing failed.
  Symptom symptom = Symptom::none;
  /// One line: why the finding is not green. If skipped, one of the closed list of reasons.
  std::string reason;
  /// Number of cases that were run and judged.
  std::int64_t cases = 0;
  /// Number of cases that the backend accepted at first but refused when they were run.
  std::int64_t refused_cases = 0;
  /// What the backend said of a case that it refused. Empty if it took some case and refused none
  /// when it was run.
  std::string refusal = {};
  /// The largest number of members in a judged case.
  int ranks_max = 0;
  std::int64_t compared_bytes = 0;
  /// The largest error/bound of right elements in all cases; 0 if they were all exact.
  double ratio_max = 0;
  /// `power`: what the bounds of all cases could detect; smallest_change is the one of the worst
  /// case. `powerless_cases`: number of cases that show nothing, because an output had no useful
  /// bound.
  Power power = {};
  std::int64_t powerless_cases = 0;
  /// `cells`: number of cases that covered each cell. `missing_cells`: required cells that no case
  /// covered. `refused_cells`: cells of the operation that the backend refuses. A required cell
  /// that is refused is in both lists.
  std::map<std::string, std::int64_t> cells;
  /// With how many members the cases of each cell "<type>/<variant>" ran. Empty in findings of old
  /// reports.
  std::map<std::string, MemberCounts> cell_members = {};
  std::vector<std::string> missing_cells;
  std::vector<std::string> refused_cells = {};
  /// Cells that were only covered by cases that failed as a known defect says. They are in no other
  /// list.
  std::vector<std::string> known_cells = {};
  /// The minimal case of a failure, its wrong elements, and how often it failed again.
  std::optional<Case> minimal;
  std::vector<WrongElement> wrong;
  std::int64_t wrong_count = 0;
  /// Pictures of the minimal case, see Judgement. Empty if there are none.
  std::vector<std::string> marks = {};
  ValueWindow values = {};
  /// How the minimal case was found: the case that failed first, if it is another one, the number
  /// of steps from there, and the first of these steps as step_text() writes them.
  std::optional<Case> original = {};
  std::vector<std::string> steps = {};
  int shrinks = 0;
  int replays = 0;
  int replays_failed = 0;
  /// The known defects that cover some case of the unit.
  std::vector<KnownCount> known = {};
  /// Whether every failure is known. Then the finding shows the first known failure.
  bool is_known = false;
};

[[nodiscard]] nlohmann::ordered_json to_json(const Power& power);
/// Leaves out empty fields. Numbers that JSON lacks become the strings "inf", "-inf" and "nan".
[[nodiscard]] nlohmann::ordered_json to_json(const Finding& finding);
/// Throws BadInput that names the field.
[[nodiscard]] Finding finding_from_json(const nlohmann::json& json);

/// Judges the coverage if nothing but known defects failed: the verdict becomes passed, vacuous
/// with the reason, or the one of a known failure. A cell that only known failures reached is not
/// missing.
void judge_coverage(Finding& finding);

/// Whether the finding makes the exit status 1.
[[nodiscard]] inline bool is_red(const Finding& finding) {
  return is_red(finding.verdict) && !finding.is_known;
}
/// Whether the finding ends a run with --fail-fast, and is shown in full.
[[nodiscard]] inline bool is_bad(const Finding& finding) {
  return is_red(finding) || finding.verdict == Verdict::errored;
}
/// Number of cases that failed as known defects say, and that were left out because of them.
[[nodiscard]] std::int64_t known_failures(const Finding& finding);
[[nodiscard]] std::int64_t left_out_cases(const Finding& finding);
/// "known mpich-unsigned-max (12 of 35 cases failed)" for each known defect that failed.
[[nodiscard]] std::string known_text(const Finding& finding);

/// Whether missing coverage is the only problem. Further cases may solve it.
[[nodiscard]] inline bool lacks_coverage(const Finding& finding) {
  return finding.verdict == Verdict::vacuous && !finding.minimal;
}

/// Adds a further round of the same unit to `total`. Counts are added, the first failure is kept,
/// and a cell is missing only if no round covered it.
void merge(Finding& total, const Finding& round);

}  // namespace rankcheck::harness
