#include "reference/ptycho/rpie_step/reference.hpp"

#include "reference/ptycho/pie.hpp"
#include "reference/ptycho/rpie_step/contract.hpp"

namespace rankcheck::reference::rpie_step {

void reference(const OperatorArrays& in, OperatorArrays& out) {
  pie_step(in, rpie_alpha, out);
}

}  // namespace rankcheck::reference::rpie_step
