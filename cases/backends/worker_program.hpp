#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/backend.hpp"

namespace rankcheck::cases {

/// A worker that tells what it has without a device: `PATH --describe` prints
/// {"unavailable":"why","notes":["…"],"algorithms":[…]}.
struct WorkerProgram {
  std::string path;
  /// What to do where the program is not there.
  std::string remedy;
  /// Seconds after which it counts as broken when it is asked what it has: a driver may hang.
  double limit_s = 60;

  /// What it says of itself; null where it is missing or broken. It is asked once in a process, and
  /// again where other devices are visible or another library is named. Safe from any thread.
  [[nodiscard]] nlohmann::json description() const;
  /// Empty where it can run; else one line that says why not and what would mend it.
  [[nodiscard]] std::string why_unavailable() const;
  /// Further lines for the doctor: what else is missing, and which library was found.
  [[nodiscard]] std::vector<std::string> notes() const;
  /// The algorithms that are built in.
  [[nodiscard]] std::vector<harness::AlgorithmInfo> compiled() const;
};

}  // namespace rankcheck::cases
