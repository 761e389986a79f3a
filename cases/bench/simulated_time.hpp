#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankcheck::cases::bench {

/// Which plans are timed, and on which machine.
struct TopologyOptions {
  /// The name of a topology that comes with rankcheck, or a file.
  std::string topology;
  std::vector<int> ranks{8};
  std::string operation = "*";
  std::string algorithm = "*";
  /// Bytes of one rank's buffer.
  std::int64_t bytes = std::int64_t{4} << 20;
  /// Where the results are written as JSON too; may be empty.
  std::string json_path;
};

/// Prints the virtual time of the algorithms' plans; nothing is measured. Throws BadInput for an
/// unknown topology, more ranks than it has, and patterns that match nothing.
void simulate(const TopologyOptions& options);

}  // namespace rankcheck::cases::bench
