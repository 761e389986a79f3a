#include <array>
#include <utility>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/difference_map_step/contract.hpp"
#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/momentum_step/contract.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/ptycho/rpie_step/contract.hpp"

/// References of the gradients of costs, and of the solvers' steps that need no sums of their own.
namespace rankcheck::reference {

namespace {

using spec::Array;

/// The arrays of one block of a step, the object or the probe.
struct StepBlock {
  Array values;
  Array weight;
  Array direction;
};
constexpr std::array step_blocks{
    StepBlock{Array::object, Array::object_weight, Array::object_direction},
    StepBlock{Array::probe, Array::probe_weight, Array::probe_direction}};

/// The gradients of the amplitude cost, the cost, and the weights of both blocks.
OperatorArrays weighted_gradients(const OperatorArrays& in) {
  OperatorArrays sums = in;
  gradients(in, gaussian_cost::reference, sums);
  object_preconditioner::reference(in, sums);
  probe_preconditioner::reference(in, sums);
  return sums;
}

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

/// The step of rpie_step with this alpha.
void pie_step(const OperatorArrays& in, double alpha, OperatorArrays& out) {
  const OperatorArrays sums = weighted_gradients(in);
  out[Array::cost] = sums[Array::cost];
  for (const StepBlock& of : step_blocks) {
    out[of.values] = stepped(in[of.values], sums[of.values], sums[of.weight], alpha, in.unit);
  }
}

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

// Each needs and makes the arrays of its contract.

void gaussian_gradients::reference(const OperatorArrays& in, OperatorArrays& out) {
  gradients(in, gaussian_cost::reference, out);
}

void poisson_gradients::reference(const OperatorArrays& in, OperatorArrays& out) {
  gradients(in, poisson_cost::reference, out);
}

void epie_step::reference(const OperatorArrays& in, OperatorArrays& out) {
  pie_step(in, 1, out);
}

void rpie_step::reference(const OperatorArrays& in, OperatorArrays& out) {
  pie_step(in, rpie_alpha, out);
}

void momentum_step::reference(const OperatorArrays& in, OperatorArrays& out) {
  const OperatorArrays sums = weighted_gradients(in);
  out[Array::cost] = sums[Array::cost];
  for (const StepBlock& of : step_blocks) {
    BoundedArray direction = turned(in[of.direction], sums[of.values], sums[of.weight], in.unit);
    out[of.values] = added(in[of.values], direction, in.unit);
    out[of.direction] = std::move(direction);
  }
}

void alternating_projections_step::reference(const OperatorArrays& in, OperatorArrays& out) {
  OperatorArrays far = in;
  forward(in, far);
  OperatorArrays projected = in;
  project_on_frames(far, projected);
  OperatorArrays sums = in;
  backward(in, projected[Array::far_waves], sums);
  object_preconditioner::reference(in, sums);
  probe_preconditioner::reference(in, sums);
  out[Array::cost] = projected[Array::cost];
  for (const StepBlock& of : step_blocks) {
    out[of.values] = fitted(in[of.values], sums[of.values], sums[of.weight], in.unit);
  }
}

void difference_map_step::reference(const OperatorArrays& in, OperatorArrays& out) {
  OperatorArrays far = with(in, {Array::frames, Array::mask});
  forward(in, far);
  OperatorArrays compared = with(in, {});
  gaussian_cost::reference(far, compared);
  out[Array::cost] = std::move(compared[Array::cost]);
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

}  // namespace rankcheck::reference
