#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reference/spec/scene.hpp"

/// How the inputs of a transformed case follow from the inputs of a plain case. The expected
/// outputs follow in the same way. All factors are exact in any precision, and so are the
/// transformed inputs. INPUTS.md beside this file documents the rules.
namespace rankcheck::cases {

/// How the inputs of an operator are transformed, for properties that relate the results on related
/// inputs. In JSON, the field is named "form".
enum class Symmetry : std::uint8_t {
  plain,
  /// The object is multiplied by i.
  turned,
  /// The object's first slice is doubled and the probe is halved.
  stretched,
  /// Object, probe and scan are reflected in both axes; object and probe are conjugated. Waves
  /// between slices travel in the opposite direction.
  twin,
  /// Rows and columns of everything are exchanged.
  transposed,
  /// The first two modes are mixed by a unitary matrix.
  mixed,
  /// The object is moved by one row and two columns of zeros, and the scan moves with it.
  translated,
  /// The positions and their data are in the opposite order.
  reversed,
  /// Every position and its data appear twice.
  repeated,
  /// The object is a bilinear function, which interpolation must reproduce exactly.
  bilinear,
  /// The object's first slice is multiplied by a phase ramp, and the probe by the opposite ramp.
  ramped,
  /// Object, probe, scan and the detector's frames are reflected in both axes.
  reflected,
  /// The probe has one more mode, without light.
  dark,
  /// The probe is doubled, and the frames are multiplied by four.
  brightened,
  /// Row and column of every position are doubled: whole pixels become even pixels.
  raster,
  /// As raster. In addition, the object's first slice is multiplied by phases that repeat every two
  /// pixels, and the probe by the opposite phases.
  periodic,
  /// Every pixel is measured.
  unmasked,
};

/// The symmetries' names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 17> symmetry_names{"plain",
                                                                 "turned",
                                                                 "stretched",
                                                                 "twin",
                                                                 "transposed",
                                                                 "mixed",
                                                                 "translated",
                                                                 "reversed",
                                                                 "repeated",
                                                                 "bilinear",
                                                                 "ramped",
                                                                 "reflected",
                                                                 "dark",
                                                                 "brightened",
                                                                 "raster",
                                                                 "periodic",
                                                                 "unmasked"};

[[nodiscard]] std::string_view name(Symmetry symmetry);

/// A value of a transformed array: an offset plus a few values of the plain array, each times a
/// factor.
struct TransformedValue {
  struct Term {
    /// Index among the plain array's values for all positions.
    std::size_t index = 0;
    std::complex<double> factor = 1;
  };

  std::complex<double> offset = 0;
  std::array<Term, 2> terms{};
  /// Number of terms in use. If it is 0 and there is no offset, the plain array has no such value.
  std::size_t count = 0;
  /// Whether the plain values are conjugated first.
  bool conjugates = false;

  /// The transformed value. `values(i)` returns value i of the plain array.
  template <class Values>
  [[nodiscard]] std::complex<double> value(const Values& values) const {
    std::complex<double> result = offset;
    for (const Term& term : std::span(terms).first(count)) {
      const std::complex<double> plain = values(term.index);
      result += term.factor * (conjugates ? std::conj(plain) : plain);
    }
    return result;
  }
};

/// Describes value `index` of an array of all positions in a case with this symmetry. `scene` and
/// `positions` belong to that case. Arrays of gradients and directions are transformed like the
/// object or the probe that they belong to.
[[nodiscard]] TransformedValue transform(Symmetry symmetry,
                                         const spec::Scene& scene,
                                         std::int64_t positions,
                                         spec::Array array,
                                         std::int64_t index);

/// The value of a bilinear object, at pixels and between them.
[[nodiscard]] std::complex<double> bilinear_value(double row, double col);

/// The scene of the plain case that belongs to a case with this symmetry and the scene `scene`.
[[nodiscard]] spec::Scene plain_scene(Symmetry symmetry, const spec::Scene& scene);

/// The scene of the case with this symmetry that belongs to a plain case with the scene `plain`.
[[nodiscard]] spec::Scene transformed_scene(Symmetry symmetry, const spec::Scene& plain);

/// Why a case with this scene cannot have this symmetry, in words. Empty if it can.
[[nodiscard]] std::string why_invalid(Symmetry symmetry, const spec::Scene& scene);

}  // namespace rankcheck::cases
