#include <vector>

#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/ptycho/window.hpp"

namespace rankcheck::reference::illuminate_adjoint_object {

/// Needs waves, probe and positions; makes object.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& waves = in[spec::Array::waves];
  const BoundedArray& probe = in[spec::Array::probe];
  BoundedArray& object = out.make(spec::Array::object);
  std::vector<Sum> sums(object.values.size());
  for_each_lit_pixel(in, [&](const LitPixel& pixel) {
    const Estimate term =
        product(conj(at(probe, pixel.in_probe)), at(waves, pixel.in_waves), in.unit);
    for_each_tap(in.scene, pixel.corner, pixel.p, pixel.q, [&](std::size_t target, double weight) {
      sums[target].add(term, weight, tap_roundings);
    });
  });
  store(sums, in.unit, object);
}

}  // namespace rankcheck::reference::illuminate_adjoint_object
