#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/stop.hpp"
#include "harness/run/selection.hpp"

namespace rankcheck::harness::run {

/// The options of `rankcheck run` as the user types them.
struct RunOptions {
  Selection selection;
  std::string ranks;
  std::string hosts;
  /// Options that may be repeated. Each element is a list with commas; see split_lists().
  std::vector<std::string> operations;
  std::vector<std::string> algorithms;
  std::vector<std::string> properties;
  std::vector<std::string> types;
  /// Lists of backends. See split_backends().
  std::vector<std::string> backends;
  std::string seed;
  std::optional<double> time_budget_s;
  std::optional<double> timeout_s;
  /// How often each failure is replayed. Without a value, the default of RunLimits.
  std::optional<int> replays;
  std::string report;
  /// Replaces the run that the folder `report` holds.
  bool overwrite = false;
  std::string resume;
  /// Files of known defects.
  std::vector<std::string> known;
  /// Whether known defects that are stale make the exit status 1.
  bool strict_known = false;
  /// The number of units to check at the same time. Without a value, the run chooses: the number of
  /// processors, but at most 4, and 1 if a backend runs programs of the user.
  std::optional<int> jobs;
  bool fail_fast = false;
  /// Prints only the verdict and the failures.
  bool quiet = false;
  /// Lets the gate for hardware only check links and devices, once.
  bool quick = false;
  /// Only prints the units.
  bool list_units = false;
  /// The file that the run's folder is packed into. Empty: none.
  std::string archive;
  /// Ends this session early. The gate uses it to pause its parts when its time is over.
  StopRequest stop = {};
  /// Repeats with new seeds until the time is over, like a suite with `cycles`.
  bool repeat = false;
};

/// Returns the user's timeout in seconds, or else the default of all backends.
[[nodiscard]] double timeout_s(const RunOptions& options);

/// Returns the types of lists with commas. Throws BadInput.
[[nodiscard]] std::vector<spec::Type> parse_types(const std::vector<std::string>& lists);

/// Returns the selection that the options give, without defaults. Throws BadInput.
[[nodiscard]] Selection parse_selection(const RunOptions& options);

}  // namespace rankcheck::harness::run
