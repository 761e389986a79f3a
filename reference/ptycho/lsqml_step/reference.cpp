#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/lsqml_step/contract.hpp"
#include "reference/ptycho/lsqml_step/directions.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::lsqml_step {

namespace {

using spec::Array;

/// The step's lengths along the directions of object and probe.
struct Lengths {
  Estimate object;
  Estimate probe;
};

/// The sums over one position's pixels of mode 0 that the least squares need.
struct Products {
  Estimate object_energy;
  Estimate probe_energy;
  Estimate overlap;
  Estimate object_slope;
  Estimate probe_slope;
};

/// -gradient / sqrt(((1-a) weight)^2 + (a max weight)^2), value by value.
BoundedArray object_direction(const BoundedArray& gradient,
                              const BoundedArray& weight,
                              double unit) {
  const Estimate most = product({.value = lsqml_alpha}, largest(weight), unit);
  BoundedArray direction;
  direction.resize(gradient.values.size());
  for (std::size_t i = 0; i < direction.values.size(); ++i) {
    const Estimate own = product({.value = 1 - lsqml_alpha}, at(weight, i), unit);
    // The error of a Euclidean length is at most the sum of its parts' errors. CUDA's hypot() is
    // within 3 units in the last place (CUDA C++ Programming Guide, mathematical functions), each
    // of which equals two roundings.
    Estimate divisor{.value = std::hypot(own.value.real(), most.value.real()),
                     .error = own.error + most.error};
    divisor.error += growth(6, unit) * divisor.magnitude();
    if (divisor.magnitude() == 0) continue;
    store(difference({}, quotient(at(gradient, i), divisor, unit), unit), i, direction);
  }
  return direction;
}

BoundedArray probe_direction(const BoundedArray& gradient, std::int64_t positions, double unit) {
  BoundedArray direction;
  direction.resize(gradient.values.size());
  if (positions == 0) return direction;
  const Estimate count{.value = static_cast<double>(positions)};
  for (std::size_t i = 0; i < direction.values.size(); ++i) {
    store(difference({}, quotient(at(gradient, i), count, unit), unit), i, direction);
  }
  return direction;
}

/// The exit waves of mode 0 for `object` and `probe`.
BoundedArray exit_waves(const OperatorArrays& in,
                        const BoundedArray& object,
                        const BoundedArray& probe) {
  OperatorArrays arrays = in;
  arrays.scene.modes = 1;
  arrays[Array::object] = object;
  arrays[Array::probe] = probe;
  OperatorArrays lit = arrays;
  illuminate::reference(arrays, lit);
  return lit[Array::waves];
}

/// The sums of every position. `by_object` and `by_probe`, the exit waves of both directions, have
/// one mode; `back` has all modes.
std::vector<Products> products_of(const OperatorArrays& in,
                                  const BoundedArray& by_object,
                                  const BoundedArray& by_probe,
                                  const BoundedArray& back) {
  const auto frame = spec::to_size(spec::values(in.scene, Array::frames));
  const auto modes = spec::to_size(in.scene.modes);
  const auto copy = [&](const BoundedArray& bounded, std::size_t first) {
    BoundedArray part;
    const auto begin = static_cast<std::ptrdiff_t>(first * frame);
    const auto end = static_cast<std::ptrdiff_t>((first + 1) * frame);
    part.values.assign(bounded.values.begin() + begin, bounded.values.begin() + end);
    part.errors.assign(bounded.errors.begin() + begin, bounded.errors.begin() + end);
    return part;
  };
  std::vector<Products> result;
  for (std::size_t n = 0; n < spec::to_size(in.positions); ++n) {
    const BoundedArray u = copy(by_object, n);
    const BoundedArray v = copy(by_probe, n);
    // Minus the residual wave. u and v are zero outside the window, so the sums cover only the
    // window.
    const BoundedArray w = copy(back, n * modes);
    result.push_back({.object_energy = inner_product(u, u, in.unit),
                      .probe_energy = inner_product(v, v, in.unit),
                      .overlap = inner_product(u, v, in.unit),
                      .object_slope = difference({}, real(inner_product(w, u, in.unit)), in.unit),
                      .probe_slope = difference({}, real(inner_product(w, v, in.unit)), in.unit)});
  }
  return result;
}

template <class Items, class Value>
Estimate mean(const Items& items, double unit, const Value& value) {
  Sum sum;
  for (const auto& item : items) sum.add(value(item));
  const Estimate count{.value = static_cast<double>(items.size())};
  return quotient(sum.estimate(unit), count, unit);
}

/// The larger of a and 0.
Estimate positive_part(const Estimate& a) {
  return {.value = std::max(a.value.real(), 0.0), .error = a.error};
}

/// One of a position's two lengths: x = (other b - A2 c) / det, or 0 if x is negative. `own` and b
/// are the energy and slope of its direction, `other` and c those of the other direction. det = own
/// other - |overlap|^2 and A2 = Re overlap. An implementation has other', b' and so on; its
/// numerator minus x times its det is
///   other' (b' - x own') - A2' (c' - x A2') + x (Im overlap')^2.
/// This is 0 for the reference's own values, and many errors of energies and overlap cancel in it.
/// Divided by the implementation's det, it is the error of the implementation's length.
Estimate length_of(const Estimate& own,
                   const Estimate& other,
                   const Estimate& overlap,
                   const Estimate& b,
                   const Estimate& c,
                   const Estimate& determinant,
                   double unit) {
  constexpr double exactly = 0;
  const auto times = [](const Estimate& x, const Estimate& y) { return product(x, y, exactly); };
  const auto minus = [](const Estimate& x, const Estimate& y) { return difference(x, y, exactly); };
  const Estimate a2 = real(overlap);
  const Estimate skew{.value = overlap.value.imag(), .error = overlap.error};
  Estimate length = minus(times(other, b), times(a2, c));
  length = {.value = length.value / determinant.value, .error = 0};
  const Estimate off = minus(
      minus(times(other, minus(b, times(length, own))), times(a2, minus(c, times(length, a2)))),
      times({.value = -length.value}, times(skew, skew)));
  // Roundings of a numerator and of a det, with their products, sums and differences, and of `off`.
  const double rounded =
      growth(6, unit) * (other.magnitude() * b.magnitude() + a2.magnitude() * c.magnitude() +
                         length.magnitude() * (own.magnitude() * other.magnitude() +
                                               overlap.magnitude() * overlap.magnitude()));
  length.error = quotient({.error = off.magnitude() + rounded}, determinant, unit).error;
  length.error += growth(3, unit) * length.magnitude();
  return positive_part(length);
}

/// Solves the least squares of one position; the damps are added to both energies.
Lengths solve(const Products& of,
              const Estimate& object_damp,
              const Estimate& probe_damp,
              double unit) {
  const Estimate a1 = sum(of.object_energy, object_damp, unit);
  const Estimate a4 = sum(of.probe_energy, probe_damp, unit);
  const Estimate determinant =
      difference(product(a1, a4, unit), real(product(of.overlap, conj(of.overlap), unit)), unit);
  if (determinant.value.real() + determinant.error <= 0) return {};
  if (determinant.value.real() <= determinant.error) {
    constexpr Estimate anything{.error = std::numeric_limits<double>::infinity()};
    return {.object = anything, .probe = anything};
  }
  const auto solved =
      [&](const Estimate& own, const Estimate& other, const auto& b, const auto& c) {
        return length_of(own, other, of.overlap, b, c, determinant, unit);
      };
  return {.object = solved(a1, a4, of.object_slope, of.probe_slope),
          .probe = solved(a4, a1, of.probe_slope, of.object_slope)};
}

Lengths lengths_of(const std::vector<Products>& products, double unit) {
  if (products.empty()) return {};
  const Estimate half{.value = 0.5};
  const Estimate object_damp = product(
      half, mean(products, unit, [](const Products& of) { return of.object_energy; }), unit);
  const Estimate probe_damp =
      product(half, mean(products, unit, [](const Products& of) { return of.probe_energy; }), unit);
  std::vector<Lengths> lengths;
  for (const Products& of : products) {
    lengths.push_back(solve(of, object_damp, probe_damp, unit));
  }
  const Estimate share{.value = lsqml_relaxation};
  return {.object = product(
              share, mean(lengths, unit, [](const Lengths& of) { return of.object; }), unit),
          .probe = product(
              share, mean(lengths, unit, [](const Lengths& of) { return of.probe; }), unit)};
}

}  // namespace

void directions(const OperatorArrays& in, OperatorArrays& out) {
  OperatorArrays sums = in;
  gradients(in, gaussian_cost::reference, sums);
  object_preconditioner::reference(in, sums);
  out[Array::object_direction] =
      object_direction(sums[Array::object], sums[Array::object_weight], in.unit);
  out[Array::probe_direction] = probe_direction(sums[Array::probe], in.positions, in.unit);
  out[Array::waves] = sums[Array::waves];
  out[Array::cost] = sums[Array::cost];
}

/// Computes the contract's outputs from its inputs.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  OperatorArrays led = in;
  directions(in, led);
  const BoundedArray& object = led[Array::object_direction];
  const BoundedArray& probe = led[Array::probe_direction];
  const Lengths lengths = lengths_of(products_of(in,
                                                 exit_waves(in, object, in[Array::probe]),
                                                 exit_waves(in, in[Array::object], probe),
                                                 led[Array::waves]),
                                     in.unit);
  out[Array::cost] = led[Array::cost];
  out[Array::object] = moved(in[Array::object], lengths.object, object, in.unit);
  out[Array::probe] = moved(in[Array::probe], lengths.probe, probe, in.unit);
  BoundedArray& lengths_out = out.make(Array::step_lengths);
  store(lengths.object, 0, lengths_out);
  store(lengths.probe, 1, lengths_out);
}

}  // namespace rankcheck::reference::lsqml_step
