#pragma once

#include <vector>

#include "cases/suites/claims.hpp"

namespace rankcheck::cases {

/// The properties of every halo exchange. It agrees with the reference and is linear. It leaves the
/// same bits in all copies of a pixel, and does nothing without a halo.
[[nodiscard]] std::vector<harness::Property> halo_properties();

/// A second exchange changes nothing: no bit if the arithmetic is exact, otherwise no more than its
/// rounding errors.
[[nodiscard]] harness::Property is_idempotent();

/// A second exchange multiplies every pixel by the number of its copies.
[[nodiscard]] harness::Property multiplies_when_repeated();

/// The sum over the pixels, each counted once, equals the sum over all copies before the exchange.
[[nodiscard]] harness::Property conserves_the_sum();

/// No copy leaves the range of the copies before the exchange.
[[nodiscard]] harness::Property stays_between_the_copies();

}  // namespace rankcheck::cases
