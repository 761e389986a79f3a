#pragma once

#include <optional>
#include <string>

#include "harness/stop.hpp"

#include "cases/commands/selection.hpp"

namespace CLI {
class App;
}

namespace rankcheck::cases {

/// The options of `rankcheck run` as the user types them.
struct RunOptions {
  Selection selection;
  std::string ranks;
  std::string types;
  std::string backends;
  std::string seed;
  std::optional<double> time_budget_s;
  std::optional<double> timeout_s;
  std::string report;
  std::string resume;
  int jobs = 1;
  bool fail_fast = false;
  /// The file that the folder of the run is packed into; empty where none is asked for.
  std::string archive;
  /// Ends this session early. The gate's parts pause when its time is over.
  harness::StopRequest stop = {};
  /// Start over with new seeds until the time is over, as a suite that says so itself.
  bool repeat = false;
};

/// The timeout that was given, else that of every backend.
[[nodiscard]] double timeout_s(const RunOptions& options);

/// Declares the options; they are written to `options`, which must outlive the parsing.
void add_options(CLI::App& command, RunOptions& options);

/// The selection that the options spell out, without defaults. Throws BadInput.
[[nodiscard]] Selection parse_selection(const RunOptions& options);

}  // namespace rankcheck::cases
