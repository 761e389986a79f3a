#pragma once

#include <string>

#include "harness/operation.hpp"

#include "cases/commands/session.hpp"

namespace rankcheck::cases {

/// Checks the units of a session that are not done yet: in one round, or in rounds until the time
/// is over if the plan cycles. Journals the findings, shows the progress, and ends the journal.
/// `program` is how the user called this program.
void run_rounds(Session& session, const harness::Catalogue& catalogue, const std::string& program);

}  // namespace rankcheck::cases
