#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

/// Exact values, a-priori error bounds and the one comparison that every verdict rests on.
namespace rankcheck::numerics {

using spec::NanRule;
using spec::ZeroRule;

/// How the elements of `ranks` ranks become one element.
struct Fold {
  spec::Type type = spec::Type::f32;
  spec::ReduceOp op = spec::ReduceOp::sum;
  int ranks = 1;
  NanRule nan_rule = NanRule::drops;
  ZeroRule zero_rule = ZeroRule::unspecified;
  /// The inputs were chosen so that every order of evaluation is exact: no error is admitted.
  bool exact = false;
};

/// Classes of values that are right in one component, as bits of Expected::admits.
inline constexpr std::uint8_t admits_finite = 1;
inline constexpr std::uint8_t admits_positive_infinity = 2;
inline constexpr std::uint8_t admits_negative_infinity = 4;
inline constexpr std::uint8_t admits_nan = 8;
/// Any value that equals one of the next `ranks` candidates (min and max whose NaN rule is
/// unspecified).
inline constexpr std::uint8_t admits_candidates = 16;
/// A zero must have this sign; with neither bit, zeros of both signs are equal.
inline constexpr std::uint8_t demands_positive_zero = 32;
inline constexpr std::uint8_t demands_negative_zero = 64;

/// What a run of output elements must be. Integers and data movement are expected as bits; floating
/// point, a component at a time, as classes of values: a finite one must lie within `bound` (a
/// theorem on the inputs, never tuned) of high + low, which is exact to twice double precision.
/// More than one class is admitted only where the order of
/// evaluation decides: partial results may overflow although the result does not.
struct Expected {
  bool as_bits = false;
  std::vector<std::byte> bits;
  std::vector<double> high;
  std::vector<double> low;
  std::vector<double> bound;
  std::vector<std::uint8_t> admits;
  /// For each component that admits candidates, in order, all ranks' contributions.
  std::vector<double> candidates;
};

/// Computes what `count` elements must be, given each rank's contribution (`in[q]`: `count`
/// elements, any alignment) and, for premul_sum, each rank's scalar (one element a rank).
/// Keeps the capacity of `out`.
void fold(const Fold& rule,
          std::span<const std::byte* const> in,
          std::span<const std::byte> scalars,
          std::int64_t count,
          Expected& out);

/// Expects exactly these bytes: data movement.
void expect_bits(const std::byte* bytes, std::int64_t size_bytes, Expected& out);

/// Whether some value of a component would be wrong: not where every class of value is admitted,
/// nor where the bound reaches beyond all finite ones. Expects values, not bits.
[[nodiscard]] bool has_power(const Fold& rule, const Expected& expected, std::size_t component);

/// One wrong element; error and bound are those of its first wrong component.
struct Difference {
  /// Element, counted from the start of the run.
  std::int64_t index = 0;
  /// Both as text in the element's type.
  std::string expected;
  std::string got;
  /// NaN where no distance can be told: NaN, infinities and zeros of the wrong sign.
  double error = 0;
  double bound = 0;
};

struct Comparison {
  /// Of the components where some value would have been wrong.
  std::int64_t compared_bytes = 0;
  std::int64_t wrong = 0;
  /// The largest error/bound among the elements with a bound above zero; 0 when there is none.
  double ratio_max = 0;
  /// The first wrong elements, at most `differences_max`.
  std::vector<Difference> differences;
};

inline constexpr std::size_t differences_max = 8;

/// Compares `count` elements at `got` with what was expected and adds the result to `comparison`.
void compare(const Fold& rule,
             const Expected& expected,
             const std::byte* got,
             std::int64_t count,
             Comparison& comparison);

/// One element as text: shortest decimal that reads back, `nan`, `inf`; complex as (re,im).
[[nodiscard]] std::string to_text(spec::Type type, const std::byte* element);

/// The value of one element or component as double (exact for all types but 64-bit integers).
[[nodiscard]] double to_double(spec::Type component, const std::byte* element);

/// Writes the value rounded to nearest even in the component type; integers wrap.
void from_double(spec::Type component, double value, std::byte* element);

}  // namespace rankcheck::numerics
