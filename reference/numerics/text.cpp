#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "reference/numerics/fold.hpp"
#include "reference/numerics/format.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::numerics {

namespace {

using spec::Type;

template <typename T>
std::string shortest(T value) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

template <typename T>
std::string number(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return shortest(value);
}

/// Text of an f16, bf16 or eight-bit value: the decimal with the fewest digits that reads back,
/// after rounding, to the same bits.
std::string narrow_float(Type type, const std::byte* element) {
  const double value = to_double(type, element);
  const auto bytes = spec::to_size(spec::info(type).bytes);
  constexpr int digits_max = 17;
  for (int digits = 1; digits < digits_max; ++digits) {
    std::array<char, 64> text;
    char* const begin = text.data();
    const auto format = std::chars_format::scientific;
    const auto end = std::to_chars(begin, begin + text.size(), value, format, digits - 1).ptr;
    double read = 0;
    std::from_chars(begin, end, read);
    std::array<std::byte, sizeof(double)> again;
    from_double(type, read, again.data());
    if (std::memcmp(again.data(), element, bytes) == 0) return shortest(read);
  }
  return shortest(value);
}

std::string floating(Type type, const std::byte* element) {
  const double value = to_double(type, element);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (type == Type::f64) return shortest(value);
  if (type == Type::f32) return number<float>(element);
  return narrow_float(type, element);
}

}  // namespace

std::string to_text(Type type, const std::byte* element) {
  if (spec::is_integer(type)) {
    return visit_integer(type, [&](auto zero) { return number<decltype(zero)>(element); });
  }
  if (!spec::is_complex(type)) return floating(type, element);
  const Type part = spec::component(type);
  const auto bytes = spec::info(part).bytes;
  return "(" + floating(part, element) + "," + floating(part, element + bytes) + ")";
}

}  // namespace rankcheck::numerics
