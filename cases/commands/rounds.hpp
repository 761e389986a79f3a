#pragma once

#include <string>

#include "harness/operation.hpp"

#include "cases/commands/session.hpp"

namespace rankcheck::cases {

/// Checks the units of a session that are not done yet, in one round or, where the plan cycles,
/// until its time is over; journals what it finds, tells people how it goes, and ends the journal.
/// `program` is how the user called this one.
void run_rounds(Session& session, const harness::Catalogue& catalogue, const std::string& program);

}  // namespace rankcheck::cases
