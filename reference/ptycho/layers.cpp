#include "reference/ptycho/layers.hpp"

#include <cstddef>
#include <utility>

#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference {

using spec::Array;

std::vector<OperatorArrays> layers_of(const OperatorArrays& in) {
  std::vector<OperatorArrays> layers;
  const BoundedArray& object = in[Array::object];
  for (int s = 0; s < in.scene.slices; ++s) {
    OperatorArrays layer{.scene = in.scene,
                         .positions = in.positions,
                         .counts = in.counts,
                         .unit = in.unit,
                         .arrays = {}};
    layer.scene.slices = 1;
    if (s > 0) layer.scene.varying_probe = true;
    if (s + 1 < in.scene.slices) layer.scene.detector = in.scene.window;
    layer[Array::positions] = in[Array::positions];
    const std::size_t size = layer.make(Array::object).values.size();
    for (std::size_t i = 0; i < size; ++i) {
      layer[Array::object].values[i] = object.values[spec::to_size(s) * size + i];
      layer[Array::object].errors[i] = object.errors[spec::to_size(s) * size + i];
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

void illuminate_layers(std::vector<OperatorArrays>& layers, bool to_the_end) {
  for (std::size_t s = 0; s < layers.size(); ++s) {
    const bool is_last = s + 1 == layers.size();
    if (is_last && !to_the_end) return;
    illuminate::reference(layers[s], layers[s]);
    if (is_last) return;
    OperatorArrays behind{.scene = layers[s].scene, .counts = {}, .arrays = {}};
    propagate_fresnel::reference(layers[s], behind);
    layers[s + 1][Array::probe] = std::move(behind[Array::waves]);
  }
}

void bring_back(std::vector<OperatorArrays>& layers) {
  for (std::size_t s = layers.size() - 1; s > 0; --s) {
    OperatorArrays before = layers[s];
    illuminate_adjoint_probe::reference(layers[s], before);
    OperatorArrays& layer = layers[s - 1];
    layer[Array::waves] = std::move(before[Array::probe]);
    propagate_fresnel_adjoint::reference(layer, layer);
  }
}

}  // namespace rankcheck::reference
