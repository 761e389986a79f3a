#pragma once

#include <complex>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cases/reconstruct/canvas.hpp"
#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/reconstruction.hpp"

/// PNG pictures of a reconstruction, as the bytes of their files.
namespace rankcheck::cases::reconstruct {

using Complexes = std::vector<std::complex<float>>;

/// The phase of the object, in grey from the first to the 99th percentile of what the probe
/// illuminates; the mean phase there, which no data fix, is taken off.
[[nodiscard]] std::string draw_phase(const Dataset& data, const State& state);

/// The amplitude, likewise.
[[nodiscard]] std::string draw_amplitude(const Dataset& data, const State& state);

/// The modes of a probe of the data's window, each with its share of the power: the hue is the
/// phase, the brightness the amplitude as a share of the mode's largest.
[[nodiscard]] std::string draw_probe(const Dataset& data, const Complexes& probe);

/// Where a result's costs stand over its iterations.
struct CostPlot {
  /// Costs that can be joined: with one batch, those of the states after 0, 1, 2, … iterations;
  /// with several, those of the iterations, each from states all along it, in its middle.
  std::vector<Point> curve;
  /// With several batches, that of the result: of one state, and so no point of such a curve.
  std::optional<Point> result;
};
[[nodiscard]] CostPlot plot_of(const Result& result);

/// A result's costs on a logarithmic axis, named for the model of the noise; what is not positive
/// is left out.
[[nodiscard]] std::string draw_costs(const Result& result, std::string_view model);

/// Writes object-phase.png, object-amplitude.png, probe.png and cost.png into the folder, which is
/// created. Throws FileError.
void write_pictures(const std::filesystem::path& folder,
                    const Dataset& data,
                    const Result& result,
                    std::string_view model);

}  // namespace rankcheck::cases::reconstruct
