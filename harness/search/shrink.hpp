#pragma once

#include <vector>

#include "harness/case/case.hpp"
#include "harness/check/operation.hpp"

namespace rankcheck::harness {

/// Whether `a` comes before `b` in the order in which cases shrink. The order compares, first
/// difference first:
/// - number of earlier calls; whether the operation is the plainest one;
/// - ranks; group or no group; number of members, their sum and how many pairs are out of order;
/// - number of elements; how far behind they lie;
/// - chunk, offset, in_place, pending, late, overlaps;
/// - how unusual type and input are; the schedule's policy and seed;
/// - scale, added_seed, rotate; data_seed;
/// - the earlier calls, one after another.
/// The fields of the case's family are compared at four places between these; see ShrinkPlace. All
/// compared values are natural numbers, so shrinking always ends. Returns false for operations of
/// different families.
[[nodiscard]] bool is_simpler(const Case& a, const Case& b);

/// Replaces `out` by the cases to try instead of `c`, the most drastic change first. Each case is
/// legal and simpler than `c`, and has the same operation, algorithm, backend, property and fault.
void shrinks(const Catalogue& catalogue, const Case& c, std::vector<Case>& out);

}  // namespace rankcheck::harness
