#include "reference/ptycho/chain.hpp"

#include "reference/ptycho/multislice/reference.hpp"
#include "reference/ptycho/multislice_adjoint_object/reference.hpp"
#include "reference/ptycho/multislice_adjoint_probe/reference.hpp"
#include "reference/ptycho/propagate/reference.hpp"
#include "reference/ptycho/propagate_inverse/reference.hpp"

namespace rankcheck::reference {

using spec::Array;

Setting with(const Setting& in, std::initializer_list<Array> arrays) {
  Setting some{.scene = in.scene,
               .positions = in.positions,
               .counts = in.counts,
               .unit = in.unit,
               .arrays = {}};
  for (const Array array : arrays) some[array] = in[array];
  return some;
}

void forward(const Setting& in, Setting& out) {
  Setting lit = with(in, {});
  multislice::reference(in, lit);
  propagate::reference(lit, out);
}

void backward(const Setting& in, const Field& far_waves, Setting& out) {
  Setting far = with(in, {});
  far[Array::far_waves] = far_waves;
  Setting back = with(in, {Array::object, Array::probe, Array::positions});
  propagate_inverse::reference(far, back);
  multislice_adjoint_object::reference(back, out);
  multislice_adjoint_probe::reference(back, out);
  out[Array::waves] = back[Array::waves];
}

void gradients(const Setting& in, Operator cost, Setting& out) {
  Setting far = with(in, {Array::frames, Array::mask});
  forward(in, far);
  Setting compared = with(in, {});
  cost(far, compared);
  backward(in, compared[Array::far_waves], out);
  out[Array::cost] = compared[Array::cost];
}

}  // namespace rankcheck::reference
