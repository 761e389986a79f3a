#pragma once

#include <cstdint>
#include <memory>

#include "gpu/ptycho/solvers/solver.hpp"

#include "cases/reconstruct/reconstruction.hpp"

namespace rankcheck::cases::reconstruct {

/// Number of values that are exchanged at a time if objects lie in tiles, so that no device needs
/// memory for a whole object. They take half a MiB, whose transfer takes many times as long as
/// starting a collective.
inline constexpr std::int64_t stretch_max = 1 << 16;

/// Starts a reconstruction on the devices of the problem's cluster, in single precision. The
/// cluster and the data must outlive it. Throws BadInput if the arrays that the solver remembers do
/// not fit the data.
[[nodiscard]] std::unique_ptr<Reconstruction> start_on_devices(gpu::StepKind kind,
                                                               const Problem& problem,
                                                               const State& from);

}  // namespace rankcheck::cases::reconstruct
