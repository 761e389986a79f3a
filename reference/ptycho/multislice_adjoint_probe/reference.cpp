#include "reference/ptycho/multislice_adjoint_probe/reference.hpp"

#include "reference/ptycho/illuminate_adjoint_probe/reference.hpp"
#include "reference/ptycho/layers.hpp"

namespace rankcheck::reference::multislice_adjoint_probe {

void reference(const Setting& in, Setting& out) {
  using spec::Array;
  std::vector<Setting> layers = layers_of(in);
  layers.back()[Array::waves] = in[Array::waves];
  bring_back(layers);
  Setting first = layers.front();
  illuminate_adjoint_probe::reference(layers.front(), first);
  out[Array::probe] = std::move(first[Array::probe]);
}

}  // namespace rankcheck::reference::multislice_adjoint_probe
