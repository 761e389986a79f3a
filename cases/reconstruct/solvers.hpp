#pragma once

#include <string>
#include <vector>

#include "cases/reconstruct/reconstruction.hpp"

namespace rankcheck::cases::reconstruct {

/// Returns every solver, the default one first. A program without solvers has no command
/// `reconstruct`.
[[nodiscard]] const std::vector<Solver>& solvers();

/// Returns the solver with this name. Throws BadInput if there is none.
[[nodiscard]] const Solver& find_solver(const std::string& name);

}  // namespace rankcheck::cases::reconstruct
