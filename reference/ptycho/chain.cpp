#include "reference/ptycho/chain.hpp"

#include <utility>

#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference {

using spec::Array;

OperatorArrays with(const OperatorArrays& in, std::initializer_list<Array> arrays) {
  OperatorArrays some{.scene = in.scene,
                      .positions = in.positions,
                      .counts = in.counts,
                      .unit = in.unit,
                      .arrays = {}};
  for (const Array array : arrays) some[array] = in[array];
  return some;
}

void forward(const OperatorArrays& in, OperatorArrays& out) {
  OperatorArrays lit = with(in, {});
  multislice::reference(in, lit);
  propagate::reference(lit, out);
}

void backward(const OperatorArrays& in, const BoundedArray& far_waves, OperatorArrays& out) {
  OperatorArrays far = with(in, {});
  far[Array::far_waves] = far_waves;
  OperatorArrays back = with(in, {Array::object, Array::probe, Array::positions});
  propagate_inverse::reference(far, back);
  multislice_adjoint_object::reference(back, out);
  multislice_adjoint_probe::reference(back, out);
  out[Array::waves] = back[Array::waves];
}

void gradients(const OperatorArrays& in, Operator cost, OperatorArrays& out) {
  OperatorArrays far = with(in, {Array::frames, Array::mask});
  forward(in, far);
  OperatorArrays compared = with(in, {});
  cost(far, compared);
  backward(in, compared[Array::far_waves], out);
  out[Array::cost] = compared[Array::cost];
}

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
  OperatorArrays compared = with(in, {});
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
