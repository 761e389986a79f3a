#include "reference/ptycho/pie.hpp"

#include <algorithm>
#include <limits>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/gaussian_cost/reference.hpp"
#include "reference/ptycho/object_preconditioner/reference.hpp"
#include "reference/ptycho/probe_preconditioner/reference.hpp"

namespace rankcheck::reference {

namespace {

/// before - gradient / ((1-alpha) weight + alpha max weight), value by value.
Field stepped(const Field& before,
              const Field& gradient,
              const Field& weight,
              double alpha,
              double unit) {
  double largest = 0;
  double largest_error = 0;
  for (std::size_t i = 0; i < weight.values.size(); ++i) {
    largest = std::max(largest, weight.values[i].real());
    largest_error = std::max(largest_error, weight.errors[i]);
  }
  Field after = before;
  for (std::size_t i = 0; i < after.values.size(); ++i) {
    const std::size_t w = i % weight.values.size();
    const double divisor = (1 - alpha) * weight.values[w].real() + alpha * largest;
    // Of the products, the sum, and alpha and its complement, which no float is.
    const double divisor_error = (1 - alpha) * weight.errors[w] + alpha * largest_error +
                                 growth(4, unit) * (divisor + largest_error);
    if (divisor == 0 && divisor_error == 0) continue;
    if (divisor <= divisor_error) {
      after.errors[i] = std::numeric_limits<double>::infinity();
      continue;
    }
    const std::complex<double> step = gradient.values[i] / divisor;
    const double step_error =
        (gradient.errors[i] + std::abs(step) * divisor_error) / (divisor - divisor_error);
    after.values[i] = before.values[i] - step;
    // The reciprocal or quotient, the product, the difference.
    after.errors[i] = before.errors[i] + step_error +
                      growth(3, unit) * (std::abs(before.values[i]) + std::abs(step) + step_error);
  }
  return after;
}

}  // namespace

void pie_step(const Setting& in, double alpha, Setting& out) {
  using spec::Array;
  Setting sums = in;
  gradients(in, gaussian_cost::reference, sums);
  object_preconditioner::reference(in, sums);
  probe_preconditioner::reference(in, sums);
  out[Array::cost] = sums[Array::cost];
  out[Array::object] = stepped(
      in[Array::object], sums[Array::object], sums[Array::object_weight], alpha, in.unit);
  out[Array::probe] =
      stepped(in[Array::probe], sums[Array::probe], sums[Array::probe_weight], alpha, in.unit);
}

}  // namespace rankcheck::reference
