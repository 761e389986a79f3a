#pragma once

#include "harness/check/operation.hpp"

/// Properties of single collectives: what two calls one after the other give.
namespace rankcheck::cases {

/// An all_gather is a gather followed by a broadcast.
[[nodiscard]] harness::Property equals_gather_then_broadcast();

/// An all_reduce is a reduce followed by a broadcast.
[[nodiscard]] harness::Property equals_reduce_then_broadcast();

/// An all_reduce is a reduce_scatter followed by an all_gather.
[[nodiscard]] harness::Property equals_reduce_scatter_then_all_gather();

/// Two all_to_all calls in a row return the original data.
[[nodiscard]] harness::Property is_an_involution();

/// An all_to_all_v followed by one with transposed counts returns the data.
[[nodiscard]] harness::Property returns_by_the_transpose();

/// A broadcast is a scatter followed by an all_gather.
[[nodiscard]] harness::Property equals_scatter_then_all_gather();

/// A reduce_scatter is a reduce followed by a scatter.
[[nodiscard]] harness::Property equals_reduce_then_scatter();

/// Sending along a pattern and back along its reverse returns the data.
[[nodiscard]] harness::Property returns_by_the_reverse();

}  // namespace rankcheck::cases
