#include "cases/suites/claims.hpp"

#include "harness/properties/same_bits.hpp"

#include "cases/collectives/composition.hpp"
#include "cases/collectives/properties.hpp"

namespace rankcheck::cases {

namespace {

/// What every collective with data claims, and `more`.
Properties with_data(std::initializer_list<harness::Property> more) {
  return with({agrees_with_reference(),
               harness::is_deterministic(),
               repeats_with_other_data(),
               keeps_groups_apart(),
               groups_at_once(),
               is_independent_of_history()},
              more);
}

/// What every collective claims that can be called in place, and `more`.
Properties in_place(std::initializer_list<harness::Property> more) {
  return with({agrees_with_reference(),
               in_place_equals_out_of_place(),
               harness::is_deterministic(),
               repeats_with_other_data(),
               keeps_groups_apart(),
               groups_at_once(),
               is_independent_of_history()},
              more);
}

/// Adds the collectives that only move data.
void add_moves(std::vector<Claims>& all) {
  using harness::ranks_agree_bitwise;
  all.push_back(
      {"all_gather",
       in_place(
           {ranks_agree_bitwise(), rank_permutation(), splits(), equals_gather_then_broadcast()})});
  all.push_back(
      {"all_gather_axis",
       with_data(
           {ranks_agree_bitwise(), equals_calls_strip_by_strip(), equals_gather_of_blocks()})});
  all.push_back({"all_gather_v", in_place({ranks_agree_bitwise(), splits()})});
  all.push_back({"all_to_all", in_place({splits(), is_an_involution()})});
  all.push_back({"all_to_all_v", in_place({splits(), returns_by_the_transpose()})});
  all.push_back({"barrier", {separates_ranks(), groups_at_once(), is_independent_of_history()}});
  all.push_back(
      {"broadcast", in_place({ranks_agree_bitwise(), splits(), equals_scatter_then_all_gather()})});
  all.push_back({"broadcast_list",
                 in_place({ranks_agree_bitwise(),
                           splits(),
                           equals_calls_one_by_one(),
                           is_independent_of_packing()})});
  all.push_back({"gather", in_place({rank_permutation(), splits(), inverts_scatter()})});
  all.push_back(
      {"gather_axis", with_data({equals_calls_strip_by_strip(), equals_gather_of_blocks()})});
  all.push_back({"gather_v", in_place({splits(), inverts_scatter()})});
  all.push_back({"scatter", in_place({splits()})});
  all.push_back({"scatter_v", in_place({splits()})});
  all.push_back({"send_recv", with_data({splits(), returns_by_the_reverse()})});
}

/// Adds the collectives that reduce.
void add_reductions(std::vector<Claims>& all) {
  using harness::ranks_agree_bitwise;
  all.push_back({"all_reduce",
                 in_place({ranks_agree_bitwise(),
                           rank_permutation(),
                           splits(),
                           is_linear(),
                           equals_reduce_then_broadcast(),
                           equals_reduce_scatter_then_all_gather()})});
  all.push_back({"all_reduce_list",
                 in_place({ranks_agree_bitwise(),
                           rank_permutation(),
                           splits(),
                           is_linear(),
                           equals_calls_one_by_one(),
                           is_independent_of_packing()})});
  all.push_back({"reduce", in_place({rank_permutation(), splits(), is_linear()})});
  all.push_back(
      {"reduce_axis",
       with_data({is_linear(), equals_calls_strip_by_strip(), equals_reduce_of_one_row()})});
  all.push_back({"reduce_list",
                 in_place({rank_permutation(),
                           splits(),
                           is_linear(),
                           equals_calls_one_by_one(),
                           is_independent_of_packing()})});
  all.push_back(
      {"reduce_scatter",
       in_place({rank_permutation(), splits(), is_linear(), equals_reduce_then_scatter()})});
  all.push_back({"reduce_scatter_v", in_place({rank_permutation(), splits(), is_linear()})});
}

}  // namespace

std::vector<Claims> claims_of_collectives() {
  std::vector<Claims> all;
  add_moves(all);
  add_reductions(all);
  return all;
}

}  // namespace rankcheck::cases
