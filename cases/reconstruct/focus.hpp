#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/reconstruction.hpp"

/// Finds a starting probe if the data have none.
namespace rankcheck::cases::reconstruct {

/// Returns a probe whose diffraction without a sample would be the mean frame ([detector,
/// detector], zero frequency first). The sample lies `defocus` metres behind the probe's focus,
/// along the beam. The wave is paraxial, as in propagate_fresnel. The result is [1, detector,
/// detector], with its middle at detector / 2.
[[nodiscard]] std::vector<std::complex<float>> starting_probe(const Dataset& data,
                                                              std::span<const double> mean_frame,
                                                              double defocus);

/// Returns the possible distances in metres between focus and sample, without a sign: ascending, at
/// least one. A probe in focus is often too narrow to light any part of the sample twice, and then
/// any object fits the frames. So:
/// - 0 is included only if the probe in focus is at least half as wide as neighbouring positions
///   are apart. It is also included if no other distance makes sense.
/// - The other distances make the probe that wide and wider in steps, up to the widest one whose
///   frames a detector can sample.
/// The width is the root of the mean squared distance from the probe's middle.
[[nodiscard]] std::vector<double> defoci_to_try(const Dataset& data,
                                                std::span<const double> mean_frame);

/// Returns the largest distance from the focus, in metres, at which a probe of this mean frame
/// still fits into its window. Infinite if the probe fits at any distance.
[[nodiscard]] double defocus_most(const Dataset& data, std::span<const double> mean_frame);

/// The outcome of one start.
struct Trial {
  double defocus = 0;
  double cost = 0;
  /// This is trial `number` (from 1) of `trials`.
  std::int64_t number = 0;
  std::int64_t trials = 0;
};

/// Callbacks of a search for the focus.
struct Search {
  /// Whether to stop. Asked after every step; must give the same answer on all processes.
  std::function<bool()> is_interrupted = [] { return false; };
  /// Called after each trial, and when a defocus was chosen. Only on the process that has rank 0.
  std::function<void(const Trial& trial)> tried = [](const Trial&) {};
  std::function<void(double defocus)> chosen = [](double) {};
};

/// Takes some iterations from the start of each defocus, on both sides of the focus. Returns the
/// best defocus in metres, negative before the focus. It has the smallest quotient of its cost and
/// the cost on the other side. Costs alone do not decide, because narrow probes reach low costs on
/// both sides. Returns 0, which has no other side, if its cost is lower still. Returns nothing if
/// the search was interrupted.
[[nodiscard]] std::optional<double> find_defocus(const Problem& problem,
                                                 Reconstruction& running,
                                                 std::span<const double> defoci,
                                                 const std::function<State(double defocus)>& start,
                                                 const Search& search);

/// Starts a reconstruction of the problem's data, which have no probe. Each trial puts a probe into
/// `data`, and `start` makes a state from them. At the end `data` have the chosen probe. Returns
/// null if the search was interrupted.
[[nodiscard]] std::unique_ptr<Reconstruction> start_without_probe(
    const Solver& solver,
    const Problem& problem,
    Dataset& data,
    const std::function<State()>& start,
    const Search& search);

}  // namespace rankcheck::cases::reconstruct
