#pragma once

#include <filesystem>

#include "harness/report/report.hpp"
#include "harness/run/interrupt.hpp"
#include "harness/run/run_options.hpp"
#include "harness/run/this_program.hpp"

namespace rankcheck::cases {

/// The result of a run.
struct RunOutcome {
  int status = 0;
  harness::Report report;
  std::filesystem::path folder = {};
};

/// Checks what the options select, until that is done or `interrupt` is requested, and writes the
/// reports. Throws BadInput and FileError. Throws harness::Interrupted if the run had not begun.
RunOutcome run_selection(harness::run::RunOptions options,
                         const harness::run::ThisProgram& program,
                         const harness::run::Interrupt& interrupt);

/// Runs the gate for hardware: the suite `hardware`, and checks that no suite can describe. Returns
/// the exit status. Throws BadInput and FileError. Throws harness::Interrupted if the gate had not
/// begun.
int run_hardware(const harness::run::RunOptions& options,
                 const harness::run::ThisProgram& program,
                 const harness::run::Interrupt& interrupt);

}  // namespace rankcheck::cases
