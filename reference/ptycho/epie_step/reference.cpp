#include "reference/ptycho/pie.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::epie_step {

/// Needs object, probe, positions, frames and mask; makes cost, object and probe.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  pie_step(in, 1, out);
}

}  // namespace rankcheck::reference::epie_step
