#include "reference/ptycho/pixels.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::intensity {

/// Needs far_waves, makes frames.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& waves = in[spec::Array::far_waves];
  BoundedArray& frames = out.make(spec::Array::frames);
  const double unit = intensity_roundings(in) * in.unit;
  for_each_pixel(in, [&](std::size_t pixel, std::size_t, const PixelWaves& at, const auto& wave) {
    double sum = 0;
    for (std::size_t m = 0; m < spec::to_size(in.scene.modes); ++m) {
      sum += std::norm(waves.values[wave(m)]);
    }
    frames.values[pixel] = sum;
    frames.errors[pixel] = (2 * at.amplitude + at.error) * at.error +
                           unit * (at.amplitude + at.error) * (at.amplitude + at.error);
  });
}

}  // namespace rankcheck::reference::intensity
