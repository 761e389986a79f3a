#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

/// The format of values on the command line.
namespace rankcheck::harness::run {

/// Whether the text is decimal digits, with an optional '-' before them. Leading zeros are not
/// allowed, because some programs read them as octal.
[[nodiscard]] bool is_whole_number(std::string_view text);
/// Whether the text is a finite decimal number, with an optional point and exponent. inf and nan
/// are not allowed.
[[nodiscard]] bool is_decimal_number(std::string_view text);

/// Splits a list at its commas. Throws BadInput that names the option if a value is empty or given
/// twice.
[[nodiscard]] std::vector<std::string> split_list(std::string_view option, const std::string& text);

/// Splits a list of backends at its commas. A user's program, which has a colon, takes the rest of
/// the list, because its arguments may have commas. Throws BadInput if an item is empty.
[[nodiscard]] std::vector<std::string> split_backends(std::string_view option,
                                                      const std::string& text);

/// Throws BadInput if the pattern matches none of the names. The message says what was to match
/// (`what`) and lists similar names.
void require_match(std::string_view what,
                   const std::string& pattern,
                   const std::set<std::string>& names);

}  // namespace rankcheck::harness::run
