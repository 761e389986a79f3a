#include <utility>
#include <vector>

#include "reference/ptycho/estimate.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/ptycho/window.hpp"
#include "reference/spec/to_size.hpp"

/// References of the operators on the positions' windows of frames and of the object.
namespace rankcheck::reference {

using spec::Array;

/// Needs patches, makes windows.
void crop::reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& patches = in[Array::patches];
  BoundedArray& windows = out.make(Array::windows);
  for_each_window_pixel(in, [&](std::size_t in_windows, std::size_t in_patches) {
    store(at(patches, in_patches), in_windows, windows);
  });
}

/// Needs windows, makes patches.
void pad::reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& windows = in[Array::windows];
  BoundedArray& patches = out.make(Array::patches);
  for_each_window_pixel(in, [&](std::size_t in_windows, std::size_t in_patches) {
    store(at(windows, in_windows), in_patches, patches);
  });
}

/// Needs object and positions, makes patches.
void extract::reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& object = in[Array::object];
  BoundedArray& patches = out.make(Array::patches);
  const auto frame = spec::to_size(spec::values(in.scene, Array::patches));
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

/// Needs patches and positions, makes object.
void insert::reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& patches = in[Array::patches];
  BoundedArray& object = out.make(Array::object);
  const auto frame = spec::to_size(spec::values(in.scene, Array::patches));
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

/// Needs object, probe and positions; makes waves.
void illuminate::reference(const OperatorArrays& in, OperatorArrays& out) {
  extract::reference(in, out);
  const BoundedArray& patches = out[Array::patches];
  const BoundedArray& probe = in[Array::probe];
  BoundedArray& waves = out.make(Array::waves);
  for_each_lit_pixel(in, [&](const LitPixel& pixel) {
    store(product(at(patches, pixel.in_patches), at(probe, pixel.in_probe), in.unit),
          pixel.in_waves,
          waves);
  });
}

/// Needs waves, probe and positions; makes object.
void illuminate_adjoint_object::reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& waves = in[Array::waves];
  const BoundedArray& probe = in[Array::probe];
  BoundedArray& object = out.make(Array::object);
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

/// Needs waves, object and positions; makes probe.
void illuminate_adjoint_probe::reference(const OperatorArrays& in, OperatorArrays& out) {
  extract::reference(in, out);
  const BoundedArray& patches = out[Array::patches];
  const BoundedArray& waves = in[Array::waves];
  BoundedArray& probe = out.make(Array::probe);
  std::vector<Sum> sums(probe.values.size());
  for_each_lit_pixel(in, [&](const LitPixel& pixel) {
    sums[pixel.in_probe].add(
        product(conj(at(patches, pixel.in_patches)), at(waves, pixel.in_waves), in.unit));
  });
  store(sums, in.unit, probe);
}

/// Needs probe and positions, makes object_weight.
void object_preconditioner::reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& probe = in[Array::probe];
  OperatorArrays lit = in;
  lit.scene.slices = 1;
  BoundedArray& patches = lit.make(Array::patches);
  const auto pixels = spec::to_size(in.scene.window) * spec::to_size(in.scene.window);
  const auto modes = spec::to_size(in.scene.modes);
  for_each_window_pixel(in, [&](std::size_t i, std::size_t pixel) {
    const std::size_t first_mode = in.scene.varying_probe ? i / pixels * modes : 0;
    for (std::size_t m = first_mode; m < first_mode + modes; ++m) {
      const std::size_t at = m * pixels + i % pixels;
      const double magnitude = std::abs(probe.values[at]);
      patches.values[pixel] += std::norm(probe.values[at]);
      patches.errors[pixel] += (2 * magnitude + probe.errors[at]) * probe.errors[at];
    }
    // Roundings: two squares, their sum, and the sum over the modes.
    patches.errors[pixel] += (2 + static_cast<double>(modes)) * in.unit *
                             (patches.values[pixel].real() + patches.errors[pixel]);
  });
  OperatorArrays sum = lit;
  insert::reference(lit, sum);
  out[Array::object_weight] = std::move(sum[Array::object]);
}

/// Needs object and positions, makes probe_weight.
void probe_preconditioner::reference(const OperatorArrays& in, OperatorArrays& out) {
  OperatorArrays seen = in;
  extract::reference(in, seen);
  const BoundedArray& patches = seen[Array::patches];
  BoundedArray& weight = out.make(Array::probe_weight);
  // Roundings: two squares, their sum, and the sum over the positions.
  const double unit = (2 + static_cast<double>(in.positions)) * in.unit;
  for_each_window_pixel(in, [&](std::size_t i, std::size_t pixel) {
    const std::size_t at = i % weight.values.size();
    const double most = std::abs(patches.values[pixel]) + patches.errors[pixel];
    weight.values[at] += std::norm(patches.values[pixel]);
    weight.errors[at] += most * most - std::norm(patches.values[pixel]) + unit * most * most;
  });
}

}  // namespace rankcheck::reference
