#include "harness/compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/case.hpp"
#include "harness/table.hpp"

namespace rankcheck::harness::compare {

namespace {

using nlohmann::ordered_json;

/// Fields of the environment that say when and how a run was made, not with what.
const std::set<std::string, std::less<>> not_versions{"started",
                                                      "finished",
                                                      "duration_s",
                                                      "durations_s",
                                                      "rounds",
                                                      "resumed",
                                                      "jobs",
                                                      "fail_fast",
                                                      "timeout_s",
                                                      "time_budget_s",
                                                      "hardware"};

std::string said(const RunFinding& finding) {
  std::string text(harness::name(finding.verdict));
  if (!finding.reason.empty()) text += ": " + finding.reason;
  return text;
}

/// Units that were judged in one run only. They are named together where a whole backend, operation
/// or algorithm is concerned.
class OneSided {
 public:
  /// `here` is the run that judged the units with such verdicts, `there` the other one.
  OneSided(const RunReport& here, const RunReport& there, bool (*is_counted)(Verdict)) {
    for (const auto& [id, finding] : there.findings) {
      if (!is_judged(finding.verdict)) continue;
      for (const std::string& group : groups(finding)) judged_there_.insert(group);
    }
    for (const auto& [id, finding] : here.findings) {
      if (is_counted(finding.verdict)) add(finding, there);
    }
  }

  /// The largest groups that have no judged unit in the other run, or else single units, each with
  /// its number of units and what the other run says of one of them.
  struct Group {
    std::int64_t units = 0;
    std::string elsewhere;
  };
  [[nodiscard]] std::map<std::string, Group> take() && { return std::move(missing_); }

 private:
  /// Returns the groups of a unit, the largest first.
  static std::array<std::string, 3> groups(const RunFinding& unit) {
    return {fmt::format("*/*/{}", unit.tested),
            fmt::format("{}/*/{}", unit.operation, unit.tested),
            fmt::format("{}/{}/{}", unit.operation, unit.algorithm, unit.tested)};
  }

  void add(const RunFinding& unit, const RunReport& there) {
    const auto other = there.findings.find(unit.id);
    if (other != there.findings.end() && is_judged(other->second.verdict)) return;
    std::string place = unit.id;
    for (const std::string& group : groups(unit)) {
      if (judged_there_.contains(group)) continue;
      place = group;
      break;
    }
    Group& group = missing_[place];
    ++group.units;
    if (other != there.findings.end()) group.elsewhere = said(other->second);
  }

  std::set<std::string> judged_there_;
  std::map<std::string, Group> missing_;
};

class Comparer {
 public:
  Comparer(const RunReport& before, const RunReport& now, const CompareOptions& options)
      : before_(before), now_(now), options_(options) {}

  Comparison compare() && {
    compare_units();
    add_one_sided();
    add_versions(before_.environment, now_.environment, "");
    add_durations();
    auto& changes = comparison_.changes;
    std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
      return std::tie(a.kind, a.what) < std::tie(b.kind, b.what);
    });
    return std::move(comparison_);
  }

 private:
  void add(Kind kind, std::string what, std::string before, std::string now) {
    comparison_.changes.push_back({.kind = kind,
                                   .what = std::move(what),
                                   .before = std::move(before),
                                   .now = std::move(now)});
  }

  void add_failure(Kind kind, const std::string& before, const RunFinding& now) {
    add(kind, now.id, before, said(now));
    comparison_.changes.back().minimal = now.minimal;
  }

  void compare_units() {
    std::int64_t shared = 0;
    for (const auto& [id, now] : now_.findings) {
      const auto found = before_.findings.find(id);
      const RunFinding* before = found == before_.findings.end() ? nullptr : &found->second;
      shared += before != nullptr ? 1 : 0;
      const bool was_judged = before != nullptr && is_judged(before->verdict);
      comparison_.common_units += was_judged && is_judged(now.verdict) ? 1 : 0;
      if (is_failure(now.verdict)) {
        const bool failed = was_judged && is_failure(before->verdict);
        add_failure(failed ? Kind::still_broken : Kind::newly_broken,
                    before == nullptr ? "" : said(*before),
                    now);
      } else if (was_judged && now.verdict == Verdict::passed) {
        compare_passed(*before, now);
      }
    }
    if (shared == 0) {
      throw BadInput(
          fmt::format("{} and {}: expected runs with units in common", before_.name, now_.name));
    }
  }

  void compare_passed(const RunFinding& before, const RunFinding& now) {
    if (is_failure(before.verdict)) {
      // A unit that fails ends early, so its cells and its error say nothing.
      add(Kind::mended, now.id, said(before), said(now));
      return;
    }
    compare_cells(before, now);
    if (now.cases != before.cases) {
      add(now.cases < before.cases ? Kind::coverage_lost : Kind::coverage_gained,
          now.id,
          counted(before.cases, "case", "cases"),
          counted(now.cases, "case", "cases"));
    }
    if (now.ratio_max > before.ratio_max &&
        now.ratio_max >= options_.accuracy_factor * before.ratio_max) {
      add(Kind::accuracy_lost,
          now.id,
          fmt::format("error/bound {:.3g}", before.ratio_max),
          fmt::format("error/bound {:.3g}", now.ratio_max));
    }
  }

  /// With another seed, a cell that is not required may be covered or not, which says nothing.
  void compare_cells(const RunFinding& before, const RunFinding& now) {
    const bool has_one_seed =
        before_.run.value("seed", ordered_json()) == now_.run.value("seed", ordered_json());
    if (!has_one_seed && !(before.requires_all_cells && now.requires_all_cells)) return;
    const auto missing = [](const std::set<std::string>& all, const std::set<std::string>& here) {
      std::vector<std::string> out;
      std::set_difference(
          all.begin(), all.end(), here.begin(), here.end(), std::back_inserter(out));
      return out;
    };
    constexpr std::size_t named_max = 5;
    if (const auto lost = missing(before.cells, now.cells); !lost.empty()) {
      add(Kind::coverage_lost, now.id, "covered " + first_of(lost, named_max), "");
    }
    if (const auto gained = missing(now.cells, before.cells); !gained.empty()) {
      add(Kind::coverage_gained, now.id, "", "covers " + first_of(gained, named_max));
    }
  }

  void add_one_sided() {
    const auto judged = [](std::int64_t units) {
      return counted(units, "judged unit", "judged units");
    };
    const auto or_absent = [](const std::string& elsewhere) {
      return elsewhere.empty() ? "not in this run" : elsewhere;
    };
    for (const auto& [what, group] : OneSided(before_, now_, is_judged).take()) {
      add(Kind::coverage_lost, what, judged(group.units), or_absent(group.elsewhere));
    }
    // A unit that fails now is named as broken already.
    const auto is_passed = [](Verdict verdict) { return verdict == Verdict::passed; };
    for (const auto& [what, group] : OneSided(now_, before_, is_passed).take()) {
      add(Kind::coverage_gained, what, or_absent(group.elsewhere), judged(group.units));
    }
  }

  /// Adds the differences of two values of the environment, field by field.
  void add_versions(const ordered_json& before, const ordered_json& now, const std::string& place) {
    if (before == now) return;
    if (!before.is_object() || !now.is_object()) {
      add(Kind::version, place, plain(before), plain(now));
      return;
    }
    std::set<std::string> names;
    for (const auto* each : {&before, &now}) {
      for (const auto& [key, value] : each->items()) names.insert(key);
    }
    for (const std::string& each : names) {
      if (place.empty() && not_versions.contains(each)) continue;
      add_versions(before.value(each, ordered_json()),
                   now.value(each, ordered_json()),
                   place.empty() ? each : place + "." + each);
    }
  }

  static std::string plain(const ordered_json& value) {
    if (value.is_null()) return {};
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  void add_durations() {
    const ordered_json none = ordered_json::object();
    const ordered_json before = before_.environment.value("durations_s", none);
    const ordered_json now = now_.environment.value("durations_s", none);
    for (const auto& [id, value] : now.items()) {
      const auto found = before.find(id);
      if (found == before.end() || !found->is_number() || !value.is_number()) continue;
      const double was_s = found->get<double>();
      const double is_s = value.get<double>();
      const auto [least, most] = std::minmax(was_s, is_s);
      if (most - least < 1 || most < options_.duration_factor * least) continue;
      add(Kind::duration, id, fmt::format("{:.1f} s", was_s), fmt::format("{:.1f} s", is_s));
    }
  }

  const RunReport& before_;
  const RunReport& now_;
  const CompareOptions& options_;
  Comparison comparison_;
};

}  // namespace

std::string_view name(Kind kind) {
  return kind_names[spec::to_size(kind)];
}

std::int64_t Comparison::count(Kind kind) const {
  return std::count_if(
      changes.begin(), changes.end(), [kind](const Change& each) { return each.kind == kind; });
}

Comparison compare(const RunReport& before, const RunReport& now, const CompareOptions& options) {
  return Comparer(before, now, options).compare();
}

std::set<FailOn> fail_on_from(const std::string& names) {
  std::set<FailOn> out;
  for (std::size_t start = 0; start <= names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    const std::string name = names.substr(start, end - start);
    const auto found = std::find(fail_on_names.begin(), fail_on_names.end(), name);
    if (found == fail_on_names.end()) {
      throw BadInput(
          fmt::format("--fail-on: {}: expected some of broken, coverage, accuracy, "
                      "separated by commas",
                      name));
    }
    out.insert(static_cast<FailOn>(found - fail_on_names.begin()));
    start = end + 1;
  }
  return out;
}

bool is_worse(const Comparison& comparison, const std::set<FailOn>& matters) {
  const auto has = [&](FailOn what, Kind kind) {
    return matters.contains(what) && comparison.count(kind) > 0;
  };
  return has(FailOn::broken, Kind::newly_broken) || has(FailOn::coverage, Kind::coverage_lost) ||
         has(FailOn::accuracy, Kind::accuracy_lost);
}

}  // namespace rankcheck::harness::compare
