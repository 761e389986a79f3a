#pragma once

#include <vector>

#include "cases/suites/claims.hpp"

namespace rankcheck::cases {

/// The properties of every partition of scan positions.
[[nodiscard]] std::vector<harness::Property> partition_properties();

/// partition_properties(), and that the ranks' numbers of positions differ by at most 1.
[[nodiscard]] std::vector<harness::Property> equal_partition_properties();

/// fuse undoes redistribute bit by bit for any owners, including those of a partition.
[[nodiscard]] harness::Property inverts_redistribute();

}  // namespace rankcheck::cases
