#include "cases/reconstruct/reconstruction.hpp"

#include <cmath>
#include <utility>

namespace rankcheck::cases::reconstruct {

std::string_view name(Layout layout) {
  return layout == Layout::tiles ? "tiles" : "replicated";
}

State starting_state(const Dataset& data, int modes, bool from_flat_object) {
  State state{.object = data.object, .probe = with_modes(data, modes), .memory = {}};
  if (from_flat_object) state.object.assign(data.object.size(), 1);
  return state;
}

Result reconstruct(const Solver& solver,
                   const Problem& problem,
                   Result from,
                   const Course& course,
                   const Follower& follower) {
  Result result = std::move(from);
  result.solver = solver.name;
  result.costs.resize(static_cast<std::size_t>(result.steps));
  const std::unique_ptr<Reconstruction> running = solver.start(problem, result.state);
  while (result.steps < course.steps) {
    const bool is_checked = course.check_every > 0 && (result.steps + 1) % course.check_every == 0;
    const State before = is_checked ? running->state() : State{};
    result.costs.push_back(running->step());
    ++result.steps;
    std::optional<StepCheck> check;
    if (is_checked) check = solver.check(problem, before, running->state());
    if (follower.stepped) follower.stepped(result.steps, result.costs.back(), check);
    if (!std::isfinite(result.costs.back())) break;
    if (course.save_every > 0 && result.steps % course.save_every == 0) {
      result.state = running->state();
      follower.save(result);
    }
    if (follower.is_interrupted && follower.is_interrupted()) break;
  }
  result.state = running->state();
  result.costs.push_back(running->cost());
  return result;
}

}  // namespace rankcheck::cases::reconstruct
