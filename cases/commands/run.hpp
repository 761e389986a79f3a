#pragma once

#include <filesystem>
#include <string>

#include "harness/report.hpp"

#include "cases/commands/interrupt.hpp"
#include "cases/commands/run_options.hpp"

namespace rankcheck::cases {

/// What a run left behind.
struct RunOutcome {
  int status = 0;
  harness::Report report;
  std::filesystem::path folder = {};
};

/// Checks what the options select, until that is done or `interrupt` is requested, and writes the
/// reports. Throws BadInput, FileError, and harness::Interrupted where the run had not begun.
RunOutcome run_selection(RunOptions options,
                         const std::string& program,
                         const Interrupt& interrupt);

/// The gate for hardware: the suite `hardware`, and what no suite can say. Its exit status. Throws
/// BadInput, FileError, and harness::Interrupted where the gate had not begun.
int run_hardware(const RunOptions& options, const std::string& program, const Interrupt& interrupt);

}  // namespace rankcheck::cases
