#pragma once

#include <vector>

#include "harness/case/verdict.hpp"
#include "harness/check/finding.hpp"
#include "harness/known/known_defects.hpp"

namespace rankcheck::harness {

class Catalogue;

/// After so many hung or crashed cases of one known defect, a unit leaves out further cases that
/// the defect covers: each of them costs a timeout or a new start of the workers.
inline constexpr int known_restarts_max = 5;

/// Counts the cases of one unit that known defects cover. A defect also covers a failure if it
/// covers a stage of the case: stages have other roots and groups, and a composition takes any
/// algorithm for what it compares with.
class KnownCases {
 public:
  /// `defects` are those of known_of(). They must outlive this object.
  KnownCases(const Unit& unit, const std::vector<const KnownDefect*>& defects);

  /// Whether the case should not be run any more, because a defect covers it or one of its stages,
  /// and has stopped the backend often enough. Counts the case.
  [[nodiscard]] bool leaves_out(const Catalogue& catalogue, const Case& c);
  /// Whether a case that fails in this way is, or may be, a known failure.
  [[nodiscard]] bool may_cover(const Case& c, const Judgement& failure) const;
  /// Whether this failure of the case is known only if its replays show that it is flaky.
  [[nodiscard]] bool needs_replays(const Case& c, const Judgement& failure) const;
  /// Whether this failure is known because of one of the stages.
  [[nodiscard]] bool covers_stages(const std::vector<Case>& stages, const Judgement& failure) const;
  /// Whether one of the defects damages memory.
  [[nodiscard]] bool may_damage() const;
  /// Whether one of these defects covers the case or one of its stages. Then the backend has to
  /// start anew.
  [[nodiscard]] bool may_have_damaged(const Case& c, const std::vector<Case>& stages) const;
  /// Counts a case that was judged. `stages` are its stages as they ran, and are needed only of a
  /// failure. `verdict` is the one of the judgement, or flaky. Returns whether the case is a known
  /// failure.
  bool count(const Case& c,
             const std::vector<Case>& stages,
             const Judgement& judgement,
             Verdict verdict);

  /// The counts of the defects that cover some case.
  [[nodiscard]] std::vector<KnownCount> counts() const;

 private:
  struct Entry {
    const KnownDefect* defect;
    /// Whether the defect is about the unit itself, and not only about stages.
    bool is_about_unit = false;
    KnownCount count = {};
    int stops = 0;
  };

  [[nodiscard]] bool covers(const Entry& entry, const Case& c) const {
    return entry.is_about_unit && entry.defect->covers(c, family_);
  }
  /// Whether one of the stages can show the defect.
  [[nodiscard]] bool covers_stage(const Entry& entry, const std::vector<Case>& stages) const;

  Unit unit_;
  const Family* family_;
  std::vector<Entry> entries_;
};

}  // namespace rankcheck::harness
