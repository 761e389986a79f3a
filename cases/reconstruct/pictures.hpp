#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/reconstruction.hpp"

/// PNG pictures of a reconstruction, as the bytes of their files.
namespace rankcheck::cases::reconstruct {

/// Draws the object's phase in grey. The greys go from the first to the 99th percentile of the
/// pixels that the probe illuminates. The mean phase of these pixels is subtracted first, because
/// the data do not determine it.
[[nodiscard]] std::string draw_phase(const Dataset& data, const State& state);

/// Draws the object's amplitude in grey, with the same percentiles.
[[nodiscard]] std::string draw_amplitude(const Dataset& data, const State& state);

/// Draws the modes of a probe, each with its share of the power. The hue is the phase. The
/// brightness is the amplitude as a share of the mode's largest amplitude.
[[nodiscard]] std::string draw_probe(const Dataset& data, const Complexes& probe);

struct Point {
  double x = 0;
  double y = 0;
};

/// The points of a result's costs over its iterations.
struct CostPlot {
  /// Costs that a line can join. With one batch, these are the costs of the states after
  /// 0, 1, 2, … iterations. With several batches, these are the costs of the iterations, drawn at
  /// the middle of each, because they come from states all along it.
  std::vector<Point> curve;
  /// With several batches, the cost of the result. It belongs to a single state, so the line cannot
  /// include it.
  std::optional<Point> result;
};
[[nodiscard]] CostPlot plot_of(const Result& result);

/// Returns about `wanted` round numbers between `low` and `high`. Includes the ends if they are
/// round.
[[nodiscard]] std::vector<double> round_ticks(double low, double high, int wanted);

/// Draws a result's costs on a logarithmic axis, with a label for the noise model. Costs that are
/// not positive are left out.
[[nodiscard]] std::string draw_costs(const Result& result, std::string_view model);

/// Writes object-phase.png, object-amplitude.png, probe.png and cost.png into the folder, and
/// creates the folder if necessary. Throws FileError.
void write_pictures(const std::filesystem::path& folder,
                    const Dataset& data,
                    const Result& result,
                    std::string_view model);

}  // namespace rankcheck::cases::reconstruct
