#pragma once

#include <algorithm>
#include <cstdint>

#include "gpu/plan/patterns/place.hpp"

/// Operations on a list of arrays. Each is a pattern for one array, which is applied to the arrays
/// or to packs of them. A pack is scratch memory into which a rank copies arrays one behind
/// another.
namespace rankcheck::gpu::plan {

/// Performs an operation on one array: reads in(r, 0) of every rank r that has an input, and writes
/// out(r, 0) of every rank r that has a result. Both ranges may be the same memory.
using ArrayPattern = void(Builder& builder, const Place& in, const Place& out);

/// A ring all_reduce: least traffic, for long arrays.
ArrayPattern ring_all_reduce_array;
/// A reduction up a binomial tree and a broadcast down: for short arrays.
ArrayPattern tree_all_reduce_array;
/// A reduction to the root of the call along a binomial tree.
ArrayPattern tree_reduce_array;
/// A broadcast from the root of the call along a binomial tree.
ArrayPattern tree_broadcast_array;

/// Applies the pattern to one array after another.
void array_by_array(Builder& builder, ArrayPattern& pattern);
/// Applies the pattern to packs of `pack` elements; the last pack may be shorter. An array that
/// does not fit into the rest of a pack goes on in the next one. `pack` must be above 0.
void pack_by_pack(Builder& builder, ArrayPattern& pattern, std::int64_t pack);

/// The plan of the algorithm `one_by_one`.
template <ArrayPattern& pattern>
void one_by_one(Builder& builder) {
  array_by_array(builder, pattern);
}

/// The number of elements of the whole list.
[[nodiscard]] std::int64_t list_elements(const spec::Call& call);

/// The plan of the algorithm `packed`: one pack for the whole list.
template <ArrayPattern& pattern>
void packed(Builder& builder) {
  const std::int64_t elements = list_elements(builder.call());
  if (elements > 0) pack_by_pack(builder, pattern, elements);
}

/// The elements of a pack of the algorithm `buckets`, for a list of `elements` elements: `chunk`,
/// or as many as make four packs if `chunk` is 0. The result is above 0.
[[nodiscard]] inline std::int64_t elements_of_bucket(std::int64_t elements, std::int64_t chunk) {
  constexpr std::int64_t packs = 4;
  if (chunk > 0) return chunk;
  return std::max<std::int64_t>(1, (elements + packs - 1) / packs);
}

/// The plan of the algorithm `buckets`: packs of Options::chunk elements, or four packs.
template <ArrayPattern& pattern>
void buckets(Builder& builder) {
  const std::int64_t elements = list_elements(builder.call());
  pack_by_pack(builder, pattern, elements_of_bucket(elements, builder.options().chunk));
}

}  // namespace rankcheck::gpu::plan
