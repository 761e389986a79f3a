#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/base/version_range.hpp"
#include "harness/case/case.hpp"
#include "harness/case/verdict.hpp"
#include "harness/check/finding.hpp"
#include "harness/check/operation.hpp"
#include "harness/known/case_condition.hpp"

namespace rankcheck::harness {

/// The version of files of known defects. reports/known.schema.json describes it.
inline constexpr int known_version = 1;

/// A defect that somebody knows and accepts for now.
struct KnownDefect {
  std::string id;
  /// Shell patterns. One of each list must match the unit's name. `backends` are also matched with
  /// the name that a subject gave itself.
  std::vector<std::string> operations{"*"};
  std::vector<std::string> algorithms{"*"};
  std::vector<std::string> backends{"*"};
  std::vector<std::string> properties{"*"};
  /// The library with the defect, and its versions. Empty: any.
  std::string library;
  std::optional<VersionRange> versions;
  /// The text of `versions`.
  std::string versions_text;
  /// The cases that can fail. All conditions must hold.
  std::vector<CaseCondition> cases;
  std::vector<Verdict> verdicts{Verdict::falsified};
  /// How cases fail that do not hang or crash.
  std::vector<Symptom> symptoms{Symptom::value};
  std::string reason;
  std::string link;
  /// The last day, as 2026-12-31, on which the defect should be accepted. Empty: no end.
  std::string expires;

  /// Whether the names of the unit match.
  [[nodiscard]] bool is_about(const Unit& unit) const;
  /// Whether they match apart from operation and algorithm. A stage of the unit's cases may then
  /// show the defect.
  [[nodiscard]] bool may_be_in_stages(const Unit& unit) const;
  /// Whether the case can fail because of the defect. The family is the one of the case's
  /// operation and may be null.
  [[nodiscard]] bool covers(const Case& c, const Family* family) const;
  /// Whether a failure with this verdict and symptom is as the defect says. A failure that was a
  /// hang or a crash has no symptom, and each will do.
  [[nodiscard]] bool covers(Verdict verdict, Symptom symptom) const;
  /// Whether cases write outside their buffers. Then the process that ran one may fail later, and
  /// in any way.
  [[nodiscard]] bool damages_memory() const;
};

/// Reads the JSON of a file. Throws BadInput that names `place`, the entry and what is wrong.
[[nodiscard]] std::vector<KnownDefect> known_from_json(const nlohmann::json& json,
                                                       const std::string& place);

/// Joins the JSON of several files, which are read from `paths`. Null if there are none. Throws
/// BadInput, also for an entry that can match nothing in the catalogue, and FileError.
[[nodiscard]] nlohmann::ordered_json read_known_files(const std::vector<std::string>& paths,
                                                      const Catalogue& catalogue);

/// Says why a defect cannot be in the code under test `tested`: its library or the version is
/// another one. Empty if the defect can be there. `environment` is the one of the run's report.
[[nodiscard]] std::string why_not_applied(const KnownDefect& defect,
                                          const nlohmann::ordered_json& environment,
                                          const std::string& tested);

/// The defects that a unit, or a stage of its cases, can show in this environment.
[[nodiscard]] std::vector<const KnownDefect*> known_of(const std::vector<KnownDefect>& defects,
                                                       const nlohmann::ordered_json& environment,
                                                       const Unit& unit);

}  // namespace rankcheck::harness
