#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/compare/run_report.hpp"

namespace rankcheck::harness::compare {

/// What can differ between two runs.
enum class Kind : std::uint8_t {
  /// A unit fails that passed, was not judged, or failed only as known before.
  newly_broken,
  /// A unit is flaky now, or it was flaky and passes now, which may be chance.
  flaky,
  /// A unit failed before and fails now, perhaps in another way.
  still_broken,
  /// A unit failed before and passes now.
  mended,
  /// A unit was judged before and is not judged now, or covers less.
  coverage_lost,
  /// A unit is judged that was not judged before, or covers more.
  coverage_gained,
  /// The largest error/bound of a unit has grown by the factor, or beyond it.
  accuracy_lost,
  /// The largest error/bound of a unit has shrunk by the factor, or beyond it.
  accuracy_gained,
  /// A measurement is slower by the factor and beyond the noise of both runs.
  speed_lost,
  /// The reverse.
  speed_gained,
  /// The bounds of a unit's cases would show larger changes only, by the factor, or more of its
  /// cases show nothing.
  power_lost,
  /// The reverse.
  power_gained,
  /// A known defect, which both runs were given, is in another state.
  known,
  /// Neither run judged a unit, and the reasons differ.
  not_judged,
  /// The runs were asked for different things, or one of them ended early.
  options,
  /// Libraries, drivers, devices, rankcheck or the machine are others.
  version,
  /// A unit takes longer, or less long, by the factor.
  duration,
};

/// What makes a comparison fail.
enum class FailOn : std::uint8_t { broken, coverage, accuracy, speed };

inline constexpr std::array<std::string_view, 4> fail_on_names{
    "broken", "coverage", "accuracy", "speed"};

/// How changes of a kind are named, and what they count for.
struct KindInfo {
  /// In JSON.
  std::string_view name;
  /// Above a list of such changes.
  std::string_view title;
  /// One change and several changes, behind their number.
  std::string_view one;
  std::string_view many;
  /// For what worse changes count. Empty if they do not matter.
  std::optional<FailOn> counts_for = {};
};

/// In the order of the enumerators.
inline constexpr std::array<KindInfo, 17> kinds{{
    {"newly_broken",
     "newly broken",
     "unit is newly broken",
     "units are newly broken",
     FailOn::broken},
    {"flaky", "flaky", "flaky unit", "flaky units", FailOn::broken},
    {"still_broken", "still broken", "unit is still broken", "units are still broken"},
    {"mended", "mended", "unit is mended", "units are mended"},
    {"coverage_lost", "coverage lost", "loss of coverage", "losses of coverage", FailOn::coverage},
    {"coverage_gained", "coverage gained", "gain of coverage", "gains of coverage"},
    {"accuracy_lost", "larger errors", "larger error", "larger errors", FailOn::accuracy},
    {"accuracy_gained", "smaller errors", "smaller error", "smaller errors"},
    {"speed_lost", "slower", "measurement is slower", "measurements are slower", FailOn::speed},
    {"speed_gained", "faster", "measurement is faster", "measurements are faster"},
    {"power_lost", "less power", "check lost power", "checks lost power", FailOn::coverage},
    {"power_gained", "more power", "check gained power", "checks gained power"},
    {"known",
     "other states of known defects",
     "known defect has another state",
     "known defects have another state"},
    {"not_judged",
     "not judged",
     "unit or group was not judged, for another reason",
     "units or groups were not judged, for other reasons"},
    {"options", "other options", "option differs", "options differ"},
    {"version", "other versions", "version or setting differs", "versions or settings differ"},
    {"duration", "other durations", "duration differs", "durations differ"},
}};

[[nodiscard]] constexpr const KindInfo& info(Kind kind) {
  return kinds[static_cast<std::size_t>(kind)];
}
[[nodiscard]] constexpr std::string_view name(Kind kind) {
  return info(kind).name;
}

/// A number of changes as a part of a sentence: "2 units are newly broken", "1 larger error".
[[nodiscard]] std::string counted_changes(Kind kind, std::int64_t count);

/// One difference.
struct Change {
  Kind kind = Kind::version;
  /// What changed: a unit's id, "<operation>/<algorithm>/<tested>" with "*" for parts that differ,
  /// or a place in the report, such as "run.seed".
  std::string what;
  /// How it was and how it is, for people. Empty where there was or is nothing.
  std::string before;
  std::string now;
  /// Whether things got worse: whether the change counts for fail_on.
  bool is_worse = false;
  /// The known defects that explain the failures of a unit, which are then not worse.
  std::vector<std::string> known = {};
  /// Whether other failures may hide behind these, because the run did not go on past them.
  bool may_hide_others = false;
  /// The case that shows a failure. Null if there is none.
  nlohmann::ordered_json minimal = {};

  /// Whether nothing changed: the unit fails as before. It is listed because it is no success.
  [[nodiscard]] bool is_as_before() const { return before == now; }
};

struct CompareOptions {
  /// An error/bound that changes by less than this factor is no change.
  double accuracy_factor = 2;
  /// A duration that changes by less than this factor, or by less than a second, is no change.
  double duration_factor = 2;
  /// A measurement whose median changes by less than this factor is no change.
  double speed_factor = 1.1;
};

/// What became of the units of a run.
struct Comparison {
  /// Sorted by kind and by what changed. What got worse comes first among the changes of a kind.
  std::vector<Change> changes;
  /// Number of units that both runs judged.
  std::int64_t common_units = 0;
  /// Number of measurements that were compared, and that were not because their noise is unknown.
  std::int64_t compared_speeds = 0;
  std::int64_t unknown_speeds = 0;
  /// Number of links whose bandwidths were not compared, because the blocks had other sizes.
  std::int64_t links_of_other_sizes = 0;

  [[nodiscard]] std::int64_t count(Kind kind) const;
  /// Whether there is no change: at most units that fail as before.
  [[nodiscard]] bool is_empty() const;
};

/// All changes of a kind as a part of a sentence: "6 units are newly broken (68 more as known)".
[[nodiscard]] std::string counted_changes(const Comparison& comparison, Kind kind);

/// Compares two runs. Throws BadInput if they have no unit in common, because then nothing can be
/// said.
[[nodiscard]] Comparison compare(const RunReport& before,
                                 const RunReport& now,
                                 const CompareOptions& options = {});

/// Reads names that are separated by commas. Throws BadInput that names an unknown one.
[[nodiscard]] std::set<FailOn> fail_on_from(const std::string& names);

/// Whether the change makes things worse, in a way that matters.
[[nodiscard]] bool is_worse(const Change& change, const std::set<FailOn>& matters);

/// Whether something that matters got worse.
[[nodiscard]] bool is_worse(const Comparison& comparison, const std::set<FailOn>& matters);

/// "2 larger errors, 1 measurement is slower": the changes that `is_counted`. Empty if there are
/// none.
[[nodiscard]] std::string counted_changes(const Comparison& comparison,
                                          const std::function<bool(const Change&)>& is_counted);

/// The changes that make things worse and do not matter, in the same words.
[[nodiscard]] std::string worse_beside(const Comparison& comparison,
                                       const std::set<FailOn>& matters);

/// "broken, coverage".
[[nodiscard]] std::string names_of(const std::set<FailOn>& matters);

}  // namespace rankcheck::harness::compare
