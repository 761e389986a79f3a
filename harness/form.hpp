#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "reference/spec/scene.hpp"

#include "harness/case.hpp"

/// How a form bends arrays: how the inputs of a bent case follow from the inputs of a plain case.
/// The expected outputs follow in the same way. All factors are exact in any precision, and so are
/// the bent inputs. harness/INPUTS.md documents the rules.
namespace rankcheck::harness {

/// A value of a bent array: an offset plus a few values of the plain array, each times a factor.
struct Bent {
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

  /// The bent value. `values(i)` returns value i of the plain array.
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

/// Describes value `index` of an array of all positions in a case of this form. `scene` and
/// `positions` belong to the case of this form. Arrays of gradients and directions are bent like
/// the object or the probe that they belong to.
[[nodiscard]] Bent bend(Form form,
                        const spec::Scene& scene,
                        std::int64_t positions,
                        spec::Array array,
                        std::int64_t index);

/// The value of a bilinear object, at pixels and between them.
[[nodiscard]] std::complex<double> bilinear_value(double row, double col);

/// The scene of the plain case that belongs to a case of this form with the scene `scene`.
[[nodiscard]] spec::Scene plain_scene(Form form, const spec::Scene& scene);

/// The scene of the case of this form that belongs to a plain case with the scene `plain`.
[[nodiscard]] spec::Scene bent_scene(Form form, const spec::Scene& plain);

/// Why the scene cannot have this form, in words. Empty if it can.
[[nodiscard]] std::string why_invalid(Form form, const spec::Scene& scene);

}  // namespace rankcheck::harness
