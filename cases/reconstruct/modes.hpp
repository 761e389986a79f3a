#pragma once

#include <complex>
#include <vector>

namespace rankcheck::cases::reconstruct {

/// One mode of a probe, row-major.
using Mode = std::vector<std::complex<double>>;

[[nodiscard]] double power(const Mode& mode);

/// Adds a mode of this power. It is the first mode times low powers of row and column, made
/// orthogonal to all modes before. If those already span it, the mode is all zeros.
void add_mode(std::vector<Mode>& modes, int width, double power);

}  // namespace rankcheck::cases::reconstruct
