#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rankcheck::gpu {

class OperatorRun;

/// Ways to distribute scan positions to ranks. The contract of the operation partition_<name>
/// explains each.
enum class Partition : std::uint8_t {
  quadrants,
  stripes,
  equal_stripes,
  grid,
  compact,
  interlaced,
  random,
  consecutive,
};

inline constexpr std::array<std::string_view, 8> partition_names{"quadrants",
                                                                 "stripes",
                                                                 "equal_stripes",
                                                                 "grid",
                                                                 "compact",
                                                                 "interlaced",
                                                                 "random",
                                                                 "consecutive"};

/// Returns the rank, 0 … ranks-1, of every position. `positions` are row and column in turns, in
/// pixels; they are rounded to multiples of 1/256. The result depends on nothing else.
[[nodiscard]] std::vector<int> owners(Partition kind, std::span<const double> positions, int ranks);

/// Runs the operation partition_<kind>: every rank receives the positions of all ranks and computes
/// all owners.
void run_partition(const OperatorRun& run, Partition kind);

}  // namespace rankcheck::gpu
