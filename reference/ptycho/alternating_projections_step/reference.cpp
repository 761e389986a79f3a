#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/projections.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::alternating_projections_step {

using spec::Array;

/// Computes the contract's outputs from its inputs.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  OperatorArrays far = in;
  forward(in, far);
  OperatorArrays projected = in;
  project_on_frames(far, projected);
  OperatorArrays sums = in;
  backward(in, projected[Array::far_waves], sums);
  object_preconditioner::reference(in, sums);
  probe_preconditioner::reference(in, sums);
  out[Array::cost] = projected[Array::cost];
  out[Array::object] =
      fitted(in[Array::object], sums[Array::object], sums[Array::object_weight], in.unit);
  out[Array::probe] =
      fitted(in[Array::probe], sums[Array::probe], sums[Array::probe_weight], in.unit);
}

}  // namespace rankcheck::reference::alternating_projections_step
