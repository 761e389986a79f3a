#include "reference/ptycho/multislice/reference.hpp"

#include "reference/ptycho/layers.hpp"

namespace rankcheck::reference::multislice {

void reference(const OperatorArrays& in, OperatorArrays& out) {
  std::vector<OperatorArrays> layers = layers_of(in);
  layers.front()[spec::Array::probe] = in[spec::Array::probe];
  illuminate_layers(layers, true);
  out[spec::Array::waves] = std::move(layers.back()[spec::Array::waves]);
}

}  // namespace rankcheck::reference::multislice
