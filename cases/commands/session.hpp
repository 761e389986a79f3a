#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/journal.hpp"
#include "harness/operation.hpp"

#include "cases/commands/run_options.hpp"
#include "cases/commands/selection.hpp"

namespace rankcheck::cases {

/// One go at a run, the first or a later one: what is to be checked, and the journal, open.
struct Session {
  /// With the time budget and the timeout of the first session where this one has none.
  RunOptions options;
  Selection selection;
  Plan plan;
  std::filesystem::path folder;
  std::chrono::steady_clock::time_point start;
  std::chrono::steady_clock::time_point deadline;
  harness::Journal journal;
};

/// Where the report of such suites goes: as asked for, else a fresh folder under reports/ in the
/// source tree, else under ./rankcheck-report.
[[nodiscard]] std::filesystem::path choose_folder(const RunOptions& options,
                                                  const std::vector<std::string>& suites);

/// Plans a run and begins its journal, or goes on with the one to resume. Throws BadInput, also
/// where the run to resume checks something else by now, and FileError.
[[nodiscard]] Session open_session(const RunOptions& options, const harness::Catalogue& catalogue);

}  // namespace rankcheck::cases
