#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/backend/backend.hpp"

namespace rankcheck::cases {

/// A worker that can describe itself without a device: `PATH --describe` prints
/// {"unavailable":"why","notes":["…"],"algorithms":[…]}.
struct WorkerProgram {
  std::string path;
  /// What to do if the program is missing.
  std::string remedy;
  /// Seconds after which the program counts as broken if its description is not complete. A driver
  /// may hang.
  double limit_s = 60;

  /// Returns the worker's description of itself, or null if the program is missing or broken. A
  /// process asks each worker once, and again after the visible devices or the named vendor
  /// libraries change. Safe from any thread.
  [[nodiscard]] nlohmann::json description() const;
  /// Empty if the worker can run. Otherwise one line that says why not and what to do about it.
  [[nodiscard]] std::string why_unavailable() const;
  /// Returns further lines for the doctor: what else is missing, and which library was found.
  [[nodiscard]] std::vector<std::string> notes() const;
  /// Returns the algorithms that are built into the worker.
  [[nodiscard]] std::vector<harness::AlgorithmInfo> compiled() const;
};

}  // namespace rankcheck::cases
