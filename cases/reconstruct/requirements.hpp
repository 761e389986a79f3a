#pragma once

#include "cases/reconstruct/reconstruct_command.hpp"
#include "cases/reconstruct/reconstruction.hpp"

/// What the options ask for must fit the data, the checkpoint and this machine. These checks run
/// before the first step. They throw BadInput.
namespace rankcheck::cases::reconstruct {

/// Checks what can be refused before the data are opened: the outputs.
void require_sense(const Options& options);

/// Checks what can be refused before the frames are read: the start, the batches, the steps, and
/// the memory that the devices and the checks need.
void require_fit(const Options& options,
                 const Solver& solver,
                 const Result& from,
                 const Problem& problem,
                 int modes);

/// Rejects a defocus that puts the sample so far from the focus that the probe does not fit into
/// its window.
void require_near_focus(const Options& options, const Dataset& data, const Shards& shards);

}  // namespace rankcheck::cases::reconstruct
