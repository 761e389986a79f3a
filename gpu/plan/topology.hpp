#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rankcheck::gpu::plan {

/// One class of links. It connects the ranks of a group of `ranks` neighbours that no smaller group
/// connects. The first level is a single rank: the link is its own memory.
struct LinkLevel {
  int ranks = 1;
  std::string link_class;
  double latency_seconds = 0;
  /// For each rank and each direction.
  double bytes_per_second = 1;
};

/// A machine as nested groups of ranks. Ranks fill the groups in order.
struct Topology {
  std::string name;
  /// From the single rank to the whole machine. Each group consists of whole groups of the level
  /// before.
  std::vector<LinkLevel> levels;

  [[nodiscard]] int capacity() const { return levels.back().ranks; }
  /// The index of the level that connects two ranks; 0 if both are the same rank.
  [[nodiscard]] std::size_t level_between(int a, int b) const;
};

/// Reads a topology: one level on each line, `RANKS CLASS MICROSECONDS GIGABYTES_PER_SECOND`; `#`
/// starts a comment. Throws std::invalid_argument with one line that names the place and what was
/// expected.
[[nodiscard]] Topology parse_topology(std::string_view name, std::string_view text);

}  // namespace rankcheck::gpu::plan
