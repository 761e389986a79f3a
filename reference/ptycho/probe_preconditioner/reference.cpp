#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::probe_preconditioner {

/// Needs object and positions, makes probe_weight.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  OperatorArrays seen = in;
  extract::reference(in, seen);
  const BoundedArray& patches = seen[spec::Array::patches];
  BoundedArray& weight = out.make(spec::Array::probe_weight);
  const auto width = spec::to_size(in.scene.window);
  const auto margin = spec::to_size(spec::margin(in.scene));
  const auto detector = spec::to_size(in.scene.detector);
  // Roundings: two squares, their sum, and the sum over the positions.
  const double unit = (2 + static_cast<double>(in.positions)) * in.unit;
  for (std::size_t n = 0; n < spec::to_size(in.positions); ++n) {
    for (std::size_t i = 0; i < width * width; ++i) {
      const std::size_t pixel = (n * detector + margin + i / width) * detector + margin + i % width;
      const double most = std::abs(patches.values[pixel]) + patches.errors[pixel];
      weight.values[i] += std::norm(patches.values[pixel]);
      weight.errors[i] += most * most - std::norm(patches.values[pixel]) + unit * most * most;
    }
  }
}

}  // namespace rankcheck::reference::probe_preconditioner
