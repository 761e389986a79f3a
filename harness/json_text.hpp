#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace rankcheck::harness {

/// The most brackets that are open at a time in JSON that this program reads. Copying and printing
/// a value takes stack for each level, so deeper text of a stranger would end the program.
inline constexpr int json_depth_max = 64;

/// Whether at most `depth_max` brackets are open at a time in JSON text.
[[nodiscard]] bool is_shallow(std::string_view text, int depth_max);

/// Reads JSON that may be anything. Discarded where it is not JSON, or is nested too deeply.
template <class Json = nlohmann::json>
[[nodiscard]] Json parse_json(std::string_view text, int depth_max = json_depth_max) {
  if (!is_shallow(text, depth_max)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

}  // namespace rankcheck::harness
