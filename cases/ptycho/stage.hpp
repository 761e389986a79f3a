#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <string_view>

#include "reference/ptycho/bounded_array.hpp"

#include "harness/check/operation.hpp"

/// Functions that the properties of ptychography operators share.
namespace rankcheck::cases {

/// One stage of an operator: its inputs, its expected outputs and its actual outputs. Arrays of
/// positions have the values of all ranks in order. For other arrays, `in` and `got` have rank 0's
/// values.
struct OperatorStage {
  const harness::Case& c;
  const spec::Contract& contract;
  reference::OperatorArrays in;
  /// The expected outputs with bounds. The bounds are 0 if the case is exact.
  reference::OperatorArrays expected;
  reference::OperatorArrays got;
  /// Its place in the property's program.
  std::size_t index = 0;
};

/// Whether the case's arithmetic is exact in every order, so that no error is allowed.
[[nodiscard]] bool is_exact(const spec::Contract& contract, const harness::Case& c);

/// Returns the reference of an operator, which must exist.
[[nodiscard]] reference::Operator reference_of(std::string_view operation);

/// Whether an operation is a step that searches along directions, which it outputs. The reference
/// can follow only such a step from part to part.
[[nodiscard]] bool searches_along_directions(const spec::Contract& contract);

/// Reads a stage back from the buffers and runs the reference on its inputs. If the reference
/// follows the run's own outputs, its bounds hold for this run only.
[[nodiscard]] OperatorStage read_stage(const harness::Evidence& evidence,
                                       std::size_t stage,
                                       reference::Follow follow = reference::Follow::nothing);

/// Runs the reference again on `stage.in`, which may have changed.
void expect_again(OperatorStage& stage, reference::Follow follow);

/// Two stages whose results a linear map relates: second = map(first). If a step has several parts,
/// the bounds of its last parts multiply and may become useless. The map then relates the
/// differences between the results and their expected values after the previous parts.
struct RelatedStages {
  OperatorStage first;
  OperatorStage second;
  std::array<bool, spec::array_kinds> by_parts{};

  /// Returns the value of the first stage to which the map is applied.
  [[nodiscard]] std::complex<double> taken(spec::Array array, std::size_t index) const;
  /// Returns the value that is added to the result of the map.
  [[nodiscard]] std::complex<double> base(spec::Array array, std::size_t index) const;
};

[[nodiscard]] RelatedStages read_related(const harness::Evidence& evidence,
                                         std::size_t first,
                                         std::size_t second);

}  // namespace rankcheck::cases
