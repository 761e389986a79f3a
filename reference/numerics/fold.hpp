#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"
#include "reference/spec/value_rules.hpp"

/// Exact values, a-priori error bounds and the one comparison that every verdict rests on.
namespace rankcheck::numerics {

using spec::NanRule;
using spec::ZeroRule;

/// How the elements of `ranks` ranks become one element. In a reduction along an axis, each row
/// counts as a rank.
struct Fold {
  spec::Type type = spec::Type::f32;
  spec::ReduceOp op = spec::ReduceOp::sum;
  int ranks = 1;
  NanRule nan_rule = NanRule::drops;
  ZeroRule zero_rule = ZeroRule::unspecified;
  /// The inputs make every order of evaluation exact, so no error is admitted.
  bool exact = false;
};

/// Classes of values that are right for one component, as bits of Expected::admits.
inline constexpr std::uint8_t admits_finite = 1;
inline constexpr std::uint8_t admits_positive_infinity = 2;
inline constexpr std::uint8_t admits_negative_infinity = 4;
inline constexpr std::uint8_t admits_nan = 8;
/// Admits any value that equals one of the component's `ranks` candidates. Used for min and max if
/// the NaN rule is unspecified.
inline constexpr std::uint8_t admits_candidates = 16;
/// A zero must have this sign. If neither bit is set, zeros of both signs are equal.
inline constexpr std::uint8_t demands_positive_zero = 32;
inline constexpr std::uint8_t demands_negative_zero = 64;

/// What a run of output elements must be. Integers and moved data are expected as bits (`as_bits`).
/// Floating-point values are expected one component at a time, as classes of values. A finite value
/// must lie within `bound` of high + low. The bound is a theorem on the inputs, never tuned; high +
/// low is exact to twice double precision. More than one class is admitted only if the order of
/// evaluation decides: partial results may overflow although the result does not.
struct Expected {
  bool as_bits = false;
  std::vector<std::byte> bits;
  std::vector<double> high;
  std::vector<double> low;
  std::vector<double> bound;
  std::vector<std::uint8_t> admits;
  /// All ranks' contributions to each component that admits candidates, in the order of the
  /// components.
  std::vector<double> candidates;
};

/// Computes what `count` elements must be. `in[q]` points to rank q's `count` elements, with any
/// alignment. `scalars` has one element for each rank, for premul_sum only. Keeps the capacity of
/// `out`.
void fold(const Fold& rule,
          std::span<const std::byte* const> in,
          std::span<const std::byte> scalars,
          std::int64_t count,
          Expected& out);

/// Expects exactly these bytes, for operations that only move data.
void expect_bits(const std::byte* bytes, std::int64_t size_bytes, Expected& out);

/// Whether some value of a component would be wrong. False if every class of value is admitted or
/// the bound reaches beyond all finite values. `expected` must hold values, not bits.
[[nodiscard]] bool has_power(const Fold& rule, const Expected& expected, std::size_t component);

/// What became of a special value.
enum class Loss : std::uint8_t {
  none,
  /// A number is in the place of a NaN.
  nan,
  /// A zero is in the place of a subnormal number.
  subnormal,
};

/// One wrong element; error and bound belong to its first wrong component.
struct Difference {
  /// Index of the element, counted from the start of the run.
  std::int64_t index = 0;
  /// Both values as text in the element's type.
  std::string expected;
  std::string got;
  /// NaN if there is no distance: for NaN, infinities and zeros of the wrong sign.
  double error = 0;
  double bound = 0;
  Loss loss = Loss::none;
};

struct Comparison {
  /// Bytes of the components for which some value would have been wrong.
  std::int64_t compared_bytes = 0;
  std::int64_t wrong = 0;
  /// Number of components that may be NaN or any input.
  std::int64_t any_input = 0;
  /// The largest error/bound of all right components with a bound above zero; 0 if there is none.
  double ratio_max = 0;
  /// The first wrong elements, at most `differences_max`.
  std::vector<Difference> differences;
};

inline constexpr std::size_t differences_max = 8;

/// Compares `count` elements at `got` with the expected ones and adds the result to `comparison`.
void compare(const Fold& rule,
             const Expected& expected,
             const std::byte* got,
             std::int64_t count,
             Comparison& comparison);

/// Whether each component of two elements has the same bits, or is NaN in both.
[[nodiscard]] bool is_same_but_nan(spec::Type type, const std::byte* one, const std::byte* other);

/// One element as text: the shortest decimal that reads back to the same bits, `nan` or `inf`. A
/// complex element is written as (re,im).
[[nodiscard]] std::string to_text(spec::Type type, const std::byte* element);

/// The value of one element or component as double; exact except for 64-bit integers.
[[nodiscard]] double to_double(spec::Type component, const std::byte* element);

/// Writes `value` in the component type: rounded to nearest even; integers are truncated toward
/// zero and wrap.
void from_double(spec::Type component, double value, std::byte* element);

}  // namespace rankcheck::numerics
