#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/contract.hpp"
#include "reference/spec/scene.hpp"
#include "reference/spec/type.hpp"

/// What the contracts of ptychography operators say in addition to those of other families.
namespace rankcheck::spec {

/// One call of an operator as every rank of the group sees it: what the call means, not where or
/// how it runs. Ranks are positions in the group, 0 … ranks-1.
struct OperatorCall {
  int ranks = 1;
  Type type = Type::f32;
  /// Number of scan positions of each rank. A rank's positions follow those of the ranks before it.
  std::vector<std::int64_t> counts = {};
  Scene scene = {};
};

/// The part of a contract that only operators have.
struct OperatorTraits {
  static constexpr std::string_view family = "ptycho";

  /// The arrays in the send buffer and in the recv buffer.
  std::vector<Array> inputs = {};
  std::vector<Array> outputs = {};
  /// The outputs are (complex-)linear in each of these inputs.
  std::vector<Array> linear_in = {};
  /// The object may have several slices with free space between them.
  bool multislice = false;
  /// Waves travel through free space even without several slices.
  bool in_free_space = false;
  /// The object may be cut into tiles with halos.
  bool tiled = false;
  /// All positions must share the probe.
  bool shares_probe = false;
  /// The operator only adds and multiplies, so small whole numbers give exact results.
  bool exact_on_whole_numbers = false;

  friend bool operator==(const OperatorTraits&, const OperatorTraits&) = default;
};

/// The operator's part of the contract of an operator.
[[nodiscard]] inline const OperatorTraits& ptycho(const Contract& contract) {
  return contract.part.get<OperatorTraits>();
}
[[nodiscard]] inline OperatorTraits& ptycho(Contract& contract) {
  return contract.part.edit<OperatorTraits>();
}

/// Unused elements behind each array.
inline constexpr std::int64_t array_gap = 16;

/// Fills the extents of one rank, which must be empty; keeps the vectors' capacity.
void fill_extents(const Contract& contract, const OperatorCall& call, int rank, Extents& extents);

/// Returns the extents of one rank.
[[nodiscard]] Extents extents_of(const Contract& contract, const OperatorCall& call, int rank);

/// Why no implementation may accept this call, in words. Empty if the call is legal.
[[nodiscard]] std::optional<std::string> why_invalid(const Contract& contract,
                                                     const OperatorCall& call);

}  // namespace rankcheck::spec
