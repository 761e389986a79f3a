#pragma once

#include <complex>
#include <vector>

namespace rankcheck::cases::reconstruct {

/// One mode of a probe, row-major.
using Mode = std::vector<std::complex<double>>;

[[nodiscard]] double power(const Mode& mode);

/// Adds a mode of this power: the first one times low powers of row and column, orthogonal to all
/// before; zeros where the others already span it.
void add_mode(std::vector<Mode>& modes, int width, double power);

}  // namespace rankcheck::cases::reconstruct
