#include "reference/ptycho/references.hpp"
#include "reference/ptycho/window.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::reference::insert {

/// Needs patches and positions, makes object.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& patches = in[spec::Array::patches];
  BoundedArray& object = out.make(spec::Array::object);
  const auto frame = spec::to_size(spec::values(in.scene, spec::Array::patches));
  std::vector<double> magnitudes(object.values.size());
  std::vector<double> terms(object.values.size());
  for (std::int64_t n = 0; n < in.positions; ++n) {
    const std::size_t first = spec::to_size(n) * frame;
    for_each_tap(in, n, [&](std::size_t pixel, std::size_t target, double weight) {
      const std::complex<double> value = patches.values[first + pixel];
      object.values[target] += weight * value;
      object.errors[target] += weight * patches.errors[first + pixel];
      magnitudes[target] += weight * (std::abs(value) + patches.errors[first + pixel]);
      terms[target] += 1;
    });
  }
  for (std::size_t i = 0; i < terms.size(); ++i) {
    // A sum of k terms in any order rounds each term at most k - 1 times.
    object.errors[i] += (terms[i] - 1 + tap_roundings) * in.unit * magnitudes[i];
  }
}

}  // namespace rankcheck::reference::insert
