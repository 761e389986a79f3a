#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/conjugate_gradient_step/contract.hpp"
#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference {

namespace {

using spec::Array;

/// The arrays of one block, the object or the probe.
struct Block {
  Array values;
  Array gradient;
  Array direction;
};

/// Whether an inequality holds for every implementation, for none, or undecided within the bounds.
enum class Answer { yes, no, open };

Answer is_positive(const Estimate& estimate) {
  if (estimate.value.real() - estimate.error > 0) return Answer::yes;
  return estimate.value.real() + estimate.error <= 0 ? Answer::no : Answer::open;
}

BoundedArray difference(const BoundedArray& a, const BoundedArray& b, double unit) {
  BoundedArray result = a;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    store(reference::difference(at(a, i), at(b, i), unit), i, result);
  }
  return result;
}

BoundedArray zeros_like(const BoundedArray& bounded) {
  BoundedArray zero;
  zero.resize(bounded.values.size());
  return zero;
}

/// Whether every value is within the bounds of the expected values.
bool is_inside(const BoundedArray& got, const BoundedArray& expected) {
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    if (!(std::abs(got.values[i] - expected.values[i]) <= expected.errors[i])) return false;
  }
  return true;
}

/// The directions that a step may take, within the bounds.
class Choice {
 public:
  /// Admits only -gradient.
  Choice(BoundedArray steepest, double unit) : steepest_(std::move(steepest)), unit_(unit) {}

  /// Also admits -gradient + factor * old_direction; no longer admits -gradient if `excluded`.
  /// `least` is a lower bound of the factor, valid even if the factor's error is infinite.
  /// `old_direction` must outlive this object.
  void admit(const Estimate& factor,
             double least,
             const BoundedArray& old_direction,
             bool excluded) {
    factor_ = factor;
    least_ = least;
    old_direction_ = &old_direction;
    excludes_steepest_ = excluded;
  }

  /// An array whose bounds include every admitted direction.
  [[nodiscard]] BoundedArray either() const {
    if (old_direction_ == nullptr) return steepest_;
    BoundedArray direction = moved(steepest_, factor_, *old_direction_, unit_);
    if (excludes_steepest_) return direction;
    for (std::size_t i = 0; i < direction.values.size(); ++i) {
      direction.errors[i] += std::abs(direction.values[i] - steepest_.values[i]);
    }
    return direction;
  }

  /// The admitted direction that is nearest to `got`. Its factor is derived from the value of `got`
  /// that determines the factor best; its error is the roundings of that value.
  [[nodiscard]] BoundedArray nearest(const BoundedArray& got) const {
    if (old_direction_ == nullptr || (!excludes_steepest_ && is_inside(got, steepest_))) {
      return steepest_;
    }
    double taken = 0;
    double slack = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < got.values.size(); ++i) {
      const std::complex<double> old = old_direction_->values[i];
      const std::complex<double> turned = got.values[i] - steepest_.values[i];
      const double roundings =
          steepest_.errors[i] +
          growth(product_roundings + 6, unit_) * (std::abs(got.values[i]) + std::abs(turned));
      if (!(roundings < slack * std::abs(old))) continue;
      slack = roundings / std::abs(old);
      taken = (turned / old).real();
    }
    if (!std::isfinite(slack)) return steepest_;
    taken = std::max(taken, least_ - slack);
    if (std::isfinite(factor_.error)) {
      taken = std::min(taken, factor_.value.real() + factor_.error + slack);
    }
    return moved(steepest_, {.value = taken, .error = slack}, *old_direction_, unit_);
  }

 private:
  BoundedArray steepest_;
  double unit_;
  Estimate factor_;
  double least_ = 0;
  /// Not owned; null if only -gradient is admitted.
  const BoundedArray* old_direction_ = nullptr;
  bool excludes_steepest_ = false;
};

/// Admits -gradient, the direction of Dai and Yuan, or both if the bounds do not decide between
/// them.
Choice next_direction(const BoundedArray& gradient,
                      const BoundedArray& old_gradient,
                      const BoundedArray& old_direction,
                      double unit) {
  Choice choice(difference(zeros_like(gradient), gradient, unit), unit);
  const Estimate curvature =
      real(inner_product(old_direction, difference(gradient, old_gradient, unit), unit));
  const Answer is_curved = is_positive(curvature);
  if (is_curved == Answer::no) return choice;
  const Estimate energy = inner_product(gradient, gradient, unit);
  const Estimate factor = quotient(energy, curvature, unit);
  const Estimate turned = product(factor, real(inner_product(gradient, old_direction, unit)), unit);
  const Answer is_descent = is_positive(reference::difference(energy, turned, unit));
  if (is_descent == Answer::no) return choice;
  const double least = (energy.value.real() - energy.error) /
                       (curvature.value.real() + curvature.error) * (1 - growth(4, unit));
  choice.admit(factor, least, old_direction, is_curved == Answer::yes && is_descent == Answer::yes);
  return choice;
}

/// The far waves if `values` replace the values of `block`.
BoundedArray far_waves_of(const OperatorArrays& in, Array block, BoundedArray values) {
  OperatorArrays state = with(in, {Array::object, Array::probe, Array::positions});
  state[block] = std::move(values);
  forward(state, state);
  return std::move(state[Array::far_waves]);
}

/// The costs along a block's direction. The waves of x + length d are the waves of x plus length
/// times the waves of d, so two propagations serve all lengths. Their error bounds serve all
/// lengths too. Every bound of the running error analysis grows at most linearly with sums and
/// lengths. The roundings of x + length d are at most the roundings of x and of length d.
class CostsAlong {
 public:
  CostsAlong(Operator cost, const OperatorArrays& in, Array block, const BoundedArray& direction)
      : cost_(cost), tried_(with(in, {Array::frames, Array::mask})), compared_(with(in, {})) {
    constexpr Estimate one{.value = 1};
    const BoundedArray zero = zeros_like(direction);
    from_ = far_waves_of(in, block, moved(in[block], one, zero, in.unit));
    by_ = far_waves_of(in, block, moved(zero, one, direction, in.unit));
    tried_[Array::far_waves].resize(from_.values.size());
  }

  /// The cost at `length`, which must be a power of two.
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
  OperatorArrays tried_;
  OperatorArrays compared_;
  BoundedArray from_;
  BoundedArray by_;
};

/// A length that a line search may find. It may also find other lengths, at most `spread` away.
struct Length {
  double value = 0;
  double spread = 0;
};

/// The length that the search finds if the cost at length 0 is `before`. If the bounds do not
/// decide whether a length lowers the cost, the search may find this length or a shorter one. Then
/// the result is `wanted`, if the search may find it.
Length search(CostsAlong& costs, const Estimate& before, std::optional<double> wanted) {
  double longest = 0;
  for (int halvings = 0; halvings <= line_search_halvings; ++halvings) {
    const double length = std::ldexp(1, -halvings);
    const Estimate cost = costs.at(length);
    const Estimate rise{.value = cost.value - before.value, .error = cost.error + before.error};
    const Answer rises = is_positive(rise);
    if (rises == Answer::yes) continue;
    if (longest == 0) longest = length;
    if (rises == Answer::no) return {.value = length, .spread = longest - length};
    if (wanted && length == *wanted) {
      return {.value = length, .spread = std::max(longest - length, length)};
    }
  }
  return {.value = 0, .spread = longest};
}

/// Treats the values as stored in the precision under test: each is off by at most one rounding.
BoundedArray stored(const BoundedArray& bounded, double unit) {
  BoundedArray result = bounded;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    result.errors[i] = growth(1, unit) * std::abs(result.values[i]);
  }
  return result;
}

/// One block of one step. If a part of a followed step is wrong, the next part starts from the
/// reference's result.
class BlockStep {
 public:
  BlockStep(
      Operator cost, const Block& block, std::size_t index, OperatorArrays& in, OperatorArrays& out)
      : cost_(cost),
        block_(block),
        index_(index),
        in_(in),
        out_(out),
        followed_(in.followed),
        follow_(in.follow) {}

  /// Moves the block's values in `in_`, stores all results in `out_`, and returns the cost before
  /// the step.
  Estimate take() {
    OperatorArrays slopes = with(in_, {});
    gradients(in_, cost_, slopes);
    const Estimate cost = at(slopes[Array::cost], 0);
    out_[block_.gradient] = slopes[block_.values];
    const BoundedArray gradient = going_on_from(block_.gradient);
    out_[block_.direction] = direction_of(gradient);
    const BoundedArray direction = going_on_from(block_.direction);
    CostsAlong costs(cost_, in_, block_.values, direction);
    const Estimate length = length_along(costs, cost);
    out_[block_.values] = moved(in_[block_.values], length, direction, in_.unit);
    in_[block_.values] = going_on_from(block_.values);
    return cost;
  }

 private:
  /// The array that the next part starts from: the followed result if it is followed and within its
  /// bounds, otherwise the expected array.
  BoundedArray going_on_from(Array array) const {
    const BoundedArray& expected = out_[array];
    if (follow_ != Follow::results || !is_inside((*followed_)[array], expected)) return expected;
    return stored((*followed_)[array], in_.unit);
  }

  BoundedArray direction_of(const BoundedArray& gradient) const {
    const Choice choice =
        next_direction(gradient, in_[block_.gradient], in_[block_.direction], in_.unit);
    if (follow_ != Follow::results) return choice.either();
    return choice.nearest((*followed_)[block_.direction]);
  }

  /// Computes the step's length and stores it in step_lengths.
  Estimate length_along(CostsAlong& costs, const Estimate& cost) {
    std::optional<double> wanted;
    if (follow_ != Follow::nothing)
      wanted = (*followed_)[Array::step_lengths].values[index_].real();
    const Length length = search(costs, cost, wanted);
    if (wanted == length.value) {
      store({.value = length.value, .error = length.spread}, index_, out_[Array::step_lengths]);
      return {.value = length.value};
    }
    // The search may find any length from length.value to `longest`. If a length is followed, it is
    // not one of them; step_lengths then expects exactly `longest`.
    const double longest = length.value + length.spread;
    const Estimate any{.value = (length.value + longest) / 2, .error = length.spread / 2};
    store(wanted ? Estimate{.value = longest} : any, index_, out_[Array::step_lengths]);
    return any;
  }

  Operator cost_;
  const Block& block_;
  std::size_t index_;
  OperatorArrays& in_;
  OperatorArrays& out_;
  const OperatorArrays* followed_;
  Follow follow_;
};

/// A step for the cost that `cost` computes, an operator like gaussian_cost.
void conjugate_gradient_step_of(Operator cost, const OperatorArrays& in, OperatorArrays& out) {
  constexpr Block object{Array::object, Array::object_gradient, Array::object_direction};
  constexpr Block probe{Array::probe, Array::probe_gradient, Array::probe_direction};
  OperatorArrays state = in;
  out.make(Array::step_lengths);
  store(BlockStep(cost, object, 0, state, out).take(), 0, out.make(Array::cost));
  BlockStep(cost, probe, 1, state, out).take();
}

}  // namespace

void conjugate_gradient_step::reference(const OperatorArrays& in, OperatorArrays& out) {
  conjugate_gradient_step_of(gaussian_cost::reference, in, out);
}

void poisson_conjugate_gradient_step::reference(const OperatorArrays& in, OperatorArrays& out) {
  conjugate_gradient_step_of(poisson_cost::reference, in, out);
}

}  // namespace rankcheck::reference
