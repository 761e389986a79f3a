#include "gpu/ptycho/registry.hpp"
#include "gpu/ptycho/solvers/step.hpp"

namespace rankcheck::gpu {

namespace {

template <StepKind kind>
void add_step(std::string_view operation, std::vector<OperatorImplementation>& all) {
  all.push_back({operation, replicated_step<kind>()});
  all.push_back({operation, tiled_step<kind>()});
  if constexpr (is_conjugate_gradient(kind)) all.push_back({operation, gathered_step<kind>()});
}

}  // namespace

std::vector<OperatorImplementation> algorithms_of_steps() {
  std::vector<OperatorImplementation> all;
  add_step<StepKind::alternating_projections>("alternating_projections_step", all);
  add_step<StepKind::conjugate_gradient>("conjugate_gradient_step", all);
  add_step<StepKind::difference_map>("difference_map_step", all);
  add_step<StepKind::epie>("epie_step", all);
  add_step<StepKind::lsqml>("lsqml_step", all);
  add_step<StepKind::momentum>("momentum_step", all);
  add_step<StepKind::poisson_conjugate_gradient>("poisson_conjugate_gradient_step", all);
  add_step<StepKind::rpie>("rpie_step", all);
  return all;
}

}  // namespace rankcheck::gpu
