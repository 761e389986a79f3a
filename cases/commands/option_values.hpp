#pragma once

#include <string>
#include <string_view>
#include <vector>

/// How values are written on the command line.
namespace rankcheck::cases {

/// Decimal digits without leading zeros, which some programs take for octal ones; '-' before them.
[[nodiscard]] bool is_whole_number(std::string_view text);
/// Decimal digits, a point and an exponent where they are needed; neither inf nor nan.
[[nodiscard]] bool is_decimal_number(std::string_view text);

/// Values that are separated by commas. Throws BadInput that names the option where one is empty or
/// given twice.
[[nodiscard]] std::vector<std::string> split_list(std::string_view option, const std::string& text);

}  // namespace rankcheck::cases
