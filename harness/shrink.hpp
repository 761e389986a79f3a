#pragma once

#include <vector>

#include "harness/case.hpp"
#include "harness/operation.hpp"

namespace rankcheck::harness {

/// Whether `a` comes before `b` in the order in which cases shrink. The order compares, first
/// difference first: ranks; group or none; members of the group, their sum and how many pairs of
/// them are out of order; root; elements; how far behind they lie; first_index, index_stride; gap,
/// chunk, offset, in_place; how unusual type, op and input are; the schedule's policy and seed;
/// pattern, shift, scale, added_seed, rotate; data_seed. All are natural numbers, so nothing
/// shrinks for ever.
[[nodiscard]] bool is_simpler(const Case& a, const Case& b);

/// Replaces `out` by the cases to try in the place of `c`, the most drastic first. Each is legal
/// and simpler than `c` and has its operation, algorithm, backend, property and fault.
void shrinks(const Catalogue& catalogue, const Case& c, std::vector<Case>& out);

}  // namespace rankcheck::harness
