#include <utility>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/difference_map_step/contract.hpp"
#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/projections.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::difference_map_step {

namespace {

using spec::Array;

/// The cost of the input's object and probe.
BoundedArray cost_of(const OperatorArrays& in) {
  OperatorArrays far = with(in, {Array::frames, Array::mask});
  forward(in, far);
  OperatorArrays compared = with(in, {});
  gaussian_cost::reference(far, compared);
  return compared[Array::cost];
}

/// The overlap projection: computes object, probe, and the waves of both.
OperatorArrays overlap_of(const OperatorArrays& in) {
  OperatorArrays overlap = with(in, {Array::object, Array::probe, Array::positions});
  overlap[Array::waves] = in[Array::exit_waves];
  OperatorArrays sums = with(in, {});
  illuminate_adjoint_object::reference(overlap, sums);
  object_preconditioner::reference(overlap, sums);
  overlap[Array::object] =
      fitted(in[Array::object], sums[Array::object], sums[Array::object_weight], in.unit);
  illuminate_adjoint_probe::reference(overlap, sums);
  probe_preconditioner::reference(overlap, sums);
  overlap[Array::probe] =
      fitted(in[Array::probe], sums[Array::probe], sums[Array::probe_weight], in.unit);
  illuminate::reference(overlap, overlap);
  return overlap;
}

/// The frame projection: gives the waves `x` the amplitudes of the frames.
BoundedArray on_frames(const OperatorArrays& in, BoundedArray x) {
  OperatorArrays near = with(in, {});
  near[Array::waves] = std::move(x);
  OperatorArrays far = with(in, {Array::frames, Array::mask});
  propagate::reference(near, far);
  project_on_frames(far, far);
  propagate_inverse::reference(far, near);
  return std::move(near[Array::waves]);
}

}  // namespace

/// Computes the contract's outputs from its inputs.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  out[Array::cost] = cost_of(in);
  OperatorArrays overlap = overlap_of(in);
  const BoundedArray& before = in[Array::exit_waves];
  const BoundedArray& fit = overlap[Array::waves];
  BoundedArray reflected = before;
  for (std::size_t i = 0; i < reflected.values.size(); ++i) {
    // Doubling a number is exact.
    const Estimate twice{.value = 2.0 * fit.values[i], .error = 2 * fit.errors[i]};
    store(difference(twice, at(before, i), in.unit), i, reflected);
  }
  const BoundedArray projected = on_frames(in, std::move(reflected));
  const Estimate beta{.value = difference_map_beta};
  BoundedArray& after = out.make(Array::exit_waves);
  for (std::size_t i = 0; i < after.values.size(); ++i) {
    // The bound covers any order of the three terms: the sum is rounded twice, and each product
    // once.
    Sum sum;
    sum.add(at(before, i));
    sum.add(product(beta, at(projected, i), in.unit));
    const Estimate overlapping = product(beta, at(fit, i), in.unit);
    sum.add({.value = -overlapping.value, .error = overlapping.error});
    store(sum.estimate(in.unit), i, after);
  }
  out[Array::object] = std::move(overlap[Array::object]);
  out[Array::probe] = std::move(overlap[Array::probe]);
}

}  // namespace rankcheck::reference::difference_map_step
