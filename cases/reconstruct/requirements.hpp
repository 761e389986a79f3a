#pragma once

#include "cases/reconstruct/reconstruct_options.hpp"
#include "cases/reconstruct/reconstruction.hpp"

/// What the options ask for must fit the data, the checkpoint and this machine. These checks run
/// before the first step.
namespace rankcheck::cases::reconstruct {

/// Checks what can be refused before the long work starts. Throws BadInput.
void require_sense(const Options& options);

/// Throws BadInput if the user asks to start from the file's object and it is missing or unusable.
void require_start(const Options& options, const Dataset& data);

/// Throws BadInput if the user gives a defocus although the file has a probe.
void require_no_probe(const Options& options, const Dataset& data);

/// Throws BadInput if the solver cannot take this number of batches of the frames.
void require_batches(const Solver& solver, int batches, const Dataset& data);

/// Throws BadInput if the options leave no step to take, or none to verify.
void require_steps(const Options& options, const Result& from);

/// Throws BadInput if the ranks' objects and exit waves do not fit into this machine's memory.
void require_room(const Solver& solver, const Problem& problem, int modes);

/// Throws BadInput if the reference does not fit into this machine's memory. The reference runs in
/// this process on any backend.
void require_room_for_checks(const Options& options,
                             const Result& from,
                             const Dataset& data,
                             int modes);

/// Throws BadInput if the sample would be so far from the focus that the probe does not fit into
/// its window.
void require_near_focus(const Options& options, const Dataset& data, const Shards& shards);

}  // namespace rankcheck::cases::reconstruct
