#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace rankcheck::harness {

/// Returns what a schema of reports/ rejects in a value; empty if the value is valid.
[[nodiscard]] std::string complaints(const nlohmann::json& report,
                                     const std::string& file = "schema.json");

}  // namespace rankcheck::harness
