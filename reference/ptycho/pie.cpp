#include "reference/ptycho/pie.hpp"

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference {

namespace {

/// before - gradient / ((1-alpha) weight + alpha max weight), value by value. A value with a
/// divisor of 0 stays unchanged.
BoundedArray stepped(const BoundedArray& before,
                     const BoundedArray& gradient,
                     const BoundedArray& weight,
                     double alpha,
                     double unit) {
  const Estimate most = largest(weight);
  BoundedArray after = before;
  for (std::size_t i = 0; i < after.values.size(); ++i) {
    // No float equals alpha or 1 - alpha. The roundings of product() are more than a real product
    // has and cover this, too.
    const Estimate own = product({.value = 1 - alpha}, at(weight, i % weight.values.size()), unit);
    const Estimate divisor = sum(own, product({.value = alpha}, most, unit), unit);
    if (divisor.magnitude() == 0) continue;
    store(difference(at(before, i), quotient(at(gradient, i), divisor, unit), unit), i, after);
  }
  return after;
}

}  // namespace

void pie_step(const OperatorArrays& in, double alpha, OperatorArrays& out) {
  using spec::Array;
  OperatorArrays sums = in;
  gradients(in, gaussian_cost::reference, sums);
  object_preconditioner::reference(in, sums);
  probe_preconditioner::reference(in, sums);
  out[Array::cost] = sums[Array::cost];
  out[Array::object] =
      stepped(in[Array::object], sums[Array::object], sums[Array::object_weight], alpha, in.unit);
  out[Array::probe] =
      stepped(in[Array::probe], sums[Array::probe], sums[Array::probe_weight], alpha, in.unit);
}

}  // namespace rankcheck::reference
