#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/case/case.hpp"

/// Which stages of a run may run at the same time.
namespace rankcheck::harness {

/// A world rank's place in the group of a case; -1 if it is no member.
[[nodiscard]] int place_in_group(const Case& c, int world_rank);

/// The end of the longest run of stages, from `first` on, that run at the same time: calls of one
/// operation, type and variant by groups that have no rank in common. At least first + 1.
[[nodiscard]] std::size_t end_of_stages_at_once(std::span<const Case> stages, std::size_t first);

/// The end of the calls that are under way at the same time because of Case::overlaps: behind the
/// first stage, from `first` on, that does not overlap. At least first + 1.
[[nodiscard]] std::size_t end_of_overlap(std::span<const Case> stages, std::size_t first);

/// The property with earlier calls.
inline constexpr std::string_view history_property = "is_independent_of_history";

/// Whether the stages are the calls of a case of this property, or of several operations. Then no
/// rank waits for others between them.
[[nodiscard]] bool is_history(std::span<const Case> stages);

/// Whether one plan can have the calls of all stages: a history in which no stage takes the results
/// of another one, and without faults, which have a place in one call.
[[nodiscard]] bool runs_as_one(std::span<const Case> stages);

/// The order of the calls of each rank in a history, if the members of all stages are numbered one
/// behind another: pairs of a call that ends and a call that begins behind it.
[[nodiscard]] std::vector<std::pair<int, int>> program_order(std::span<const Case> stages);

/// Whether any two stages run at the same time.
[[nodiscard]] bool has_stages_at_once(std::span<const Case> stages);

}  // namespace rankcheck::harness
