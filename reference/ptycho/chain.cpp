#include "reference/ptycho/chain.hpp"

#include "reference/ptycho/multislice/reference.hpp"
#include "reference/ptycho/multislice_adjoint_object/reference.hpp"
#include "reference/ptycho/multislice_adjoint_probe/reference.hpp"
#include "reference/ptycho/propagate/reference.hpp"
#include "reference/ptycho/propagate_inverse/reference.hpp"

namespace rankcheck::reference {

using spec::Array;

void forward(const Setting& in, Setting& out) {
  Setting lit = in;
  multislice::reference(in, lit);
  propagate::reference(lit, out);
}

void backward(const Setting& in, const Field& far_waves, Setting& out) {
  Setting far = in;
  far[Array::far_waves] = far_waves;
  Setting back = in;
  propagate_inverse::reference(far, back);
  multislice_adjoint_object::reference(back, out);
  multislice_adjoint_probe::reference(back, out);
  out[Array::waves] = back[Array::waves];
}

void gradients(const Setting& in, Operator cost, Setting& out) {
  Setting far = in;
  forward(in, far);
  Setting compared = far;
  cost(far, compared);
  backward(in, compared[Array::far_waves], out);
  out[Array::cost] = compared[Array::cost];
}

}  // namespace rankcheck::reference
