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

/// How the elements of `ranks` ranks become one element.
struct Fold {
  spec::Type type = spec::Type::f32;
  spec::ReduceOp op = spec::ReduceOp::sum;
  int ranks = 1;
  NanRule nan_rule = NanRule::drops;
  /// The inputs were chosen so that every order of evaluation is exact: no error is admitted.
  bool exact = false;
};

/// What a run of output elements must be. Integers, data movement, min and max are expected as
/// bits; the rest, a component at a time, as high + low (exact to twice double precision) within
/// `bound` (a theorem on the inputs, never tuned). NaN and infinities are expected in `high`.
struct Expected {
  bool as_bits = false;
  std::vector<std::byte> bits;
  std::vector<double> high;
  std::vector<double> low;
  std::vector<double> bound;
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

/// One wrong component of one element.
struct Difference {
  /// Element, counted from the start of the run.
  std::int64_t index = 0;
  /// Both as text in the element's type.
  std::string expected;
  std::string got;
  double error = 0;
  double bound = 0;
};

struct Comparison {
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
