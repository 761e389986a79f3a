#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::object_preconditioner {

/// Needs probe and positions, makes object_weight.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const spec::Scene& scene = in.scene;
  const BoundedArray& probe = in[spec::Array::probe];
  OperatorArrays lit = in;
  lit.scene.slices = 1;
  BoundedArray& patches = lit.make(spec::Array::patches);
  const auto width = spec::to_size(scene.window);
  const auto modes = spec::to_size(scene.modes);
  const auto margin = spec::to_size(spec::margin(scene));
  const auto detector = spec::to_size(scene.detector);
  for (std::size_t n = 0; n < spec::to_size(in.positions); ++n) {
    for (std::size_t i = 0; i < width * width; ++i) {
      const std::size_t pixel = (n * detector + margin + i / width) * detector + margin + i % width;
      for (std::size_t m = 0; m < modes; ++m) {
        const std::size_t at = ((scene.varying_probe ? n * modes : 0) + m) * width * width + i;
        const double magnitude = std::abs(probe.values[at]);
        patches.values[pixel] += std::norm(probe.values[at]);
        patches.errors[pixel] += (2 * magnitude + probe.errors[at]) * probe.errors[at];
      }
      // Roundings: two squares, their sum, and the sum over the modes.
      patches.errors[pixel] += (2 + static_cast<double>(modes)) * in.unit *
                               (patches.values[pixel].real() + patches.errors[pixel]);
    }
  }
  OperatorArrays sum = lit;
  insert::reference(lit, sum);
  BoundedArray& weight = out.make(spec::Array::object_weight);
  weight.values = sum[spec::Array::object].values;
  weight.errors = sum[spec::Array::object].errors;
}

}  // namespace rankcheck::reference::object_preconditioner
