#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rankcheck::gpu {

class OperatorRun;

/// Ways to share scan positions out among ranks; what each means says the contract of the operation
/// partition_<name>.
enum class Partition : std::uint8_t {
  quadrants,
  stripes,
  equal_stripes,
  grid,
  compact,
  interlaced,
  random,
};

inline constexpr std::array<std::string_view, 7> partition_names{
    "quadrants", "stripes", "equal_stripes", "grid", "compact", "interlaced", "random"};

/// The rank, 0 … ranks-1, of every position. `positions` are row and column in turns, in pixels;
/// they are rounded to multiples of 1/256. Depends on nothing else.
[[nodiscard]] std::vector<int> owners(Partition kind, std::span<const double> positions, int ranks);

/// What the operations partition_… do: every rank gets the positions of all ranks, and finds out
/// all owners.
void run_partition(const OperatorRun& run, Partition kind);

}  // namespace rankcheck::gpu
