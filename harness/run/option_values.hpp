#pragma once

#include <set>
#include <span>
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

/// Splits the values of an option that may be repeated, and joins them. Throws BadInput as
/// split_list() does.
[[nodiscard]] std::vector<std::string> split_lists(std::string_view option,
                                                   std::span<const std::string> texts);

/// Splits a list of backends at its commas. A user's program, which has a colon, takes the rest of
/// the list, because its arguments may have commas. Throws BadInput if an item is empty.
[[nodiscard]] std::vector<std::string> split_backends(std::string_view option,
                                                      const std::string& text);

/// Does the same for lists of an option that may be repeated.
[[nodiscard]] std::vector<std::string> split_all_backends(std::string_view option,
                                                          std::span<const std::string> texts);

/// Throws BadInput if one of the patterns matches none of the names. The message says what was to
/// match (`what`) and lists similar names.
void require_matches(std::string_view what,
                     std::span<const std::string> patterns,
                     const std::set<std::string>& names);

}  // namespace rankcheck::harness::run
