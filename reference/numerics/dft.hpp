#pragma once

#include <complex>
#include <span>

namespace rankcheck::reference {

/// The sign of the exponent: forward minus, inverse plus.
enum class Direction { forward, inverse };

/// Transforms a square frame, row by row and then column by column, and divides by its width: both
/// directions are unitary and undo each other. The zero frequency is at [0, 0]. The textbook's
/// algorithm: for every prime factor of the width a stage of sums, written here alone and without
/// a library, which may be what is tested.
void transform(Direction direction, int width, std::span<std::complex<double>> frame);

/// How often a term is rounded, at most, on its way through such a transform of a frame. A stage
/// of p terms multiplies it twice with a tabulated factor and adds it to p - 1 others. A prime
/// above 16 may also be done as Bluestein does, by two transforms of a power of two.
[[nodiscard]] double transform_roundings(int width);

}  // namespace rankcheck::reference
