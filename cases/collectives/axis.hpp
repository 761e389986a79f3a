#pragma once

#include "harness/check/operation.hpp"

/// Properties of operations along an axis. All calls get exact inputs and must leave the same bits.
namespace rankcheck::cases {

/// A call equals one call for each index before the axis.
[[nodiscard]] harness::Property equals_calls_strip_by_strip();

/// If nothing comes before the axis, a gather along it is gather_v, or all_gather_v, of counts *
/// inner elements.
[[nodiscard]] harness::Property equals_gather_of_blocks();

/// If every rank has one row, a reduction along the axis is `reduce`.
[[nodiscard]] harness::Property equals_reduce_of_one_row();

}  // namespace rankcheck::cases
