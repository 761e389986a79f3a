#include <array>
#include <span>
#include <utility>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/plan_edits.hpp"

/// Bugs between groups that call at the same time.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;

/// Returns the plan of one call by all ranks of these groups.
Plan plan_of_all_ranks(std::span<const Case> stages) {
  Case whole = stages.front();
  whole.group.clear();
  for (const Case& each : stages) {
    for (const int rank : members(each)) whole.group.push_back(rank);
  }
  return plan_of(whole);
}

/// The first message to another rank of a group of the plan; null if there is none.
Step* first_message(Plan& plan, int group) {
  for (std::size_t r = 0; r < plan.steps.size(); ++r) {
    if (plan.groups[r] != group) continue;
    for (Step& step : plan.steps[r]) {
      if (is_put(static_cast<int>(r), step)) return &step;
    }
  }
  return nullptr;
}

constexpr std::array groups{
    Bug{.name = "communicator_of_the_world",
        .summary = "A group makes its call in the communicator of the world. The call completes "
                   "because the other ranks call at the same time.",
        .operation = "all_reduce",
        .algorithm = "ring",
        .property = "groups_at_once",
        .edit_groups = [](std::span<const Case> stages,
                          Plan& merged) { merged = plan_of_all_ranks(stages); }},
    Bug{.name = "group_forgotten_for_lists",
        .summary = "A call for a list ignores the group and is made in the world. The call "
                   "completes because the other ranks call at the same time.",
        .source = "nnabla, reduce of lists",
        .operation = "all_reduce_list",
        .algorithm = "packed",
        .property = "groups_at_once",
        .edit_groups = [](std::span<const Case> stages,
                          Plan& merged) { merged = plan_of_all_ranks(stages); }},
    Bug{.name = "messages_of_two_groups_mixed",
        .summary = "Two groups use the same tag, so each gets a message of the other.",
        .operation = "broadcast",
        .algorithm = "binomial",
        .property = "groups_at_once",
        .says = "unordered",
        .ranks_max = 4,
        .edit_groups =
            [](std::span<const Case>, Plan& merged) {
              Step* const a = first_message(merged, 0);
              Step* const b = first_message(merged, 1);
              if (a != nullptr && b != nullptr) std::swap(a->destination.rank, b->destination.rank);
            }},
};

}  // namespace

void add_bugs_in_groups(std::vector<Bug>& out) {
  out.insert(out.end(), groups.begin(), groups.end());
}

}  // namespace rankcheck::cases::audit
