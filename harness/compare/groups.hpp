#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/compare/run_report.hpp"

namespace rankcheck::harness::compare {

/// A change of units, which are named together where they changed in the same way.
struct GroupChange {
  /// A unit's id, or "<operation>/<algorithm>/<tested>" with "*" for parts that differ.
  std::string what;
  std::string before;
  std::string now;
};

/// Units that were judged in `here` and not in `there`, without those of missing_algorithms(). If
/// nothing of a backend, operation or algorithm was judged there, one change names all its units.
/// `before` is their number, and `now` is what the other run says of one of them: `absent` if it
/// has none of them.
[[nodiscard]] std::vector<GroupChange> judged_in_one(const RunReport& here,
                                                     const RunReport& there,
                                                     bool (*is_counted)(Verdict),
                                                     const char* absent);

/// The algorithms that code under test had in `here`, by its name, and that another version of it
/// does not have in `there`: "ring", or "all_gather/ring" if it has them for other operations.
[[nodiscard]] std::map<std::string, std::set<std::string>> missing_algorithms(
    const RunReport& here, const RunReport& there);

/// Collects how units were and are in one respect.
class UniformGroups {
 public:
  /// `unit` must outlive this object. Units that did not change are added, too: a group is only
  /// named if all of its units changed in the same way.
  void add(const RunFinding& unit, std::string before, std::string now);

  /// Returns the changes, for the largest groups of two or more units that changed in one way.
  [[nodiscard]] std::vector<GroupChange> take() &&;

 private:
  struct Row {
    const RunFinding* unit;
    std::string before;
    std::string now;
  };

  std::vector<Row> rows_;
  bool has_change_ = false;
};

/// "falsified: differs from the reference".
[[nodiscard]] std::string said(const RunFinding& finding);

}  // namespace rankcheck::harness::compare
