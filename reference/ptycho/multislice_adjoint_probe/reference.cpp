#include "reference/ptycho/layers.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::multislice_adjoint_probe {

/// Needs waves, object and positions; makes probe.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  using spec::Array;
  std::vector<OperatorArrays> layers = layers_of(in);
  layers.back()[Array::waves] = in[Array::waves];
  bring_back(layers);
  OperatorArrays first = layers.front();
  illuminate_adjoint_probe::reference(layers.front(), first);
  out[Array::probe] = std::move(first[Array::probe]);
}

}  // namespace rankcheck::reference::multislice_adjoint_probe
