#include "harness/compare/groups.hpp"

#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "harness/base/table.hpp"

namespace rankcheck::harness::compare {

namespace {

/// Operation, algorithm and code under test; "*" is any. The texts are those of a unit.
using Group = std::array<std::string_view, 3>;

/// Returns the groups of a unit, the largest first.
std::array<Group, 4> groups_of(const RunFinding& unit) {
  constexpr std::string_view any = "*";
  return {Group{any, any, any},
          Group{any, any, unit.tested},
          Group{unit.operation, any, unit.tested},
          Group{unit.operation, unit.algorithm, unit.tested}};
}

std::string group_name(const Group& group) {
  return fmt::format("{}/{}/{}", group[0], group[1], group[2]);
}

/// The units of one group that were judged in one run only.
struct OneSided {
  std::int64_t units = 0;
  std::string elsewhere;
};

/// The units of one group, as far as they were added.
struct Uniform {
  const std::string* before = nullptr;
  const std::string* now = nullptr;
  std::int64_t units = 0;
  bool is_uniform = true;
};

/// Says which algorithm of which unit another version of the code under test does not have.
class OtherVersion {
 public:
  OtherVersion(const RunReport& here, const RunReport& there) : here_(here), there_(there) {
    for (const auto& [id, unit] : there.findings) {
      if (is_judged(unit.verdict)) operations_.insert({unit.operation, unit.tested});
      groups_.insert({"*", unit.algorithm, unit.tested});
      groups_.insert({unit.operation, unit.algorithm, unit.tested});
    }
  }

  /// "ring" or "all_gather/ring". Empty if it has the algorithm, is the same version, or was not
  /// judged in the operation.
  [[nodiscard]] std::string missing(const RunFinding& unit) const {
    if (!operations_.contains({unit.operation, unit.tested}) ||
        groups_.contains({unit.operation, unit.algorithm, unit.tested}) ||
        versions(here_, unit.tested) == versions(there_, unit.tested)) {
      return {};
    }
    const bool has_elsewhere = groups_.contains({"*", unit.algorithm, unit.tested});
    return has_elsewhere ? unit.operation + '/' + unit.algorithm : unit.algorithm;
  }

 private:
  static nlohmann::ordered_json versions(const RunReport& run, const std::string& tested) {
    using Pointer = nlohmann::ordered_json::json_pointer;
    const Pointer place = Pointer("/backends") / tested / "versions";
    return run.environment.value(place, nlohmann::ordered_json());
  }

  const RunReport& here_;
  const RunReport& there_;
  std::set<std::pair<std::string_view, std::string_view>> operations_;
  std::set<Group> groups_;
};

}  // namespace

std::string said(const RunFinding& finding) {
  std::string text(name(finding.verdict));
  if (finding.is_known && is_failure(finding.verdict)) text += " as known";
  if (!finding.reason.empty()) text += ": " + finding.reason;
  return text;
}

std::vector<GroupChange> judged_in_one(const RunReport& here,
                                       const RunReport& there,
                                       bool (*is_counted)(Verdict),
                                       const char* absent) {
  std::set<Group> judged_there;
  for (const auto& [id, finding] : there.findings) {
    if (!is_judged(finding.verdict)) continue;
    for (const Group& group : groups_of(finding)) judged_there.insert(group);
  }
  const OtherVersion other_version(here, there);
  std::map<std::string, OneSided> missing;
  for (const auto& [id, unit] : here.findings) {
    if (!is_counted(unit.verdict)) continue;
    const auto other = there.findings.find(id);
    if (other != there.findings.end() && is_judged(other->second.verdict)) continue;
    if (!other_version.missing(unit).empty()) continue;
    std::string place = id;
    for (const Group& group : groups_of(unit)) {
      if (judged_there.contains(group)) continue;
      place = group_name(group);
      break;
    }
    OneSided& group = missing.try_emplace(place, OneSided{.elsewhere = absent}).first->second;
    ++group.units;
    if (other != there.findings.end()) group.elsewhere = said(other->second);
  }
  std::vector<GroupChange> changes;
  for (const auto& [what, group] : missing) {
    changes.push_back({.what = what,
                       .before = counted(group.units, "judged unit", "judged units"),
                       .now = group.elsewhere});
  }
  return changes;
}

std::map<std::string, std::set<std::string>> missing_algorithms(const RunReport& here,
                                                                const RunReport& there) {
  const OtherVersion other_version(here, there);
  std::map<std::string, std::set<std::string>> all;
  for (const auto& [id, unit] : here.findings) {
    const std::string missing = other_version.missing(unit);
    if (!missing.empty() && is_judged(unit.verdict)) all[unit.tested].insert(missing);
  }
  return all;
}

void UniformGroups::add(const RunFinding& unit, std::string before, std::string now) {
  has_change_ = has_change_ || before != now;
  rows_.push_back({.unit = &unit, .before = std::move(before), .now = std::move(now)});
}

std::vector<GroupChange> UniformGroups::take() && {
  if (!has_change_) return {};
  std::map<Group, Uniform> groups;
  for (const Row& row : rows_) {
    for (const Group& each : groups_of(*row.unit)) {
      Uniform& group = groups[each];
      if (group.units == 0) {
        group.before = &row.before;
        group.now = &row.now;
      }
      ++group.units;
      group.is_uniform = group.is_uniform && *group.before == row.before && *group.now == row.now;
    }
  }
  std::map<std::string, GroupChange> changes;
  for (const Row& row : rows_) {
    if (row.before == row.now) continue;
    std::string what = row.unit->id;
    for (const Group& each : groups_of(*row.unit)) {
      const Uniform& group = groups.at(each);
      if (!group.is_uniform || group.units < 2) continue;
      what = group_name(each);
      break;
    }
    changes.emplace(what, GroupChange{.what = what, .before = row.before, .now = row.now});
  }
  std::vector<GroupChange> out;
  for (auto& [what, change] : changes) out.push_back(std::move(change));
  return out;
}

}  // namespace rankcheck::harness::compare
