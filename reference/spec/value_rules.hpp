#pragma once

#include <cstdint>

namespace rankcheck::spec {

/// What min and max do with NaN. Every backend declares its rule, and its results are checked
/// against it:
/// - drops: the result is the extreme of the other inputs;
/// - propagates: the result is NaN;
/// - either: it is one of these two;
/// - unspecified: it is NaN or any of the inputs.
enum class NanRule : std::uint8_t { drops, propagates, either, unspecified };

/// What floating-point reductions do with the sign of zero. Every backend declares its rule, and
/// its results are checked against it. `ieee` follows IEEE 754 for rounding to nearest:
/// - the sum of only -0 is -0; every other exact sum of 0 is +0;
/// - the sign of a product is the product of its factors' signs;
/// - min and max return one of the inputs; if zeros of both signs are inputs, they may return
///   either.
enum class ZeroRule : std::uint8_t { ieee, unspecified };

}  // namespace rankcheck::spec
