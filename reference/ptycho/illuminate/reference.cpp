#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/ptycho/window.hpp"

namespace rankcheck::reference::illuminate {

/// Needs object, probe and positions; makes waves.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  extract::reference(in, out);
  const BoundedArray& patches = out[spec::Array::patches];
  const BoundedArray& probe = in[spec::Array::probe];
  BoundedArray& waves = out.make(spec::Array::waves);
  for_each_lit_pixel(in, [&](const LitPixel& pixel) {
    const Estimate wave =
        product(at(patches, pixel.in_patches), at(probe, pixel.in_probe), in.unit);
    waves.values[pixel.in_waves] = wave.value;
    waves.errors[pixel.in_waves] = wave.error;
  });
}

}  // namespace rankcheck::reference::illuminate
