#pragma once

#include <string>

#include "harness/backend/backend.hpp"
#include "harness/check/operation.hpp"

/// Programs that make the calls of a case without rankcheck, for the people who maintain the code
/// under test.
namespace rankcheck::cases::emit {

/// Returns a program in C that makes the MPI calls of a case and of its earlier calls. It compares
/// the results with tables, and exits with 1 on every rank if an element is wrong on any rank.
/// `backend` says which variables force the case's algorithm. Throws BadInput if the case cannot be
/// such a program.
[[nodiscard]] std::string mpi_program(const harness::Catalogue& catalogue,
                                      const harness::Backend& backend,
                                      const harness::Case& c);

}  // namespace rankcheck::cases::emit
