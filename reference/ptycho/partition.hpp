#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/ptycho/bounded_array.hpp"
#include "reference/spec/operator.hpp"

/// What the partitions of scan positions share. Coordinates are in steps of 1/256 pixel, floor(256
/// x + 1/2). All other arithmetic uses whole numbers and is exact. There are N positions and n
/// ranks.
///
/// Equal shares: rank r gets N / n positions, rounded down, and one more if r < N mod n.
///
/// Cells: m equal cells lie between the least and the greatest coordinate. A cell excludes its
/// lower edge and includes its upper edge; the least coordinate belongs to cell 0. If all
/// coordinates are the same, all are in cell 0.
namespace rankcheck::reference {

/// A scan position in steps of 1/256 pixel, and its index.
struct ScanPoint {
  std::int64_t row = 0;
  std::int64_t col = 0;
  std::int64_t number = 0;
};

/// The contract of a partition.
[[nodiscard]] inline spec::Contract partition_contract(std::string_view name,
                                                       std::string_view summary,
                                                       std::string_view formula,
                                                       std::string_view source) {
  return {
      .name = name,
      .summary = summary,
      .formula = formula,
      .source = source,
      .ranks_agree = true,
      .part =
          spec::OperatorTraits{
              .inputs = {spec::Array::positions},
              .outputs = {spec::Array::owners},
          },
  };
}

/// All positions of a problem, in order.
[[nodiscard]] std::vector<ScanPoint> scan_of(const OperatorArrays& arrays);

/// The number of positions that `rank` gets in equal shares.
[[nodiscard]] std::int64_t equal_share(std::int64_t positions, std::int64_t ranks, int rank);

/// The index of the cell that holds `at`, if `cells` cells lie between `least` and `most`.
[[nodiscard]] std::int64_t cell_of(std::int64_t at,
                                   std::int64_t least,
                                   std::int64_t most,
                                   std::int64_t cells);

/// The least and the greatest row and column of some positions; zeros if there are no positions.
struct Bounds {
  explicit Bounds(const std::vector<ScanPoint>& points);

  ScanPoint least;
  ScanPoint most;
};

/// Makes the array owners from one rank for each position.
void set_owners(const std::vector<int>& ranks, OperatorArrays& out);

/// Gives the positions to ranks 0, 1, … in the given order, in equal shares, and makes owners.
void share_in_order(const std::vector<ScanPoint>& ordered, std::int64_t ranks, OperatorArrays& out);

}  // namespace rankcheck::reference
