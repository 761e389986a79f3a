#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "reference/spec/scene.hpp"

#include "harness/case.hpp"

/// How a form bends arrays: what the inputs of a bent case are, in terms of a plain one's, and
/// likewise what its outputs must be. All factors are exact in any precision, and so are the bent
/// inputs. harness/INPUTS.md documents the rules.
namespace rankcheck::harness {

/// A value of a bent array: an offset and a few values of the plain array, each times a factor.
struct Bent {
  struct Term {
    /// Among the values of all positions.
    std::size_t index = 0;
    std::complex<double> factor = 1;
  };

  std::complex<double> offset = 0;
  std::array<Term, 2> terms{};
  /// How many of the terms there are; where none and no offset, the plain array has no such value.
  std::size_t count = 0;
  /// The plain values are conjugated first.
  bool conjugates = false;

  /// The value, where values[i] is value i of the plain array.
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

/// Value `index` of an array of all positions in a case of this form, where `scene` and `positions`
/// are that case's. Arrays of gradients and directions bend as what they belong to.
[[nodiscard]] Bent bend(Form form,
                        const spec::Scene& scene,
                        std::int64_t positions,
                        spec::Array array,
                        std::int64_t index);

/// The value of a bilinear object, also between its pixels.
[[nodiscard]] std::complex<double> bilinear_value(double row, double col);

/// The scene of the plain case that a case in this form is made of.
[[nodiscard]] spec::Scene plain_scene(Form form, const spec::Scene& scene);

/// The scene in which a plain case has this form.
[[nodiscard]] spec::Scene bent_scene(Form form, const spec::Scene& plain);

/// Why the scene cannot have this form, in words; empty where it can.
[[nodiscard]] std::string why_invalid(Form form, const spec::Scene& scene);

}  // namespace rankcheck::harness
