#include "cases/reconstruct/solvers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gpu/ptycho/solvers/state.hpp"

#include "harness/case/case.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

using gpu::StepKind;

std::vector<spec::Array> remembered_by(StepKind kind) {
  std::vector<spec::Array> arrays;
  for (const auto& each : gpu::state_of<float>(kind)) arrays.push_back(each.array);
  std::erase(arrays, spec::Array::object);
  std::erase(arrays, spec::Array::probe);
  return arrays;
}

/// Returns the solver named like `operation` without its `_step`.
Solver solver(StepKind kind, std::string_view operation, std::string_view summary, int batches) {
  return {
      .name = operation.substr(0, operation.size() - std::string_view("_step").size()),
      .summary = summary,
      .model = kind == StepKind::poisson_conjugate_gradient ? "poisson" : "gaussian",
      .batches = batches,
      // With several batches, the state before the iteration is kept too.
      .bytes_per_pixel = gpu::bytes_per_pixel<float>(kind, batches > 1 ? 2 : 1),
      .remembers = remembered_by(kind),
      .start = [kind](const Problem& problem,
                      const State& from) { return start_on_devices(kind, problem, from); },
      .check = [operation](const Problem& problem,
                           const StepTaken& step) { return check_step(operation, problem, step); }};
}

}  // namespace

const std::vector<Solver>& solvers() {
  static const std::vector<Solver> all{
      solver(StepKind::rpie, "rpie_step", "regularised PIE, in batches (default)", 16),
      solver(StepKind::epie, "epie_step", "PIE, in batches", 16),
      solver(StepKind::momentum, "momentum_step", "PIE with momentum, all frames at once", 1),
      solver(StepKind::lsqml, "lsqml_step", "least-squares maximum likelihood, in batches", 16),
      solver(StepKind::conjugate_gradient,
             "conjugate_gradient_step",
             "conjugate gradients, all frames at once",
             1),
      solver(
          StepKind::difference_map, "difference_map_step", "difference map, all frames at once", 1),
      solver(StepKind::alternating_projections,
             "alternating_projections_step",
             "alternating projections, all frames at once",
             1),
      solver(StepKind::poisson_conjugate_gradient,
             "poisson_conjugate_gradient_step",
             "conjugate_gradient with the Poisson cost, as with --model poisson",
             1),
  };
  return all;
}

const Solver& find_solver(const std::string& name) {
  for (const Solver& solver : solvers()) {
    if (solver.name == name) return solver;
  }
  std::vector<std::string_view> names;
  for (const Solver& solver : solvers()) names.push_back(solver.name);
  throw harness::BadInput(fmt::format("solver: {}: expected {}", name, fmt::join(names, ", ")));
}

}  // namespace rankcheck::cases::reconstruct
