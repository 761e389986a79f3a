#include "reference/ptycho/conjugate_gradient_step/reference.hpp"

#include <cmath>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/conjugate_gradient_step/contract.hpp"
#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/gaussian_cost/reference.hpp"

namespace rankcheck::reference::conjugate_gradient_step {

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

/// -gradient, or Dai's and Yuan's direction; where nobody can say which of them, one with the other
/// inside its bounds.
Field next_direction(const Field& gradient,
                     const Field& old_gradient,
                     const Field& old_direction,
                     double unit) {
  Field zero;
  zero.resize(gradient.values.size());
  const Field steepest = difference(zero, gradient, unit);
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

Estimate cost_at(const Setting& in) {
  Setting far = in;
  forward(in, far);
  Setting compared = far;
  gaussian_cost::reference(far, compared);
  return at(compared[Array::cost], 0);
}

/// How far the block goes along its direction, from where the cost is `before`. Where nobody can
/// say whether a length lowers the cost, that one and all that are shorter are inside the bounds.
Estimate search(const Setting& in, Array block, const Field& direction, const Estimate& before) {
  Setting tried = in;
  for (int halvings = 0; halvings <= line_search_halvings; ++halvings) {
    const double length = std::ldexp(1, -halvings);
    tried[block] = moved(in[block], {.value = length}, direction, in.unit);
    const Estimate cost = cost_at(tried);
    const Estimate rise{.value = cost.value - before.value, .error = cost.error + before.error};
    const Answer rises = is_positive(rise);
    if (rises == Answer::no) return {.value = length, .error = 0};
    if (rises == Answer::open) return {.value = length / 2, .error = length / 2};
  }
  return {};
}

/// Moves one block of `in` and leaves what comes of it in both settings, the length at `index` of
/// step_lengths; returns the cost before.
Estimate step(const Block& block, std::size_t index, Setting& in, Setting& out) {
  Setting slopes = in;
  gradients(in, gaussian_cost::reference, slopes);
  const Field& gradient = slopes[block.values];
  const Estimate cost = at(slopes[Array::cost], 0);
  out[block.direction] = next_direction(gradient, in[block.gradient], in[block.direction], in.unit);
  const Estimate length = search(in, block.values, out[block.direction], cost);
  store(length, index, out[Array::step_lengths]);
  out[block.gradient] = gradient;
  out[block.values] = moved(in[block.values], length, out[block.direction], in.unit);
  in[block.values] = out[block.values];
  return cost;
}

}  // namespace

void reference(const Setting& in, Setting& out) {
  constexpr Block object{Array::object, Array::object_gradient, Array::object_direction};
  constexpr Block probe{Array::probe, Array::probe_gradient, Array::probe_direction};
  Setting state = in;
  out.make(Array::step_lengths);
  store(step(object, 0, state, out), 0, out.make(Array::cost));
  step(probe, 1, state, out);
}

}  // namespace rankcheck::reference::conjugate_gradient_step
