#pragma once

#include <vector>

#include "cases/reconstruct/reconstruction.hpp"

namespace rankcheck::cases::reconstruct {

/// Returns every solver, the default one first. A program without solvers has no command
/// `reconstruct`.
[[nodiscard]] const std::vector<Solver>& solvers();

}  // namespace rankcheck::cases::reconstruct
