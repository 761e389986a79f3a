#pragma once

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

/// The plan of the algorithm `buckets`: packs of Options::chunk elements, or four packs.
template <ArrayPattern& pattern>
void buckets(Builder& builder) {
  constexpr std::int64_t packs = 4;
  const std::int64_t elements = list_elements(builder.call());
  const std::int64_t chunk = builder.options().chunk;
  if (elements > 0) {
    pack_by_pack(builder, pattern, chunk > 0 ? chunk : (elements + packs - 1) / packs);
  }
}

}  // namespace rankcheck::gpu::plan
