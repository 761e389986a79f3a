#pragma once

#include <vector>

#include "harness/compare/run_report.hpp"
#include "harness/known/known_defects.hpp"
#include "harness/report/known_report.hpp"

namespace rankcheck::harness::compare {

/// Marks the failures of a run that known defects explain: the shrunk case and the verdict are as
/// an entry says, and the library has the version. The run itself may not have known the defects,
/// so that its units ended at these failures; RunFinding::may_hide_others says so.
void mark_known(RunReport& run, const std::vector<KnownDefect>& defects);

/// Sums up what the marked failures of a run say about each defect.
[[nodiscard]] std::vector<KnownStatus> known_statuses(const RunReport& run,
                                                      const std::vector<KnownDefect>& defects);

/// "mpich-unsigned-max: 3 units fail as known: MPI_MAX compares …; https://…"
[[nodiscard]] std::string known_line(const KnownStatus& status);

}  // namespace rankcheck::harness::compare
