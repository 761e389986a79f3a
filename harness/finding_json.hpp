#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/finding.hpp"

namespace rankcheck::harness {

/// As in findings; a pinned unit has its names alone.
[[nodiscard]] nlohmann::ordered_json to_json(const Unit& unit);
/// Throws BadInput that names the field.
[[nodiscard]] Unit unit_from_json(const nlohmann::json& json);

}  // namespace rankcheck::harness
