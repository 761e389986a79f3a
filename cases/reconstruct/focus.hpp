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

/// Where to start from where nobody knows the probe.
namespace rankcheck::cases::reconstruct {

/// A probe whose diffraction without a sample would be the mean frame ([detector, detector], zero
/// frequency first), `defocus` metres behind its focus, along the beam: propagate_fresnel's
/// paraxial wave. [1, detector, detector], its middle at detector / 2.
[[nodiscard]] std::vector<std::complex<float>> starting_probe(const Dataset& data,
                                                              std::span<const double> mean_frame,
                                                              double defocus);

/// How many metres from the focus the sample may have been, on either side; ascending, never none.
/// In focus, a probe is often too narrow to light any part of the sample twice, and then any object
/// fits the frames. So: 0 only where it is at least half as wide as neighbouring positions are
/// apart; and in steps, what makes it that wide and wider, up to the widest whose frames detectors
/// can sample. Width is the root of the mean squared distance from the middle.
[[nodiscard]] std::vector<double> defoci_to_try(const Dataset& data,
                                                std::span<const double> mean_frame);

/// The farthest from the focus that a probe of this mean frame still fits into its window, in
/// metres; infinite where it does at any distance.
[[nodiscard]] double defocus_most(const Dataset& data, std::span<const double> mean_frame);

/// What a start came to.
struct Trial {
  double defocus = 0;
  double cost = 0;
  /// The k-th of so many.
  std::int64_t number = 0;
  std::int64_t trials = 0;
};

/// Who follows a search for the focus.
struct Search {
  /// Whether to end, asked after every step; all processes say the same.
  std::function<bool()> is_interrupted = [] { return false; };
  /// After each trial, and when one of them was chosen; on the process that has rank 0 alone.
  std::function<void(const Trial& trial)> tried = [](const Trial&) {};
  std::function<void(double defocus)> chosen = [](double) {};
};

/// Takes some iterations from the start of each defocus, on both sides of the focus, and returns
/// the one, negative before the focus, whose cost then is the smallest share of that on the other
/// side: narrow probes come to low costs on either. 0, which has no other side, where its cost is
/// lower still. None where it was interrupted.
[[nodiscard]] std::optional<double> find_defocus(const Problem& problem,
                                                 Reconstruction& running,
                                                 std::span<const double> defoci,
                                                 const std::function<State(double defocus)>& start,
                                                 const Search& search);

/// Starts a reconstruction of the problem's data, which have no probe: each trial gives them one,
/// and `start` makes a state of them. They keep the probe that it goes on with. Null where it was
/// interrupted.
[[nodiscard]] std::unique_ptr<Reconstruction> start_without_probe(
    const Solver& solver,
    const Problem& problem,
    Dataset& data,
    const std::function<State()>& start,
    const Search& search);

}  // namespace rankcheck::cases::reconstruct
