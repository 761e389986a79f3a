#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/check/finding.hpp"

namespace rankcheck::harness {

/// Writes a unit as in findings; a pinned unit has only its names.
[[nodiscard]] nlohmann::ordered_json to_json(const Unit& unit);
/// Throws BadInput that names the field.
[[nodiscard]] Unit unit_from_json(const nlohmann::json& json);

}  // namespace rankcheck::harness
