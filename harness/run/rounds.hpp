#pragma once

#include "harness/run/session.hpp"
#include "harness/run/this_program.hpp"

namespace rankcheck::harness::run {

/// Checks the units of a session that are not done yet, in one round. If the plan cycles, further
/// rounds follow until the time is over. Journals the findings, shows the progress, and ends the
/// journal.
void run_rounds(Session& session, const ThisProgram& program);

}  // namespace rankcheck::harness::run
