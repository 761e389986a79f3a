#pragma once

#include "harness/check/operation.hpp"

/// What orthogonalize_modes claims.
namespace rankcheck::cases {

/// The inner products of different modes are 0. A single mode has none.
[[nodiscard]] harness::Property makes_modes_orthogonal();

/// The modes have the reference's powers, in descending order.
[[nodiscard]] harness::Property orders_modes_by_power();

/// The coherence of any two pixels does not change.
[[nodiscard]] harness::Property keeps_the_coherence();

/// A probe that all positions share has the same bits on all ranks.
[[nodiscard]] harness::Property ranks_agree_on_shared_probes();

}  // namespace rankcheck::cases
