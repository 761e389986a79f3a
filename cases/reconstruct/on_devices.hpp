#pragma once

#include <cstdint>
#include <memory>

#include "gpu/ptycho/solver.hpp"

#include "cases/reconstruct/reconstruction.hpp"

namespace rankcheck::cases::reconstruct {

/// Values that are exchanged at a time where objects lie in tiles, so that no device needs room for
/// a whole one: half a MiB, which takes many times as long as a collective takes to begin.
inline constexpr std::int64_t stretch_max = 1 << 16;

/// Starts a reconstruction over the devices of the problem's cluster, in single precision. Throws
/// BadInput where what the solver remembers does not fit the data.
[[nodiscard]] std::unique_ptr<Reconstruction> start_on_devices(gpu::StepKind kind,
                                                               const Problem& problem,
                                                               const State& from);

}  // namespace rankcheck::cases::reconstruct
