#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/ptycho/solvers/solver.hpp"

#include "cases/reconstruct/reconstruction.hpp"

/// The solvers, and what they are made of.
namespace rankcheck::cases::reconstruct {

/// Returns every solver, the default one first. A program without solvers has no command
/// `reconstruct`.
[[nodiscard]] const std::vector<Solver>& solvers();

/// Returns the solver with this name. Throws BadInput if there is none.
[[nodiscard]] const Solver& find_solver(const std::string& name);

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

/// Takes the step in the reference of the operation `<solver>_step`, in double precision and in
/// this process. Compares object, probe, cost and the solver's memory, each with the reference's
/// own bound. Throws reference::Cancelled if a reference::CancellationScope is cancelled.
[[nodiscard]] StepCheck check_step(std::string_view operation,
                                   const Problem& problem,
                                   const StepTaken& step);

/// Returns the most bytes that check_step() takes in addition to the states, for objects of one
/// slice. The reference holds the values of all frames of a step at once, each with a bound.
[[nodiscard]] double check_bytes(const Dataset& data, int modes, int batches);

}  // namespace rankcheck::cases::reconstruct
