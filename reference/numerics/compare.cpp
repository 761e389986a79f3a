#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "reference/numerics/fold.hpp"
#include "reference/numerics/folds.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::numerics {

namespace {

using spec::Type;

/// The bits of an element in hexadecimal, most significant digit first.
std::string hexadecimal(const std::byte* element, std::size_t bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = bytes; i-- > 0;) {
    const auto byte = std::to_integer<unsigned>(element[i]);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return " (0x" + text + ")";
}

/// The loss of the first component that has one.
Loss loss_of(Type type, const std::byte* expected, const std::byte* got) {
  const spec::TypeInfo& part = spec::info(spec::component(type));
  for (int at = 0; at < spec::info(type).bytes; at += part.bytes) {
    const double wanted = to_double(part.type, expected + at);
    const double value = to_double(part.type, got + at);
    if (std::isnan(wanted) && !std::isnan(value)) return Loss::nan;
    const bool is_subnormal = wanted != 0 && std::fabs(wanted) < std::ldexp(1.0, part.exponent_min);
    if (is_subnormal && value == 0) return Loss::subnormal;
  }
  return Loss::none;
}

/// Counts one wrong element and records it if fewer than `differences_max` are recorded.
void note(Type type,
          std::int64_t index,
          const std::byte* expected,
          const std::byte* got,
          double error,
          double bound,
          Comparison& comparison) {
  ++comparison.wrong;
  if (comparison.differences.size() >= differences_max) return;
  Difference difference{index,
                        to_text(type, expected),
                        to_text(type, got),
                        error,
                        bound,
                        loss_of(type, expected, got)};
  if (difference.expected == difference.got) {
    const auto bytes = spec::to_size(spec::info(type).bytes);
    difference.expected += hexadecimal(expected, bytes);
    difference.got += hexadecimal(got, bytes);
  }
  comparison.differences.push_back(std::move(difference));
}

void compare_bits(Type type,
                  const Expected& expected,
                  const std::byte* got,
                  std::int64_t count,
                  Comparison& comparison) {
  const auto bytes = spec::to_size(spec::info(type).bytes);
  const auto total = spec::to_size(count) * bytes;
  if (total == 0 || std::memcmp(expected.bits.data(), got, total) == 0) return;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t at = spec::to_size(i) * bytes;
    const std::byte* wanted = expected.bits.data() + at;
    if (std::memcmp(wanted, got + at, bytes) == 0) continue;
    const double error = std::fabs(to_double(type, got + at) - to_double(type, wanted));
    note(type, i, wanted, got + at, error, 0, comparison);
  }
}

std::uint8_t class_of(double value) {
  if (std::isnan(value)) return admits_nan;
  if (std::isfinite(value)) return admits_finite;
  return value > 0 ? admits_positive_infinity : admits_negative_infinity;
}

/// Compares floating-point components in order.
class Judge {
 public:
  Judge(const Fold& rule, const Expected& expected)
      : expected_(expected), ranks_(spec::to_size(rule.ranks)) {}

  /// Returns the distance of one component from its expected value. Returns NaN if the class of the
  /// value or the sign of a zero is wrong; no bound admits NaN.
  double error(std::size_t at, double got) {
    const std::uint8_t admits = expected_.admits[at];
    if ((admits & admits_candidates) != 0) {
      const auto first = expected_.candidates.begin() + static_cast<std::ptrdiff_t>(candidate_);
      candidate_ += ranks_;
      if (std::find(first, first + static_cast<std::ptrdiff_t>(ranks_), got) !=
          first + static_cast<std::ptrdiff_t>(ranks_)) {
        return 0;
      }
    }
    const std::uint8_t its_class = class_of(got);
    if ((admits & its_class) == 0) return std::numeric_limits<double>::quiet_NaN();
    if (its_class != admits_finite) return 0;
    const std::uint8_t wrong_sign =
        std::signbit(got) ? demands_positive_zero : demands_negative_zero;
    if (got == 0 && (admits & wrong_sign) != 0) return std::numeric_limits<double>::quiet_NaN();
    return std::fabs((got - expected_.high[at]) - expected_.low[at]);
  }

 private:
  const Expected& expected_;
  const std::size_t ranks_;
  /// Index of the next unused value in Expected::candidates.
  std::size_t candidate_ = 0;
};

/// The expected element rounded to its type, for a message.
std::array<std::byte, 16> rounded(const Expected& expected, Type type, std::size_t first) {
  const Type part = spec::component(type);
  const auto bytes = spec::to_size(spec::info(part).bytes);
  std::array<std::byte, 16> element{};
  for (std::size_t p = 0; p < (is_complex(type) ? 2U : 1U); ++p) {
    from_double(part, expected.high[first + p] + expected.low[first + p], &element[p * bytes]);
  }
  return element;
}

void compare_values(const Fold& rule,
                    const Expected& expected,
                    const std::byte* got,
                    std::int64_t count,
                    Comparison& comparison) {
  const std::int64_t bytes = spec::info(rule.type).bytes;
  const std::int64_t parts = is_complex(rule.type) ? 2 : 1;
  Judge judge(rule, expected);
  std::array<double, run_components> values;
  const std::int64_t run_elements = run_components / parts;
  std::int64_t compared = 0;
  for (std::int64_t first = 0; first < count; first += run_elements) {
    const std::int64_t elements = std::min(run_elements, count - first);
    load(spec::component(rule.type), got + first * bytes, elements * parts, values.data());
    std::int64_t wrong_element = -1;
    for (std::int64_t c = 0; c < elements * parts; ++c) {
      const auto at = spec::to_size(first * parts + c);
      const double error = judge.error(at, values[spec::to_size(c)]);
      const double bound = expected.bound[at];
      compared += has_power(rule, expected, at) ? 1 : 0;
      comparison.any_input += (expected.admits[at] & admits_candidates) != 0 ? 1 : 0;
      if (bound > 0 && error <= bound && std::isfinite(error)) {
        comparison.ratio_max = std::max(comparison.ratio_max, error / bound);
      }
      // A complex element counts once, even if both of its components are wrong.
      if (error <= bound || wrong_element == c / parts) continue;
      wrong_element = c / parts;
      const std::int64_t index = first + wrong_element;
      const auto wanted = rounded(expected, rule.type, spec::to_size(index * parts));
      note(rule.type, index, wanted.data(), got + index * bytes, error, bound, comparison);
    }
  }
  comparison.compared_bytes += compared * bytes / parts;
}

}  // namespace

bool has_power(const Fold& rule, const Expected& expected, std::size_t component) {
  constexpr std::uint8_t all =
      admits_finite | admits_positive_infinity | admits_negative_infinity | admits_nan;
  return (expected.admits[component] & all) != all &&
         expected.bound[component] < format_of(spec::component(rule.type)).overflow;
}

bool is_same_but_nan(Type type, const std::byte* one, const std::byte* other) {
  const spec::TypeInfo& part = spec::info(spec::component(type));
  for (int at = 0; at < spec::info(type).bytes; at += part.bytes) {
    const bool both_nan =
        std::isnan(to_double(part.type, one + at)) && std::isnan(to_double(part.type, other + at));
    if (!both_nan && std::memcmp(one + at, other + at, spec::to_size(part.bytes)) != 0)
      return false;
  }
  return true;
}

void compare(const Fold& rule,
             const Expected& expected,
             const std::byte* got,
             std::int64_t count,
             Comparison& comparison) {
  if (expected.as_bits) {
    comparison.compared_bytes += count * spec::info(rule.type).bytes;
    compare_bits(rule.type, expected, got, count, comparison);
  } else {
    compare_values(rule, expected, got, count, comparison);
  }
}

}  // namespace rankcheck::numerics
