#include "reference/ptycho/probe_preconditioner/reference.hpp"

#include "reference/ptycho/extract/reference.hpp"

namespace rankcheck::reference::probe_preconditioner {

void reference(const OperatorArrays& in, OperatorArrays& out) {
  OperatorArrays seen = in;
  extract::reference(in, seen);
  const Field& patches = seen[spec::Array::patches];
  Field& weight = out.make(spec::Array::probe_weight);
  const auto width = static_cast<std::size_t>(in.scene.window);
  const auto margin = static_cast<std::size_t>(spec::margin(in.scene));
  const auto detector = static_cast<std::size_t>(in.scene.detector);
  // Roundings: two squares, their sum, and the sum over the positions.
  const double unit = (2 + static_cast<double>(in.positions)) * in.unit;
  for (std::size_t n = 0; n < static_cast<std::size_t>(in.positions); ++n) {
    for (std::size_t i = 0; i < width * width; ++i) {
      const std::size_t pixel = (n * detector + margin + i / width) * detector + margin + i % width;
      const double most = std::abs(patches.values[pixel]) + patches.errors[pixel];
      weight.values[i] += std::norm(patches.values[pixel]);
      weight.errors[i] += most * most - std::norm(patches.values[pixel]) + unit * most * most;
    }
  }
}

}  // namespace rankcheck::reference::probe_preconditioner
