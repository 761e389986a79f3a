#include "harness/base/json_text.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace rankcheck::harness {

bool is_shallow(std::string_view text, int depth_max) {
  int depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      is_in_string = !is_in_string;
    } else if (!is_in_string && (c == '[' || c == '{')) {
      if (++depth > depth_max) return false;
    } else if (!is_in_string && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return true;
}

std::string why_not_json(std::string_view text, int depth_max) {
  using nlohmann::json;
  if (!is_shallow(text, depth_max)) {
    return fmt::format("is not JSON: has more than {} open brackets", depth_max);
  }
  if (text.find_first_not_of(" \t\r\n") == text.npos) return "is empty, expected JSON";
  // Keeps nothing of the text, which may be large.
  const auto drop = [](int, json::parse_event_t, json&) { return false; };
  try {
    const json nothing = json::parse(text, drop);
  } catch (const json::parse_error& error) {
    // The position of the byte that is wrong, from 1 on.
    const std::string_view before = text.substr(0, std::max<std::size_t>(error.byte, 1) - 1);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    const bool is_one_line = text.find('\n') >= text.size() - 1;
    return is_one_line ? fmt::format("is not JSON at byte {}", before.size() + 1)
                       : fmt::format("is not JSON at line {}, byte {}", line, column);
  } catch (const json::out_of_range&) {
    return "has a number that is too large, expected at most 1.8e308";
  }
  return "is not JSON";
}

}  // namespace rankcheck::harness
