#include <vector>

#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/ptycho/window.hpp"

namespace rankcheck::reference::illuminate_adjoint_probe {

/// Needs waves, object and positions; makes probe.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  extract::reference(in, out);
  const BoundedArray& patches = out[spec::Array::patches];
  const BoundedArray& waves = in[spec::Array::waves];
  BoundedArray& probe = out.make(spec::Array::probe);
  std::vector<Sum> sums(probe.values.size());
  for_each_lit_pixel(in, [&](const LitPixel& pixel) {
    sums[pixel.in_probe].add(
        product(conj(at(patches, pixel.in_patches)), at(waves, pixel.in_waves), in.unit));
  });
  store(sums, in.unit, probe);
}

}  // namespace rankcheck::reference::illuminate_adjoint_probe
