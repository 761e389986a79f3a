#include "reference/ptycho/alternating_projections_step/reference.hpp"

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/gaussian_cost/reference.hpp"
#include "reference/ptycho/object_preconditioner/reference.hpp"
#include "reference/ptycho/probe_preconditioner/reference.hpp"

namespace rankcheck::reference::alternating_projections_step {

namespace {

using spec::Array;

/// numerator / weight, value by value; as before where the weight is 0.
Field fitted(const Field& before, const Field& numerator, const Field& weight, double unit) {
  Field after = before;
  for (std::size_t i = 0; i < after.values.size(); ++i) {
    const Estimate divisor = at(weight, i % weight.values.size());
    if (divisor.magnitude() == 0) continue;
    store(quotient(at(numerator, i), divisor, unit), i, after);
  }
  return after;
}

}  // namespace

void reference(const Setting& in, Setting& out) {
  Setting far = in;
  forward(in, far);
  Setting compared = far;
  gaussian_cost::reference(far, compared);
  // The gradient is what lies between the waves and those of the measured amplitudes.
  Field corrected = far[Array::far_waves];
  for (std::size_t i = 0; i < corrected.values.size(); ++i) {
    store(difference(at(corrected, i), at(compared[Array::far_waves], i), in.unit), i, corrected);
  }
  Setting sums = in;
  backward(in, corrected, sums);
  object_preconditioner::reference(in, sums);
  probe_preconditioner::reference(in, sums);
  out[Array::cost] = compared[Array::cost];
  out[Array::object] =
      fitted(in[Array::object], sums[Array::object], sums[Array::object_weight], in.unit);
  out[Array::probe] =
      fitted(in[Array::probe], sums[Array::probe], sums[Array::probe_weight], in.unit);
}

}  // namespace rankcheck::reference::alternating_projections_step
