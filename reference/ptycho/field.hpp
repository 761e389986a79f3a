#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/spec/share.hpp"

/// The arithmetic of the references of operators: double precision, and beside every value a bound
/// on the error of anyone who computes it from the same inputs in the precision under test.
namespace rankcheck::reference {

/// Values of an array; real numbers have no imaginary part. errors[i] bounds the distance of
/// anyone's result from values[i]; infinite where nothing can be said.
struct Field {
  std::vector<std::complex<double>> values;
  std::vector<double> errors;

  void resize(std::size_t size) {
    values.assign(size, 0);
    errors.assign(size, 0);
  }
};

/// How the reference of a step in several parts follows what somebody got from each part, as far as
/// that is inside its own bounds.
enum class Follow : std::uint8_t {
  nothing,
  /// Where roundings may have decided between two lengths of a step, it takes that one's.
  choices,
  /// The next part starts from that one's results: so each part is judged by itself, and bounds do
  /// not multiply from part to part.
  results,
};

/// A problem: its sizes, and for each array its values for all positions, in order.
struct Setting {
  spec::Scene scene;
  std::int64_t positions = 0;
  /// Positions of each rank; operators whose arrays do not ask for it may leave it empty.
  std::vector<std::int64_t> counts;
  /// Sum of the unit roundoffs of the precision under test and of double precision: a bound for one
  /// covers both, because bounds grow at least linearly with it.
  double unit = 0;
  std::array<Field, spec::array_kinds> arrays;
  /// Where given: what somebody's call left, in the precision under test. Not owned.
  const Setting* followed = nullptr;
  Follow follow = Follow::nothing;

  [[nodiscard]] Field& operator[](spec::Array array) {
    return arrays[static_cast<std::size_t>(array)];
  }
  [[nodiscard]] const Field& operator[](spec::Array array) const {
    return arrays[static_cast<std::size_t>(array)];
  }
  /// Values of an array of all positions.
  [[nodiscard]] std::size_t size(spec::Array array) const {
    const std::array all{positions};
    return static_cast<std::size_t>(counts.empty() ? spec::total_of(scene, all, array)
                                                   : spec::total_of(scene, counts, array));
  }
  /// An array of zeros without errors, of the right size.
  Field& make(spec::Array array) {
    (*this)[array].resize(size(array));
    return (*this)[array];
  }
};

/// Fills the outputs of an operator from its inputs.
using Operator = void (*)(const Setting& in, Setting& out);

}  // namespace rankcheck::reference
