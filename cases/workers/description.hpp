#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rankcheck::cases {

/// Returns the first fields of a worker's description: `unavailable` is the first complaint, which
/// says why the worker cannot run. `notes` are all other lines for the doctor. `library` is the
/// vendor's library with its version, or empty if none is loaded. It is left out if there are no
/// complaints, because a worker that runs reports the library among its versions.
inline nlohmann::ordered_json describe_state(const std::vector<std::string>& complaints,
                                             const std::string& library) {
  nlohmann::ordered_json out{{"unavailable", ""}, {"notes", nlohmann::ordered_json::array()}};
  if (complaints.empty()) return out;
  out["unavailable"] = complaints.front();
  out["notes"] = std::vector<std::string>(complaints.begin() + 1, complaints.end());
  if (!library.empty()) out["notes"].push_back(library);
  return out;
}

/// Prints a description in one line. Adds the algorithms that are built into the worker.
template <class Algorithms>
void print_description(nlohmann::ordered_json out, const Algorithms& algorithms) {
  out["algorithms"] = nlohmann::ordered_json::array();
  for (const auto& each : algorithms) {
    out["algorithms"].push_back(
        {{"operation", each.operation}, {"name", each.name}, {"summary", each.summary}});
  }
  fmt::print("{}\n", out.dump());
}

}  // namespace rankcheck::cases
