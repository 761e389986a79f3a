#pragma once

#include <vector>

#include "cases/reconstruct/reconstruction.hpp"

namespace rankcheck::cases::reconstruct {

/// Every solver, the default one first. The program has no command `reconstruct` without any.
[[nodiscard]] const std::vector<Solver>& solvers();

}  // namespace rankcheck::cases::reconstruct
