#include "reference/ptycho/multislice_adjoint_probe/reference.hpp"

#include "reference/ptycho/illuminate_adjoint_probe/reference.hpp"
#include "reference/ptycho/layers.hpp"

namespace rankcheck::reference::multislice_adjoint_probe {

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
