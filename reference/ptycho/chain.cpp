#include "reference/ptycho/chain.hpp"

#include "reference/ptycho/illuminate/reference.hpp"
#include "reference/ptycho/illuminate_adjoint_object/reference.hpp"
#include "reference/ptycho/illuminate_adjoint_probe/reference.hpp"
#include "reference/ptycho/propagate/reference.hpp"
#include "reference/ptycho/propagate_inverse/reference.hpp"

namespace rankcheck::reference {

void gradients(const Setting& in, Operator cost, Setting& out) {
  using spec::Array;
  Setting forward = in;
  illuminate::reference(in, forward);
  Setting compared = forward;
  propagate::reference(forward, compared);
  Setting costed = compared;
  cost(compared, costed);
  Setting back = in;
  propagate_inverse::reference(costed, back);
  out[Array::cost] = costed[Array::cost];
  illuminate_adjoint_object::reference(back, out);
  illuminate_adjoint_probe::reference(back, out);
}

}  // namespace rankcheck::reference
