#include "reference/ptycho/layers.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::multislice {

/// Needs object, probe and positions; makes waves.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  std::vector<OperatorArrays> layers = layers_of(in);
  layers.front()[spec::Array::probe] = in[spec::Array::probe];
  illuminate_layers(layers, true);
  out[spec::Array::waves] = std::move(layers.back()[spec::Array::waves]);
}

}  // namespace rankcheck::reference::multislice
