#include "reference/ptycho/layers.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::multislice_adjoint_object {

/// Needs waves, object, probe and positions; makes object.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  using spec::Array;
  std::vector<OperatorArrays> layers = layers_of(in);
  layers.front()[Array::probe] = in[Array::probe];
  illuminate_layers(layers, false);
  layers.back()[Array::waves] = in[Array::waves];
  bring_back(layers);
  BoundedArray& object = out[Array::object];
  object.resize(0);
  for (const OperatorArrays& layer : layers) {
    OperatorArrays slice = layer;
    illuminate_adjoint_object::reference(layer, slice);
    const BoundedArray& share = slice[Array::object];
    object.values.insert(object.values.end(), share.values.begin(), share.values.end());
    object.errors.insert(object.errors.end(), share.errors.begin(), share.errors.end());
  }
}

}  // namespace rankcheck::reference::multislice_adjoint_object
