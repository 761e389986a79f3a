#pragma once

#include <complex>
#include <filesystem>
#include <string>
#include <vector>

#include "cases/reconstruct/dataset.hpp"

/// PNG pictures of a reconstruction, as the bytes of their files.
namespace rankcheck::cases::reconstruct {

using Complexes = std::vector<std::complex<float>>;

/// The phase of an object of the data's size, in grey from the first to the 99th percentile of what
/// the probe illuminated; the mean phase there, which no data fix, is taken off.
[[nodiscard]] std::string draw_phase(const Dataset& data, const Complexes& object);

/// The amplitude, likewise.
[[nodiscard]] std::string draw_amplitude(const Dataset& data, const Complexes& object);

/// The modes of a probe of the data's window, each with its share of the power: the hue is the
/// phase, the brightness the amplitude as a share of the mode's largest.
[[nodiscard]] std::string draw_probe(const Dataset& data, const Complexes& probe);

/// Costs as a Result has them, on a logarithmic axis; what is not positive is left out.
[[nodiscard]] std::string draw_costs(const std::vector<double>& costs);

/// Writes object-phase.png, object-amplitude.png, probe.png and cost.png into the folder, which is
/// created. Throws FileError.
void write_pictures(const std::filesystem::path& folder,
                    const Dataset& data,
                    const Complexes& object,
                    const Complexes& probe,
                    const std::vector<double>& costs);

}  // namespace rankcheck::cases::reconstruct
