#include "reference/ptycho/epie_step/reference.hpp"

#include "reference/ptycho/pie.hpp"

namespace rankcheck::reference::epie_step {

void reference(const OperatorArrays& in, OperatorArrays& out) {
  pie_step(in, 1, out);
}

}  // namespace rankcheck::reference::epie_step
