#include "harness/compare/comparison.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/table.hpp"
#include "harness/case/case.hpp"
#include "harness/compare/groups.hpp"

namespace rankcheck::harness::compare {

namespace {

using nlohmann::ordered_json;

/// Fields of the environment that say when and how a run was made, not with what. The gate's part
/// is read as units.
const std::set<std::string, std::less<>> not_versions{"started",
                                                      "finished",
                                                      "duration_s",
                                                      "rounds",
                                                      "resumed",
                                                      "jobs",
                                                      "fail_fast",
                                                      "timeout_s",
                                                      "time_budget_s",
                                                      "replays",
                                                      "hardware"};

/// What a run was made with. Of the gate for hardware, this is what it was told about the machine.
ordered_json versions_in(const ordered_json& environment) {
  ordered_json versions = environment;
  for (const std::string& each : not_versions) versions.erase(each);
  const auto gate = environment.find("hardware");
  if (gate == environment.end() || !gate->is_object() || !gate->contains("doctor")) return versions;
  versions["doctor"] = gate->at("doctor");
  return versions;
}

/// A list of objects with names as an object. Anything else is returned as it is.
ordered_json by_name(const ordered_json& value) {
  if (!value.is_array() || value.empty()) return value;
  ordered_json out = ordered_json::object();
  for (const ordered_json& each : value) {
    const bool is_named = each.is_object() && each.contains("name") && each.at("name").is_string();
    if (!is_named) return value;
    out[each.at("name").get<std::string>()] = each;
  }
  return out;
}

constexpr const char* not_in_run = "not in this run";
constexpr const char* not_in_earlier_run = "not in the earlier run";

/// What was asked for of a unit, where it differs from `other`: "cases 100, no types".
std::string asked_unlike(const ordered_json& asked, const ordered_json& other) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const auto& [key, value] : asked.items()) {
    if (value != other.value(key, ordered_json())) add(key + ' ' + value.dump());
  }
  for (const auto& [key, value] : other.items()) {
    if (!asked.contains(key)) add("no " + key);
  }
  return text;
}

/// Whether the larger of two numbers is so many times the other, or infinitely many times.
bool differs_by(double factor, double a, double b) {
  const auto [least, most] = std::minmax(a, b);
  return most > least && most >= factor * least;
}

class Comparer {
 public:
  Comparer(const RunReport& before, const RunReport& now, const CompareOptions& options)
      : before_(before), now_(now), options_(options) {
    for (auto& [tested, all] : missing_algorithms(before, now)) {
      algorithms_[tested].before = std::move(all);
    }
    for (auto& [tested, all] : missing_algorithms(now, before)) {
      algorithms_[tested].now = std::move(all);
    }
  }

  Comparison compare() && {
    compare_units();
    add_coverage();
    add_options();
    compare_measurements();
    compare_links();
    add_known();
    add_algorithms();
    add_fields(Kind::version, versions_in(before_.environment), versions_in(now_.environment), "");
    auto& changes = comparison_.changes;
    std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
      return std::tuple(a.kind, !a.is_worse, std::string_view(a.what)) <
             std::tuple(b.kind, !b.is_worse, std::string_view(b.what));
    });
    return std::move(comparison_);
  }

 private:
  Change& add(Kind kind, std::string what, std::string before, std::string now) {
    return comparison_.changes.emplace_back(Change{
        .kind = kind, .what = std::move(what), .before = std::move(before), .now = std::move(now)});
  }

  void compare_units() {
    std::int64_t shared = 0;
    for (const auto& [id, now] : now_.findings) {
      const auto found = before_.findings.find(id);
      const RunFinding* before = found == before_.findings.end() ? nullptr : &found->second;
      if (before != nullptr) {
        ++shared;
        compare_options(*before, now);
        compare_duration(*before, now);
        const bool both = is_judged(before->verdict) && is_judged(now.verdict);
        comparison_.common_units += both ? 1 : 0;
      }
      compare_unit(before, now);
    }
    for (const auto& [id, before] : before_.findings) {
      if (now_.findings.contains(id) || is_judged(before.verdict)) continue;
      not_judged_.add(before, said(before), not_in_run);
    }
    if (shared == 0) {
      const auto first_unit = [](const RunReport& run) {
        return run.findings.empty() ? "missing" : run.findings.begin()->first;
      };
      throw BadInput(
          fmt::format("{} and {}: no unit is in both: the first unit of the one is {}, and "
                      "the first of the other is {}",
                      before_.name,
                      now_.name,
                      first_unit(before_),
                      first_unit(now_)));
    }
  }

  /// `before` is null if the unit is new.
  void compare_unit(const RunFinding* before, const RunFinding& now) {
    const bool was_judged = before != nullptr && is_judged(before->verdict);
    if (is_failure(now.verdict)) {
      compare_failure(before, now);
    } else if (was_judged && is_failure(before->verdict) && now.verdict == Verdict::passed) {
      const bool was_flaky = before->verdict == Verdict::flaky;
      add(was_flaky ? Kind::flaky : Kind::mended, now.id, said(*before), said(now));
    } else if (!was_judged && now.verdict != Verdict::passed) {
      not_judged_.add(now, before == nullptr ? not_in_earlier_run : said(*before), said(now));
    }
    // A unit that fails ends early, so its cells and its error say nothing.
    if (before != nullptr && is_whole(*before) && is_whole(now)) compare_whole(*before, now);
  }

  /// `now` failed.
  void compare_failure(const RunFinding* before, const RunFinding& now) {
    // A failure that was known before does not excuse another one now.
    const bool failed =
        before != nullptr && is_failure(before->verdict) && (!before->is_known || now.is_known);
    const Kind kind = now.verdict == Verdict::flaky ? Kind::flaky
                      : failed                      ? Kind::still_broken
                                                    : Kind::newly_broken;
    Change& change = add(kind, now.id, before == nullptr ? "" : said(*before), said(now));
    change.is_worse = !failed && !now.is_known;
    change.minimal = now.minimal;
    if (!now.is_known) return;
    change.may_hide_others = now.may_hide_others;
    for (const RunKnown& each : now.known) {
      if (each.failed > 0) change.known.push_back(each.id);
    }
  }

  void compare_options(const RunFinding& before, const RunFinding& now) {
    if (before.asked == now.asked) {
      options_of_units_.add(now, "", "");
    } else {
      options_of_units_.add(
          now, asked_unlike(before.asked, now.asked), asked_unlike(now.asked, before.asked));
    }
  }

  /// Both ran to their end.
  void compare_whole(const RunFinding& before, const RunFinding& now) {
    compare_cells(before, now);
    auto& cases = now.cases < before.cases ? fewer_cases_ : more_cases_;
    cases.add(now, counted(before.cases, "case", "cases"), counted(now.cases, "case", "cases"));
    auto& other_cases = now.cases < before.cases ? more_cases_ : fewer_cases_;
    other_cases.add(now, "", "");
    // Known cases have no error, so that the worst of the others is compared with the worst of all.
    const bool is_one_known = before.is_known != now.is_known;
    if (!is_one_known && differs_by(options_.accuracy_factor, before.ratio_max, now.ratio_max)) {
      const bool grew = now.ratio_max > before.ratio_max;
      add(grew ? Kind::accuracy_lost : Kind::accuracy_gained,
          now.id,
          fmt::format("error/bound {:.3g}", before.ratio_max),
          fmt::format("error/bound {:.3g}", now.ratio_max))
          .is_worse = grew;
    }
    compare_power(before, now);
  }

  [[nodiscard]] bool has_one_seed() const {
    return before_.run.value("seed", ordered_json()) == now_.run.value("seed", ordered_json());
  }

  /// Whether both runs drew the same cases. With another seed, with other algorithms to draw from,
  /// or if only one of them went on past known failures, the cells that are not required and the
  /// worst case are others.
  [[nodiscard]] bool have_same_cases(const RunFinding& before, const RunFinding& now) const {
    return has_one_seed() && before.is_known == now.is_known && !algorithms_.contains(now.tested);
  }

  void compare_power(const RunFinding& before, const RunFinding& now) {
    if (!have_same_cases(before, now)) return;
    const auto words = [](const RunFinding& finding) {
      return fmt::format("smallest visible change {:.3g}, {} of no power",
                         finding.smallest_change,
                         counted(finding.powerless_cases, "case", "cases"));
    };
    const bool differs =
        differs_by(options_.accuracy_factor, before.smallest_change, now.smallest_change) ||
        before.powerless_cases != now.powerless_cases;
    // A check that sees less covers less.
    const bool is_less = now.powerless_cases > before.powerless_cases ||
                         (now.powerless_cases == before.powerless_cases &&
                          now.smallest_change > before.smallest_change);
    if (!differs) return;
    add(is_less ? Kind::power_lost : Kind::power_gained, now.id, words(before), words(now))
        .is_worse = is_less;
  }

  /// If the cases are others, a cell that is not required may be covered or not, which says
  /// nothing.
  void compare_cells(const RunFinding& before, const RunFinding& now) {
    if (!have_same_cases(before, now) && !(before.requires_all_cells && now.requires_all_cells))
      return;
    // Most units have the same cells in both runs, and there may be millions of cells.
    const bool is_same = before.cells == now.cells;
    const auto missing = [is_same](const std::vector<std::string>& all,
                                   const std::vector<std::string>& here) {
      std::vector<std::string> out;
      if (is_same) return out;
      std::set_difference(
          all.begin(), all.end(), here.begin(), here.end(), std::back_inserter(out));
      return out;
    };
    constexpr std::size_t named_max = 5;
    const auto lost = missing(before.cells, now.cells);
    lost_cells_.add(now, lost.empty() ? "" : "covered " + first_of(lost, named_max), "");
    const auto gained = missing(now.cells, before.cells);
    gained_cells_.add(now, "", gained.empty() ? "" : "covers " + first_of(gained, named_max));
  }

  /// Adds what changed in the same way for many units.
  void add_groups(Kind kind, std::vector<GroupChange> groups) {
    for (GroupChange& each : groups) {
      add(kind, std::move(each.what), std::move(each.before), std::move(each.now)).is_worse =
          kind == Kind::coverage_lost;
    }
  }

  void add_coverage() {
    add_groups(Kind::coverage_lost, judged_in_one(before_, now_, is_judged, not_in_run));
    add_groups(Kind::coverage_lost, std::move(lost_cells_).take());
    add_groups(Kind::coverage_lost, std::move(fewer_cases_).take());
    // A unit that fails now is named as broken already.
    const auto has_passed = [](Verdict verdict) { return verdict == Verdict::passed; };
    auto gained = judged_in_one(now_, before_, has_passed, not_in_earlier_run);
    for (GroupChange& each : gained) std::swap(each.before, each.now);
    add_groups(Kind::coverage_gained, std::move(gained));
    add_groups(Kind::coverage_gained, std::move(gained_cells_).take());
    add_groups(Kind::coverage_gained, std::move(more_cases_).take());
    add_groups(Kind::not_judged, std::move(not_judged_).take());
  }

  /// An algorithm that another version of a library does not have is no coverage that was lost.
  void add_algorithms() {
    for (const auto& [tested, all] : algorithms_) {
      add(Kind::version,
          "algorithms of " + tested + " in one run only",
          fmt::format("{}", fmt::join(all.before, ", ")),
          fmt::format("{}", fmt::join(all.now, ", ")));
    }
  }

  void add_options() {
    if (before_.ending != now_.ending) add(Kind::options, "ending", before_.ending, now_.ending);
    add_fields(Kind::options, before_.run, now_.run, "run");
    add_groups(Kind::options, std::move(options_of_units_).take());
  }

  void add_known() {
    for (const auto& [id, now] : now_.known) {
      const auto before = before_.known.find(id);
      if (before == before_.known.end() || before->second == now) continue;
      add(Kind::known, "known." + id, before->second, now);
    }
  }

  /// If one of the runs has no measurements at all, one line says so.
  void compare_measurements() {
    const auto number = [](const BenchResults& bench) {
      const auto count = static_cast<std::int64_t>(bench.measurements.size());
      return counted(count, "measurement", "measurements");
    };
    if (before_.bench && now_.bench) return compare_bench(*before_.bench, *now_.bench);
    if (before_.bench) {
      add(Kind::coverage_lost, "bench", number(*before_.bench), not_in_run).is_worse = true;
    } else if (now_.bench) {
      add(Kind::coverage_gained, "bench", not_in_earlier_run, number(*now_.bench));
    }
  }

  void compare_bench(const BenchResults& before, const BenchResults& now) {
    add_fields(Kind::version, before.context, now.context, "bench");
    const auto why_none = [](const BenchResults& bench, const char* absent) {
      return [&bench, absent](const std::string& name) {
        const auto found = bench.measurements.find(name);
        return found == bench.measurements.end() ? absent : found->second.failure;
      };
    };
    compare_speeds("bench/",
                   before.measurements,
                   why_none(before, not_in_earlier_run),
                   now.measurements,
                   why_none(now, not_in_run));
  }

  void compare_links() {
    // A link that a run did not judge is a loss of its own.
    const auto why_none = [](const RunReport& run) {
      return [&run](const std::string& id) -> std::string {
        const auto found = run.findings.find(id);
        const bool was_judged = found != run.findings.end() && is_judged(found->second.verdict);
        return was_judged ? "no bandwidth" : "";
      };
    };
    compare_speeds("", before_.links, why_none(before_), now_.links, why_none(now_));
  }

  /// Compares measurements by their names. why_none_*(name) says why a run did not make one that
  /// the other run made. It is empty if this is no difference.
  template <class WhyBefore, class WhyNow>
  void compare_speeds(const std::string& prefix,
                      const std::map<std::string, Measurement>& before,
                      const WhyBefore& why_none_before,
                      const std::map<std::string, Measurement>& now,
                      const WhyNow& why_none_now) {
    const auto was_made = [](const auto& all, const std::string& name) {
      const auto found = all.find(name);
      return found != all.end() && found->second.failure.empty();
    };
    for (const auto& [name, was] : before) {
      if (!was.failure.empty()) continue;
      if (was_made(now, name)) {
        add_speed(prefix + name, was, now.at(name));
      } else if (const std::string why = why_none_now(name); !why.empty()) {
        add(Kind::coverage_lost, prefix + name, to_text(was), why).is_worse = true;
      }
    }
    for (const auto& [name, is] : now) {
      if (!is.failure.empty() || was_made(before, name)) continue;
      const std::string why = why_none_before(name);
      if (!why.empty()) add(Kind::coverage_gained, prefix + name, why, to_text(is));
    }
  }

  void add_speed(const std::string& what, const Measurement& was, const Measurement& is) {
    if (was.bytes != is.bytes) {
      ++comparison_.links_of_other_sizes;
      return;
    }
    const Speed speed = compare_speed(was, is, options_.speed_factor);
    ++(speed == Speed::unknown ? comparison_.unknown_speeds : comparison_.compared_speeds);
    if (speed != Speed::slower && speed != Speed::faster) return;
    const bool is_slower = speed == Speed::slower;
    add(is_slower ? Kind::speed_lost : Kind::speed_gained, what, to_text(was), to_text(is))
        .is_worse = is_slower;
  }

  /// Adds the differences of two values, field by field.
  void add_fields(Kind kind,
                  const ordered_json& before,
                  const ordered_json& now,
                  const std::string& place) {
    if (before == now) return;
    const ordered_json was = by_name(before);
    const ordered_json is = by_name(now);
    if (!was.is_object() || !is.is_object()) {
      add(kind, place, plain(before), plain(now));
      return;
    }
    std::set<std::string> names;
    for (const auto* each : {&was, &is}) {
      for (const auto& [key, value] : each->items()) names.insert(key);
    }
    for (const std::string& each : names) {
      add_fields(kind,
                 was.value(each, ordered_json()),
                 is.value(each, ordered_json()),
                 place.empty() ? each : place + "." + each);
    }
  }

  static std::string plain(const ordered_json& value) {
    if (value.is_null()) return {};
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  void compare_duration(const RunFinding& before, const RunFinding& now) {
    if (!before.duration_s || !now.duration_s) return;
    const auto [least, most] = std::minmax(*before.duration_s, *now.duration_s);
    if (most - least < 1 || most < options_.duration_factor * least) return;
    add(Kind::duration,
        now.id,
        fmt::format("{:.1f} s", *before.duration_s),
        fmt::format("{:.1f} s", *now.duration_s));
  }

  const RunReport& before_;
  const RunReport& now_;
  const CompareOptions& options_;
  Comparison comparison_;
  /// The algorithms that code under test has in one run only.
  struct OneSided {
    std::set<std::string> before;
    std::set<std::string> now;
  };
  std::map<std::string, OneSided> algorithms_;
  UniformGroups lost_cells_;
  UniformGroups gained_cells_;
  UniformGroups fewer_cases_;
  UniformGroups more_cases_;
  UniformGroups not_judged_;
  UniformGroups options_of_units_;
};

}  // namespace

std::int64_t Comparison::count(Kind kind) const {
  return std::count_if(
      changes.begin(), changes.end(), [kind](const Change& each) { return each.kind == kind; });
}

bool Comparison::is_empty() const {
  return std::all_of(
      changes.begin(), changes.end(), [](const Change& each) { return each.is_as_before(); });
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
      throw BadInput(fmt::format("--fail-on: got {}, expected some of {}, separated by commas",
                                 name.empty() ? "an empty word" : name,
                                 fmt::join(fail_on_names, ", ")));
    }
    out.insert(static_cast<FailOn>(found - fail_on_names.begin()));
    start = end + 1;
  }
  return out;
}

std::string counted_changes(Kind kind, std::int64_t count) {
  return counted(count, info(kind).one, info(kind).many);
}

std::string counted_changes(const Comparison& comparison, Kind kind) {
  const auto& changes = comparison.changes;
  const std::int64_t known = std::count_if(changes.begin(), changes.end(), [&](const Change& each) {
    return each.kind == kind && !each.known.empty();
  });
  const std::int64_t others = comparison.count(kind) - known;
  if (known == 0) return counted_changes(kind, others);
  if (others == 0) return counted_changes(kind, known) + " as known";
  return fmt::format("{} ({} more as known)", counted_changes(kind, others), grouped(known));
}

bool is_worse(const Change& change, const std::set<FailOn>& matters) {
  const std::optional<FailOn> what = info(change.kind).counts_for;
  return change.is_worse && what && matters.contains(*what);
}

bool is_worse(const Comparison& comparison, const std::set<FailOn>& matters) {
  const auto& changes = comparison.changes;
  return std::any_of(
      changes.begin(), changes.end(), [&](const Change& each) { return is_worse(each, matters); });
}

std::string counted_changes(const Comparison& comparison,
                            const std::function<bool(const Change&)>& is_counted) {
  std::map<Kind, std::int64_t> counts;
  for (const Change& each : comparison.changes) counts[each.kind] += is_counted(each) ? 1 : 0;
  std::string text;
  for (const auto& [kind, count] : counts) {
    if (count > 0) text += (text.empty() ? "" : ", ") + counted_changes(kind, count);
  }
  return text;
}

std::string worse_beside(const Comparison& comparison, const std::set<FailOn>& matters) {
  return counted_changes(comparison, [&](const Change& each) {
    return each.is_worse && info(each.kind).counts_for && !is_worse(each, matters);
  });
}

std::string names_of(const std::set<FailOn>& matters) {
  std::string text;
  for (const FailOn each : matters) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", fail_on_names[spec::to_size(each)]);
  }
  return text;
}

}  // namespace rankcheck::harness::compare
