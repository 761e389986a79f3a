#pragma once

#include "gpu/device/cluster.hpp"

#include "harness/run/interrupt.hpp"

#include "cases/reconstruct/reconstruct_options.hpp"

/// The command `reconstruct`. It is part of the main program and of worker programs with their own
/// devices. This code does not know how the operators are compiled; the program that links it
/// decides.
namespace rankcheck::cases::reconstruct {

/// Reconstructs with the ranks of this process. Only the process with rank 0 prints and writes.
/// Returns the exit status. Throws BadInput, and everything that the cluster throws.
[[nodiscard]] int reconstruct_on(gpu::Cluster& cluster,
                                 const Options& options,
                                 const harness::run::Interrupt& interrupt);

}  // namespace rankcheck::cases::reconstruct
