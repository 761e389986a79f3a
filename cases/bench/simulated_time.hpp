#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankcheck::cases::bench {

/// Selects the plans to time, and the machine.
struct TopologyOptions {
  /// The name of a topology that comes with rankcheck, or the path of a file.
  std::string topology;
  std::vector<int> ranks{8};
  /// Patterns, of which one has to match. Empty: all.
  std::vector<std::string> operations = {};
  std::vector<std::string> algorithms = {};
  /// Bytes of one rank's buffer.
  std::int64_t bytes = std::int64_t{4} << 20;
  /// The file that also gets the results as JSON. Empty: none.
  std::string json_path;
};

/// Prints the simulated time of the algorithms' plans; nothing is measured. Throws BadInput for an
/// unknown topology, more ranks than the topology has, and patterns that match nothing.
void simulate(const TopologyOptions& options);

}  // namespace rankcheck::cases::bench
