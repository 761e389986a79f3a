#pragma once

#include <vector>

#include "harness/check/operation.hpp"

/// The properties of collectives. The summary of each says what it claims; comments here say what
/// the summary leaves out.
namespace rankcheck::cases {

// Any collective.

/// The bits must agree if the inputs make every order of operations exact. Otherwise the error must
/// be within the a-priori bound.
[[nodiscard]] harness::Property agrees_with_reference();

/// Whatever a backend keeps from a call for the next one must not include the data. A stale element
/// is described by the call that it belongs to. CollectiveCase::repeat is the number of calls.
[[nodiscard]] harness::Property repeats_with_other_data();

/// The other group has the same size and another root. A backend may keep a communicator for the
/// first group but must not use it for the second.
[[nodiscard]] harness::Property keeps_groups_apart();

/// The groups cover the world. In a barrier, no rank leaves before its group has entered. The data
/// seed decides how the members of the case are divided: into runs of one length, into every s-th
/// member, or into runs of any length.
[[nodiscard]] harness::Property groups_at_once();

/// The other calls are any collectives of the same ranks, see Case::earlier. No rank waits for
/// another one between calls.
[[nodiscard]] harness::Property is_independent_of_history();

/// They may combine in another order, so reductions are compared only if the order makes no
/// difference.
[[nodiscard]] harness::Property in_place_equals_out_of_place();

/// For reductions that commute. The other order is drawn_order().
[[nodiscard]] harness::Property rank_permutation();

/// An order of n > 1 group ranks other than 0 … n-1, drawn from the case's data_seed. A third of
/// the orders are reversals, a third are rotations, and a third are random.
[[nodiscard]] std::vector<int> drawn_order(const harness::Case& c);

/// The front half and the back half of every block.
[[nodiscard]] harness::Property splits();

[[nodiscard]] harness::Property separates_ranks();

/// For sums.
[[nodiscard]] harness::Property is_linear();

/// Judges the outputs of all stages as agrees_with_reference() does.
void expect_reference_in_every_stage(const harness::Evidence& evidence,
                                     harness::Judgement& judgement);

/// Fails the judgement if a rank of a stage left before every rank of the stage had entered.
void expect_ranks_separated(const harness::Evidence& evidence, harness::Judgement& judgement);

// Single collectives: what two calls one after the other give.

[[nodiscard]] harness::Property equals_gather_then_broadcast();
[[nodiscard]] harness::Property equals_reduce_then_broadcast();
[[nodiscard]] harness::Property equals_reduce_scatter_then_all_gather();
[[nodiscard]] harness::Property equals_scatter_then_all_gather();
[[nodiscard]] harness::Property equals_reduce_then_scatter();
[[nodiscard]] harness::Property is_an_involution();
[[nodiscard]] harness::Property returns_by_the_transpose();
[[nodiscard]] harness::Property returns_by_the_reverse();
/// The scatter is even or uneven like the gather.
[[nodiscard]] harness::Property inverts_scatter();

// Operations along an axis. All calls get exact inputs and must leave the same bits.

[[nodiscard]] harness::Property equals_calls_strip_by_strip();
/// The other call is gather_v, or all_gather_v, of counts * inner elements.
[[nodiscard]] harness::Property equals_gather_of_blocks();
[[nodiscard]] harness::Property equals_reduce_of_one_row();

// Operations on lists of arrays. All calls get exact inputs and must leave the same bits.

[[nodiscard]] harness::Property equals_calls_one_by_one();
/// The backend chooses the algorithms of the three other calls, because not every algorithm has
/// packs. One pack is larger than the list.
[[nodiscard]] harness::Property is_independent_of_packing();

}  // namespace rankcheck::cases
