#pragma once

#include <cstddef>
#include <type_traits>

namespace rankcheck::spec {

/// Converts a rank, a count, an enumerator or another index to the type in which the standard
/// library counts. The number must not be negative. This is not checked, because the calls are in
/// loops that must vectorise; the checks stand where numbers come from outside.
template <class Number>
requires std::is_integral_v<Number> || std::is_enum_v<Number>
[[nodiscard]] constexpr std::size_t to_size(Number number) {
  return static_cast<std::size_t>(number);
}

}  // namespace rankcheck::spec
