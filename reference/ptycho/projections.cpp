#include "reference/ptycho/projections.hpp"

#include <utility>

#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference {

using spec::Array;

BoundedArray fitted(const BoundedArray& before,
                    const BoundedArray& numerator,
                    const BoundedArray& weight,
                    double unit) {
  BoundedArray after = before;
  for (std::size_t i = 0; i < after.values.size(); ++i) {
    const Estimate divisor = at(weight, i % weight.values.size());
    if (divisor.magnitude() == 0) continue;
    store(quotient(at(numerator, i), divisor, unit), i, after);
  }
  return after;
}

void project_on_frames(const OperatorArrays& in, OperatorArrays& out) {
  OperatorArrays compared{.scene = in.scene,
                          .positions = in.positions,
                          .counts = in.counts,
                          .unit = in.unit,
                          .arrays = {}};
  gaussian_cost::reference(in, compared);
  // The gradient is the difference between the waves and the waves with the measured amplitudes.
  BoundedArray projected = in[Array::far_waves];
  for (std::size_t i = 0; i < projected.values.size(); ++i) {
    store(difference(at(projected, i), at(compared[Array::far_waves], i), in.unit), i, projected);
  }
  out[Array::cost] = compared[Array::cost];
  out[Array::far_waves] = std::move(projected);
}

}  // namespace rankcheck::reference
