#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/check/finding.hpp"
#include "harness/known/known_defects.hpp"

namespace rankcheck::harness {

/// What a run says about a known defect.
enum class KnownState : std::uint8_t {
  /// Cases failed as the defect says.
  failing,
  /// Cases that the defect covers ran, and none failed as it says.
  passing,
  /// The defect covers no case of the run.
  unmatched,
  /// The library or its version is another one.
  not_applied,
  /// Its units were not run, or the run or one of them ended before anything can be said.
  not_checked,
};

[[nodiscard]] std::string_view name(KnownState state);

/// A known defect in a run.
struct KnownStatus {
  KnownDefect defect;
  KnownState state = KnownState::unmatched;
  /// Whether the run began after the day on which the entry expired. It is applied all the same.
  bool is_expired = false;
  /// Number of units in which cases failed as the defect says.
  std::int64_t units = 0;
  /// Sums over all units, see KnownCount.
  std::int64_t covered = 0;
  std::int64_t failed = 0;
  std::int64_t left_out = 0;
  /// For each code under test with a unit that matches: why the defect cannot be in it.
  std::map<std::string, std::string> not_applied = {};

  /// Whether somebody should look at the entry: it expired, or shows no defect.
  [[nodiscard]] bool is_stale() const {
    return is_expired || state == KnownState::passing || state == KnownState::unmatched;
  }
};

/// Sums up what the findings of a run say. `is_whole`: all units were run to their end.
[[nodiscard]] std::vector<KnownStatus> known_statuses(const std::vector<KnownDefect>& defects,
                                                      const nlohmann::ordered_json& environment,
                                                      std::span<const Finding> findings,
                                                      bool is_whole);

/// "2 known defects are stale". Empty if none is.
[[nodiscard]] std::string stale_text(std::span<const KnownStatus> all);

[[nodiscard]] nlohmann::ordered_json to_json(const KnownStatus& status);

/// "known mpich-unsigned-max: failed in 12 of 35 cases (2 units): MPI_MAX compares …; https://…"
[[nodiscard]] std::string to_text(const KnownStatus& status);

}  // namespace rankcheck::harness
