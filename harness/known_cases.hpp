#pragma once

#include <vector>

#include "harness/finding.hpp"
#include "harness/known_defects.hpp"
#include "harness/verdict.hpp"

namespace rankcheck::harness {

/// After so many hung or crashed cases of one known defect, a unit leaves out further cases that
/// the defect covers: each of them costs a timeout or a new start of the workers.
inline constexpr int known_restarts_max = 5;

/// Counts the cases of one unit that known defects cover.
class KnownCases {
 public:
  /// `defects` are those that the unit can show. They must outlive this object.
  KnownCases(const Unit& unit, const std::vector<const KnownDefect*>& defects);

  [[nodiscard]] bool is_empty() const { return entries_.empty(); }
  /// Whether the case should not be run any more, because a defect covers it and has stopped the
  /// backend often enough. Counts the case.
  [[nodiscard]] bool leaves_out(const Case& c);
  /// Whether a case that fails with this verdict is, or may be, a known failure.
  [[nodiscard]] bool may_cover(const Case& c, Verdict verdict) const;
  /// Whether a failure of the case with this verdict is known only if its replays show that it is
  /// flaky.
  [[nodiscard]] bool needs_replays(const Case& c, Verdict verdict) const;
  /// Counts a case that was judged. Returns whether it is a known failure.
  bool count(const Case& c, const Judgement& judgement);

  /// The counts of the defects that cover some case.
  [[nodiscard]] std::vector<KnownCount> counts() const;

 private:
  struct Entry {
    const KnownDefect* defect;
    KnownCount count = {};
    int stops = 0;
  };

  [[nodiscard]] bool covers(const Entry& entry, const Case& c) const {
    return entry.defect->covers(c, family_);
  }

  const Family* family_;
  std::vector<Entry> entries_;
};

}  // namespace rankcheck::harness
