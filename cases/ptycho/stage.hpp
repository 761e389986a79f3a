#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <string_view>

#include "reference/ptycho/field.hpp"

#include "harness/operation.hpp"

/// What the properties of ptychography operators share.
namespace rankcheck::cases {

/// One stage of an operator: what went in, what must come out, what came out. Arrays of positions
/// are those of all ranks in order; of the others, `in` and `got` show rank 0's.
struct OperatorStage {
  const harness::Case& c;
  const spec::Contract& contract;
  reference::Setting in;
  /// With bounds; without any where the case is exact.
  reference::Setting expected;
  reference::Setting got;
};

/// Whether the case's arithmetic is exact in every order, so that no error is admitted.
[[nodiscard]] bool is_exact(const spec::Contract& contract, const harness::Case& c);

/// The reference of an operator that exists.
[[nodiscard]] reference::Operator reference_of(std::string_view operation);

/// Whether an operation is a step that leaves its directions. Only such a step can be followed from
/// part to part.
[[nodiscard]] bool leaves_directions(const spec::Contract& contract);

/// Reads a stage back from the buffers and runs the reference on its inputs. What follows the run
/// says more of this run, and nothing of any other one.
[[nodiscard]] OperatorStage read_stage(const harness::Evidence& evidence,
                                       std::size_t stage,
                                       reference::Follow follow = reference::Follow::nothing);

/// Runs the reference again, on inputs that were changed.
void expect_again(OperatorStage& stage, reference::Follow follow);

/// Two stages whose results a law relates: second = law(first), where the law is linear. Where a
/// step has several parts, the bounds of its last ones multiply, and may say nothing. The law then
/// relates how far each result is from what it should be after the parts before it.
struct RelatedStages {
  OperatorStage first;
  OperatorStage second;
  std::array<bool, spec::array_kinds> by_parts{};

  /// What the law takes of the first stage.
  [[nodiscard]] std::complex<double> taken(spec::Array array, std::size_t index) const;
  /// What comes on top of what the law makes of it.
  [[nodiscard]] std::complex<double> base(spec::Array array, std::size_t index) const;
};

[[nodiscard]] RelatedStages read_related(const harness::Evidence& evidence,
                                         std::size_t first,
                                         std::size_t second);

}  // namespace rankcheck::cases
