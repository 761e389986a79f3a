#include "cases/ptycho/truth.hpp"

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/references.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/ptycho/properties.hpp"

namespace rankcheck::cases {

namespace {

using reference::OperatorArrays;
using spec::Array;

}  // namespace

void plan_truth(const spec::Contract& contract,
                const harness::Case& c,
                std::vector<harness::Case>& stages) {
  plan_behind<"illuminate", "propagate", "intensity">(contract, c, stages);
  for (harness::Case& stage : stages) ptycho(stage).chained = true;
}

OperatorStage read_truth(const harness::Evidence& evidence, double brightness) {
  OperatorStage step = read_stage(evidence, evidence.stages.size() - 1);
  if (!step.in[Array::exit_waves].values.empty()) {
    OperatorArrays left = step.in;
    reference::illuminate::reference(step.in, left);
    step.in[Array::exit_waves] = left[Array::waves];
  }
  OperatorArrays lit = step.in;
  for (auto& value : lit[Array::probe].values) value *= brightness;
  OperatorArrays far = lit;
  forward(lit, far);
  OperatorArrays seen = far;
  reference::intensity::reference(far, seen);
  step.in[Array::frames] = seen[Array::frames];
  return step;
}

}  // namespace rankcheck::cases
