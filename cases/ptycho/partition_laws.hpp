#pragma once

#include <vector>

#include "cases/registry.hpp"

namespace rankcheck::cases {

/// What every partition of scan positions claims.
[[nodiscard]] std::vector<harness::Property> partition_properties();

/// partition_properties, and that no rank gets two positions more than another.
[[nodiscard]] std::vector<harness::Property> equal_partition_properties();

/// Whatever the owners, fuse undoes redistribute, bit by bit; those of a partition, too.
[[nodiscard]] harness::Property inverts_redistribute();

}  // namespace rankcheck::cases
