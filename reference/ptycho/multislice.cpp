#include <cstddef>
#include <utility>
#include <vector>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

/// References of the operators on an object of several slices.
namespace rankcheck::reference {

namespace {

using spec::Array;

/// Splits an object of several slices into successive illuminations: the arrays of one problem for
/// each slice, with this slice as the object, and with the positions. The waves between slices are
/// as wide as the window. For every slice but the first they are a probe that varies.
std::vector<OperatorArrays> layers_of(const OperatorArrays& in) {
  std::vector<OperatorArrays> layers;
  const BoundedArray& object = in[Array::object];
  for (int s = 0; s < in.scene.slices; ++s) {
    OperatorArrays layer = with(in, {Array::positions});
    layer.scene.slices = 1;
    if (s > 0) layer.scene.varying_probe = true;
    if (s + 1 < in.scene.slices) layer.scene.detector = in.scene.window;
    const std::size_t size = layer.make(Array::object).values.size();
    for (std::size_t i = 0; i < size; ++i) {
      layer[Array::object].values[i] = object.values[spec::to_size(s) * size + i];
      layer[Array::object].errors[i] = object.errors[spec::to_size(s) * size + i];
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

/// Gives every layer after the first the probe that reaches it. With `to_the_end`, also gives the
/// last layer the waves that leave it. The first layer must already have its probe.
void illuminate_layers(std::vector<OperatorArrays>& layers, bool to_the_end) {
  for (std::size_t s = 0; s < layers.size(); ++s) {
    const bool is_last = s + 1 == layers.size();
    if (is_last && !to_the_end) return;
    illuminate::reference(layers[s], layers[s]);
    if (is_last) return;
    OperatorArrays behind = with(layers[s], {});
    propagate_fresnel::reference(layers[s], behind);
    layers[s + 1][Array::probe] = std::move(behind[Array::waves]);
  }
}

/// Gives every layer the waves that come back behind it. The last layer must already have them.
void bring_back(std::vector<OperatorArrays>& layers) {
  for (std::size_t s = layers.size() - 1; s > 0; --s) {
    OperatorArrays before = layers[s];
    illuminate_adjoint_probe::reference(layers[s], before);
    OperatorArrays& layer = layers[s - 1];
    layer[Array::waves] = std::move(before[Array::probe]);
    propagate_fresnel_adjoint::reference(layer, layer);
  }
}

}  // namespace

/// Needs object, probe and positions; makes waves.
void multislice::reference(const OperatorArrays& in, OperatorArrays& out) {
  std::vector<OperatorArrays> layers = layers_of(in);
  layers.front()[Array::probe] = in[Array::probe];
  illuminate_layers(layers, true);
  out[Array::waves] = std::move(layers.back()[Array::waves]);
}

/// Needs waves, object, probe and positions; makes object.
void multislice_adjoint_object::reference(const OperatorArrays& in, OperatorArrays& out) {
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

/// Needs waves, object and positions; makes probe.
void multislice_adjoint_probe::reference(const OperatorArrays& in, OperatorArrays& out) {
  std::vector<OperatorArrays> layers = layers_of(in);
  layers.back()[Array::waves] = in[Array::waves];
  bring_back(layers);
  OperatorArrays first = layers.front();
  illuminate_adjoint_probe::reference(layers.front(), first);
  out[Array::probe] = std::move(first[Array::probe]);
}

}  // namespace rankcheck::reference
