#pragma once

#include <string>
#include <string_view>

#include "reference/spec/type.hpp"

namespace rankcheck::harness::page {

/// The value of an element that a report shows as bits: "0x3fc00000" of f32 becomes
/// "1.5 (0x3fc00000)". Any other text stays as it is.
[[nodiscard]] std::string as_value(spec::Type type, std::string_view text);

}  // namespace rankcheck::harness::page
