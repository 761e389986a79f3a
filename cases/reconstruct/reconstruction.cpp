#include "cases/reconstruct/reconstruction.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "reference/ptycho/cancellation.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/reconstruct/model.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

/// Returns the factor for the probe that makes it, behind a flat object, as bright as the frames.
float brightness(const Dataset& data, const State& state) {
  Dataset flat;
  flat.count = 1;
  flat.detector = data.detector;
  flat.window = data.window;
  flat.modes = state.modes(data.window);
  flat.rows = data.window + 1;
  flat.cols = data.window + 1;
  flat.positions = {0, 0};
  flat.probe = state.probe;
  flat.object.assign(spec::to_size(flat.rows) * spec::to_size(flat.cols), 1);
  ReferenceModel model(flat);
  const reference::BoundedArray& frame = model.intensity(0);
  double modelled = 0;
  for (std::size_t i = 0; i < data.mask.size(); ++i) {
    modelled += data.mask[i] * frame.values[i].real();
  }
  const double ratio = data.total() / (modelled * static_cast<double>(data.count));
  return ratio > 0 && std::isfinite(ratio) ? static_cast<float>(std::sqrt(ratio)) : 1;
}

/// Compares the ranks' copies with each other. All processes must call this together.
void compare_copies(const Problem& problem,
                    Reconstruction& running,
                    std::int64_t step,
                    const Observer& observer) {
  const std::string copy = running.unequal_copy();
  const bool is_lead = problem.cluster.local().front() == 0;
  if (is_lead && !copy.empty() && observer.unequal) observer.unequal(step, copy);
}

/// Repeats a step in the reference, unless the observer ends the check.
void check(const Solver& solver,
           const Problem& problem,
           const StepTaken& taken,
           std::int64_t step,
           const Observer& observer) {
  if (observer.checking) observer.checking(step);
  const reference::CancellationScope cancellation(observer.is_check_cancelled);
  try {
    observer.checked(step, solver.check(problem, taken));
  } catch (const reference::Cancelled&) {
    // An observer that ends a check also ends the reconstruction.
  }
}

/// Takes the steps of one iteration. Returns its cost, or nothing if it was interrupted before the
/// last step.
std::optional<double> iterate(const Solver& solver,
                              const Problem& problem,
                              Reconstruction& running,
                              std::int64_t iteration,
                              const StepBudget& budget,
                              const Observer& observer) {
  const bool is_lead = problem.cluster.local().front() == 0;
  double total = 0;
  for (int batch = 0; batch < problem.batches; ++batch) {
    const std::int64_t step = (iteration - 1) * problem.batches + batch + 1;
    const bool is_checked = budget.check_every > 0 && step % budget.check_every == 0;
    const State before = is_checked ? running.state() : State{};
    const double cost = running.step(batch);
    total += cost;
    if (is_checked) {
      const State after = running.state();
      compare_copies(problem, running, step, observer);
      const StepTaken taken{.before = before, .after = after, .batch = batch, .cost = cost};
      if (is_lead) check(solver, problem, taken, step, observer);
    }
    const bool is_last = batch + 1 == problem.batches;
    if (!is_last && observer.is_interrupted && observer.is_interrupted()) return std::nullopt;
  }
  return total;
}

}  // namespace

bool is_finite(const Result& result) {
  const State& state = result.state;
  const auto are_finite = [](const auto& values) {
    return std::all_of(values.begin(), values.end(), [](const std::complex<double>& value) {
      return std::isfinite(value.real()) && std::isfinite(value.imag());
    });
  };
  return are_finite(state.object) && are_finite(state.probe) && are_finite(result.costs) &&
         std::all_of(state.memory.begin(), state.memory.end(), [&](const auto& kept) {
           return are_finite(kept.second);
         });
}

State starting_state(const Dataset& data, int modes, bool from_flat_object) {
  State state{.object = data.object, .probe = with_modes(data, modes), .memory = {}};
  if (!from_flat_object) return state;
  state.object.assign(data.object.size(), 1);
  const float factor = brightness(data, state);
  for (std::complex<float>& value : state.probe) value *= factor;
  return state;
}

Result reconstruct(const Solver& solver,
                   const Problem& problem,
                   Reconstruction& running,
                   Result from,
                   const StepBudget& budget,
                   const Observer& observer) {
  Result result = std::move(from);
  result.solver = solver.name;
  result.batches = problem.batches;
  result.costs.resize(spec::to_size(result.iterations));
  while (result.iterations < budget.iterations) {
    // If an interruption comes within the iteration, the run returns to this state.
    if (observer.is_interrupted && problem.batches > 1) running.keep();
    const std::optional<double> cost =
        iterate(solver, problem, running, result.iterations + 1, budget, observer);
    if (!cost) {
      result.state = running.kept();
      return result;
    }
    ++result.iterations;
    result.costs.push_back(*cost);
    if (observer.iterated) observer.iterated(result.iterations, result.costs.back());
    if (!std::isfinite(result.costs.back())) break;
    if (budget.save_every > 0 && result.iterations % budget.save_every == 0) {
      result.state = running.state();
      observer.save(result);
    }
    if (observer.is_interrupted && observer.is_interrupted()) break;
  }
  compare_copies(problem, running, result.iterations * problem.batches, observer);
  result.state = running.state();
  result.costs.push_back(running.cost());
  return result;
}

}  // namespace rankcheck::cases::reconstruct
