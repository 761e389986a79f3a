#pragma once

#include <vector>

#include "cases/registry.hpp"

namespace rankcheck::cases {

/// What every halo exchange claims: its reference, linearity, copies that are the same bits on all
/// ranks, and nothing to do without a halo.
[[nodiscard]] std::vector<harness::Property> halo_properties();

/// A second exchange changes nothing: bit by bit where the arithmetic is exact, else within what
/// its roundings may do.
[[nodiscard]] harness::Property is_idempotent();

/// A second exchange multiplies every pixel by the number of its copies.
[[nodiscard]] harness::Property multiplies_when_repeated();

/// The sum over the pixels, each once, is the sum over all copies before.
[[nodiscard]] harness::Property conserves_the_sum();

/// No copy leaves the range of the copies before.
[[nodiscard]] harness::Property stays_between_the_copies();

}  // namespace rankcheck::cases
