#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rankcheck::harness {

/// Maximum number of open brackets in JSON that this program reads. Copying and printing a value
/// takes stack for each level, so deeper text from outside would crash the program.
inline constexpr int json_depth_max = 64;

/// Whether no more than `depth_max` brackets are open at any place in the JSON text.
[[nodiscard]] bool is_shallow(std::string_view text, int depth_max);

/// Parses text that may not be JSON. Returns a discarded value if it is not JSON or is nested too
/// deeply.
template <class Json = nlohmann::json>
[[nodiscard]] Json parse_json(std::string_view text, int depth_max = json_depth_max) {
  if (!is_shallow(text, depth_max)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

/// Says why parse_json() returns a discarded value, and where: "is not JSON at line 3, byte 7".
/// Text of one line has no line number.
[[nodiscard]] std::string why_not_json(std::string_view text, int depth_max = json_depth_max);

}  // namespace rankcheck::harness
