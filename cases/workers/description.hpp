#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace rankcheck::cases {

/// The first fields of what a worker says of itself: the first complaint, which is why it cannot
/// run, and all other lines that the doctor shows. `library` is the vendor's library with its
/// version, empty where none is loaded: a worker that runs tells it among its versions instead.
inline nlohmann::ordered_json describe_state(const std::vector<std::string>& complaints,
                                             const std::string& library) {
  nlohmann::ordered_json out{{"unavailable", ""}, {"notes", nlohmann::ordered_json::array()}};
  if (complaints.empty()) return out;
  out["unavailable"] = complaints.front();
  out["notes"] = std::vector<std::string>(complaints.begin() + 1, complaints.end());
  if (!library.empty()) out["notes"].push_back(library);
  return out;
}

}  // namespace rankcheck::cases
