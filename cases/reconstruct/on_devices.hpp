#pragma once

#include <memory>

#include "gpu/ptycho/solver.hpp"

#include "cases/reconstruct/reconstruction.hpp"

namespace rankcheck::cases::reconstruct {

/// Starts a reconstruction over the devices of the problem's cluster, in single precision. Throws
/// BadInput where what the solver remembers does not fit the data.
[[nodiscard]] std::unique_ptr<Reconstruction> start_on_devices(gpu::StepKind kind,
                                                               const Problem& problem,
                                                               const State& from);

}  // namespace rankcheck::cases::reconstruct
