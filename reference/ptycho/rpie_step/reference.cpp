#include "reference/ptycho/pie.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/ptycho/rpie_step/contract.hpp"

namespace rankcheck::reference::rpie_step {

/// Needs object, probe, positions, frames and mask; makes cost, object and probe.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  pie_step(in, rpie_alpha, out);
}

}  // namespace rankcheck::reference::rpie_step
