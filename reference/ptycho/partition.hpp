#pragma once

#include <string_view>

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

/// The contract of a partition.
[[nodiscard]] inline spec::Contract partition_contract(std::string_view name,
                                                       std::string_view summary,
                                                       std::string_view formula,
                                                       std::string_view source) {
  return {.name = name,
          .summary = summary,
          .formula = formula,
          .source = source,
          .ranks_agree = true,
          .part = spec::OperatorTraits{.inputs = {spec::Array::positions},
                                       .outputs = {spec::Array::owners}}};
}

}  // namespace rankcheck::reference
