#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/report/causes.hpp"
#include "harness/report/report.hpp"
#include "harness/report/text_style.hpp"

/// A report as text for a terminal: the verdict first, then failures, then the table.
namespace rankcheck::harness {

/// A backend on which nothing was run.
struct AbsentBackend {
  std::string name;
  /// skipped if the backend is not there, errored if it did not open.
  Verdict verdict = Verdict::skipped;
  std::string reason;
  std::int64_t units = 0;
};

/// Returns the backends on which nothing was run, sorted by name.
[[nodiscard]] std::vector<AbsentBackend> absent_backends(const Report& report);
/// "cuda did not run (88 units skipped): no NVIDIA driver is installed"
[[nodiscard]] std::string to_text(const AbsentBackend& backend);

/// What each backend was made of, a line each: "mpi: mpi Open MPI v4.1.4". Versions that are not
/// text are left out. Long ones are shortened.
[[nodiscard]] std::vector<std::string> version_lines(const Report& report);

/// Returns the findings of backends that were run.
[[nodiscard]] std::vector<Finding> findings_of_present(const Report& report);
/// Returns the causes of those of these findings that need attention: red and errored ones. The
/// report must outlive them.
[[nodiscard]] std::vector<FailureGroup> causes_of(const Report& report);

/// Says in one sentence what came out: "Everything passed: 12 passed, of 12 units."
[[nodiscard]] std::string verdict_sentence(const Report& report);
/// Says in one sentence what is wrong.
[[nodiscard]] std::string failure_sentence(const Finding& finding);

struct TextOptions {
  /// The command with which the reader calls rankcheck in a shell.
  std::string program = "rankcheck";
  TextStyle style = {};
  std::size_t width_max = text_columns_max;
  /// Whether units that only lack coverage are no failures, and no verdict is given. A part of a
  /// gate is judged by the gate.
  bool is_part_of_gate = false;
};

/// The verdict, and a paragraph for each of the first causes of failures: a sentence about the unit
/// with the smallest case, its wrong elements, the line that replays the case, and the other units.
[[nodiscard]] std::string verdict_and_failures(const Report& report, const TextOptions& options);

/// The table, a line for each backend on which nothing was run, and the cells that are not offered.
[[nodiscard]] std::string table_text(const Report& report, const TextOptions& options);

}  // namespace rankcheck::harness
