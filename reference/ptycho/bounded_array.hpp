#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/spec/share.hpp"
#include "reference/spec/to_size.hpp"

/// The arithmetic of the operators' references: double precision. Beside every value is a bound on
/// the error of any implementation that computes it from the same inputs in the precision under
/// test.
namespace rankcheck::reference {

/// Values of an array; real numbers have no imaginary part. errors[i] bounds the distance of any
/// implementation's result from values[i]. It is infinite if nothing is known.
struct BoundedArray {
  std::vector<std::complex<double>> values;
  std::vector<double> errors;

  void resize(std::size_t size) {
    values.assign(size, 0);
    errors.assign(size, 0);
  }
};

/// How the reference of a step in several parts follows an implementation's result of each part, as
/// long as that result is within its bounds.
enum class Follow : std::uint8_t {
  nothing,
  /// If roundings may have decided between two lengths of a step, uses the implementation's length.
  choices,
  /// The next part starts from the implementation's results. So each part is judged separately, and
  /// bounds do not multiply from part to part.
  results,
};

/// A problem: its sizes, and the values of each array for all positions, in order.
struct OperatorArrays {
  spec::Scene scene;
  std::int64_t positions = 0;
  /// Positions of each rank. May be empty for operators whose arrays do not depend on it.
  std::vector<std::int64_t> counts;
  /// Sum of the unit roundoffs of the precision under test and of double precision. One bound
  /// covers both, because bounds grow at least linearly with the unit.
  double unit = 0;
  std::array<BoundedArray, spec::array_kinds> arrays;
  /// If given: the results of an implementation's call, in the precision under test. Not owned.
  const OperatorArrays* followed = nullptr;
  Follow follow = Follow::nothing;

  [[nodiscard]] BoundedArray& operator[](spec::Array array) { return arrays[spec::to_size(array)]; }
  [[nodiscard]] const BoundedArray& operator[](spec::Array array) const {
    return arrays[spec::to_size(array)];
  }
  /// Number of an array's values, for all positions.
  [[nodiscard]] std::size_t size(spec::Array array) const {
    const std::array all{positions};
    return spec::to_size(counts.empty() ? spec::total_of(scene, all, array)
                                        : spec::total_of(scene, counts, array));
  }
  /// Resizes an array and sets its values and errors to zero.
  BoundedArray& make(spec::Array array) {
    (*this)[array].resize(size(array));
    return (*this)[array];
  }
};

/// Computes the outputs of an operator from its inputs.
using Operator = void (*)(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference
