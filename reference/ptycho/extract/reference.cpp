#include "reference/ptycho/references.hpp"
#include "reference/ptycho/window.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::extract {

/// Needs object and positions, makes patches.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& object = in[spec::Array::object];
  BoundedArray& patches = out.make(spec::Array::patches);
  const auto frame = spec::to_size(spec::values(in.scene, spec::Array::patches));
  for (std::int64_t n = 0; n < in.positions; ++n) {
    const std::size_t first = spec::to_size(n) * frame;
    for_each_tap(in, n, [&](std::size_t pixel, std::size_t source, double weight) {
      patches.values[first + pixel] += weight * object.values[source];
      patches.errors[first + pixel] +=
          weight *
          (object.errors[source] +
           tap_roundings * in.unit * (std::abs(object.values[source]) + object.errors[source]));
    });
  }
}

}  // namespace rankcheck::reference::extract
