#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/momentum_step/contract.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::momentum_step {

namespace {

using spec::Array;

/// momentum_beta * before - gradient / max weight, value by value. Without any weight, the gradient
/// is left out.
BoundedArray turned(const BoundedArray& before,
                    const BoundedArray& gradient,
                    const BoundedArray& weight,
                    double unit) {
  const Estimate most = largest(weight);
  BoundedArray direction = before;
  for (std::size_t i = 0; i < direction.values.size(); ++i) {
    // No float equals momentum_beta. The roundings of product() are more than a real product has
    // and cover this, too.
    Estimate value = product({.value = momentum_beta}, at(before, i), unit);
    if (most.magnitude() > 0) {
      value = difference(value, quotient(at(gradient, i), most, unit), unit);
    }
    store(value, i, direction);
  }
  return direction;
}

BoundedArray added(const BoundedArray& a, const BoundedArray& b, double unit) {
  BoundedArray result = a;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    store(sum(at(a, i), at(b, i), unit), i, result);
  }
  return result;
}

}  // namespace

/// Needs object, probe, positions, frames, mask, object_direction and probe_direction. Makes cost,
/// object, probe, object_direction and probe_direction.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  OperatorArrays sums = in;
  gradients(in, gaussian_cost::reference, sums);
  object_preconditioner::reference(in, sums);
  probe_preconditioner::reference(in, sums);
  const BoundedArray object =
      turned(in[Array::object_direction], sums[Array::object], sums[Array::object_weight], in.unit);
  const BoundedArray probe =
      turned(in[Array::probe_direction], sums[Array::probe], sums[Array::probe_weight], in.unit);
  out[Array::cost] = sums[Array::cost];
  out[Array::object] = added(in[Array::object], object, in.unit);
  out[Array::probe] = added(in[Array::probe], probe, in.unit);
  out[Array::object_direction] = object;
  out[Array::probe_direction] = probe;
}

}  // namespace rankcheck::reference::momentum_step
