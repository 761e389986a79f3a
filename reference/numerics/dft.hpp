#pragma once

#include <complex>
#include <span>

namespace rankcheck::reference {

/// The sign of the exponent: minus for forward, plus for inverse.
enum class Direction { forward, inverse };

/// Transforms a square frame of width * width values in place, row by row and then column by
/// column, and divides by the width. Both directions are unitary and undo each other. The zero
/// frequency is at [0, 0]. This is the textbook's algorithm, with a stage of sums for every prime
/// factor of the width. It uses no library, because a library may be what is tested.
void transform(Direction direction, int width, std::span<std::complex<double>> frame);

/// How often a term is rounded, at most, in a transform of a frame by any usual algorithm. A stage
/// of p terms multiplies a term twice with a tabulated factor and adds it to p - 1 others. The
/// bound also covers Bluestein's method for primes above 16, with two transforms of a power of two.
[[nodiscard]] double transform_roundings(int width);

}  // namespace rankcheck::reference
