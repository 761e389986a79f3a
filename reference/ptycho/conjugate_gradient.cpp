#include "reference/ptycho/conjugate_gradient.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/conjugate_gradient_step/contract.hpp"
#include "reference/ptycho/estimate.hpp"

namespace rankcheck::reference {

namespace {

using spec::Array;

/// The arrays of what moves.
struct Block {
  Array values;
  Array gradient;
  Array direction;
};

/// Whether an inequality holds for anyone, for nobody, or nobody can say.
enum class Answer { yes, no, open };

Answer is_positive(const Estimate& estimate) {
  if (estimate.value.real() - estimate.error > 0) return Answer::yes;
  return estimate.value.real() + estimate.error <= 0 ? Answer::no : Answer::open;
}

Field difference(const Field& a, const Field& b, double unit) {
  Field result = a;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    store(reference::difference(at(a, i), at(b, i), unit), i, result);
  }
  return result;
}

Field zeros_like(const Field& field) {
  Field zero;
  zero.resize(field.values.size());
  return zero;
}

/// -gradient, or Dai's and Yuan's direction; where nobody can say which of them, one with the other
/// inside its bounds.
Field next_direction(const Field& gradient,
                     const Field& old_gradient,
                     const Field& old_direction,
                     double unit) {
  const Field steepest = difference(zeros_like(gradient), gradient, unit);
  const Estimate curvature =
      real(inner_product(old_direction, difference(gradient, old_gradient, unit), unit));
  const Answer is_curved = is_positive(curvature);
  if (is_curved == Answer::no) return steepest;
  const Estimate energy = inner_product(gradient, gradient, unit);
  const Estimate factor = quotient(energy, curvature, unit);
  const Estimate turned = product(factor, real(inner_product(gradient, old_direction, unit)), unit);
  const Answer is_descent = is_positive(reference::difference(energy, turned, unit));
  if (is_descent == Answer::no) return steepest;
  Field direction = moved(steepest, factor, old_direction, unit);
  if (is_descent == Answer::yes) return direction;
  for (std::size_t i = 0; i < direction.values.size(); ++i) {
    direction.errors[i] += std::abs(direction.values[i] - steepest.values[i]);
  }
  return direction;
}

/// The far waves where the block's values are these.
Field far_waves_of(const Setting& in, Array block, Field values) {
  Setting state = with(in, {Array::object, Array::probe, Array::positions});
  state[block] = std::move(values);
  forward(state, state);
  return std::move(state[Array::far_waves]);
}

/// The costs along a block's direction. The waves of x + length d are those of x and length times
/// those of d: two propagations serve all lengths. So do their bounds: all of the running analysis
/// in between grows with sums and lengths at most as they do, and the roundings of x + length d
/// itself are no more than those of x and of length d.
class CostsAlong {
 public:
  CostsAlong(Operator cost, const Setting& in, Array block, const Field& direction)
      : cost_(cost), tried_(with(in, {Array::frames, Array::mask})), compared_(with(in, {})) {
    constexpr Estimate one{.value = 1};
    const Field zero = zeros_like(direction);
    from_ = far_waves_of(in, block, moved(in[block], one, zero, in.unit));
    by_ = far_waves_of(in, block, moved(zero, one, direction, in.unit));
    tried_[Array::far_waves].resize(from_.values.size());
  }

  /// A power of two.
  Estimate at(double length) {
    for (std::size_t i = 0; i < from_.values.size(); ++i) {
      const Estimate step{.value = length * by_.values[i], .error = length * by_.errors[i]};
      store(sum(reference::at(from_, i), step, tried_.unit), i, tried_[Array::far_waves]);
    }
    cost_(tried_, compared_);
    return reference::at(compared_[Array::cost], 0);
  }

 private:
  Operator cost_;
  Setting tried_;
  Setting compared_;
  Field from_;
  Field by_;
};

/// How far the block goes along its direction, from where the cost is `before`. Where nobody can
/// say whether a length lowers the cost, that one and all that are shorter are inside the bounds.
Estimate search(CostsAlong costs, const Estimate& before) {
  for (int halvings = 0; halvings <= line_search_halvings; ++halvings) {
    const double length = std::ldexp(1, -halvings);
    const Estimate cost = costs.at(length);
    const Estimate rise{.value = cost.value - before.value, .error = cost.error + before.error};
    const Answer rises = is_positive(rise);
    if (rises == Answer::no) return {.value = length, .error = 0};
    if (rises == Answer::open) return {.value = length / 2, .error = length / 2};
  }
  return {};
}

/// Moves one block of `in` and leaves what comes of it in both settings, the length at `index` of
/// step_lengths; returns the cost before.
Estimate step(Operator cost_of, const Block& block, std::size_t index, Setting& in, Setting& out) {
  Setting slopes = with(in, {});
  gradients(in, cost_of, slopes);
  const Field& gradient = slopes[block.values];
  const Estimate cost = at(slopes[Array::cost], 0);
  out[block.direction] = next_direction(gradient, in[block.gradient], in[block.direction], in.unit);
  const Estimate length = search(CostsAlong(cost_of, in, block.values, out[block.direction]), cost);
  store(length, index, out[Array::step_lengths]);
  out[block.gradient] = gradient;
  out[block.values] = moved(in[block.values], length, out[block.direction], in.unit);
  in[block.values] = out[block.values];
  return cost;
}

}  // namespace

void conjugate_gradient_step_of(Operator cost, const Setting& in, Setting& out) {
  constexpr Block object{Array::object, Array::object_gradient, Array::object_direction};
  constexpr Block probe{Array::probe, Array::probe_gradient, Array::probe_direction};
  Setting state = in;
  out.make(Array::step_lengths);
  store(step(cost, object, 0, state, out), 0, out.make(Array::cost));
  step(cost, probe, 1, state, out);
}

}  // namespace rankcheck::reference
